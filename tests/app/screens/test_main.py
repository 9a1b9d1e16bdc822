"""Panels, focus, commands and leaving."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from advchat.actions import UserError
from advchat.app import AdvchatApp
from advchat.screens.help import HelpScreen
from advchat.screens.pickers import BinScreen, OpenScreen, PaletteScreen, SearchScreen
from advchat.widgets.footer import KeyFooter
from advchat.widgets.line_input import LineInput
from advchat.widgets.picker import PickList
from advchat_storage.errors import NotADatabaseError
from advchat_storage.models import SearchHit
from tests.app.fakes import TIME, FakeActions, branch, conversation, run, snapshot
from tests.app.screens.conftest import Desk, Open


def footer(d: Desk) -> list[str]:
    return [word for _, _, (_, word, _) in d.main.query_one(KeyFooter).shown()]


# Panels


@pytest.mark.parametrize("panel", ["branches", "turns", "usage"])
async def test_wide_a_panels_key_focuses_then_folds_then_unfolds(desk: Open, panel: str) -> None:
    key = {"branches": "f2", "turns": "f3", "usage": "f4"}[panel]
    async with desk() as d:
        widget = d.main.query_one(f"#{panel}")
        assert widget.display
        await d.pilot.press(key)
        assert widget.has_focus
        await d.pilot.press(key)
        assert not widget.display
        assert d.main.composer.has_focus
        await d.pilot.press(key)
        assert widget.display
        assert widget.has_focus


async def test_below_120_columns_panels_are_folded_until_asked_for(desk: Open) -> None:
    async with desk(size=(100, 30)) as d:
        assert not d.main.query_one("#left").display
        assert not d.main.usage.display
        await d.pilot.press("f2")
        assert d.main.branches.has_focus
        assert not d.main.turns.display
        await d.pilot.press("f3")
        assert d.main.turns.has_focus
        assert not d.main.branches.display
        assert d.main.query_one("#centre").display
        await d.pilot.press("escape")
        assert not d.main.query_one("#left").display
        assert d.main.composer.has_focus


async def test_below_80_columns_a_panel_stands_alone(desk: Open) -> None:
    async with desk(size=(40, 12)) as d:
        await d.pilot.press("f4")
        await d.pilot.pause()
        assert d.main.usage.has_focus
        assert not d.main.query_one("#centre").display
        assert d.main.usage.size.width >= 38
        await d.pilot.press("f4")
        assert d.main.query_one("#centre").display
        assert d.main.composer.has_focus
        await d.type("usable")
        assert d.text == "usable"


async def test_resizing_keeps_the_focus_on_something_seen(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f4")
        await d.pilot.resize_terminal(100, 30)
        await d.until(lambda: not d.main.usage.display)
        await d.until(lambda: d.main.composer.has_focus)
        await d.pilot.resize_terminal(160, 48)
        await d.until(lambda: d.main.usage.display)


async def test_f5_goes_to_the_transcript_and_back(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f5")
        assert d.main.transcript.has_focus
        await d.pilot.press("f5")
        assert d.main.composer.has_focus


async def test_the_footer_shows_what_works_here(desk: Open) -> None:
    async with desk() as d:
        assert footer(d)[:2] == ["Send", "New line"]
        assert "Stop" not in footer(d)
        await d.pilot.press("f3")
        await d.until(lambda: footer(d)[:2] == ["Fork", "Edit"])
        d.actions.publish(runs=(run(),))
        await d.until(lambda: "Stop" in footer(d))
        d.actions.publish(runs=(), turn_count=0)
        await d.until(lambda: "Fork" not in footer(d))


async def test_a_word_of_the_footer_can_be_clicked(desk: Open) -> None:
    async with desk() as d:
        column = next(first for first, _, (_, word, _) in d.main.query_one(KeyFooter).shown() if word == "Help")
        await d.pilot.click("#footer", offset=(column, 0))
        await d.until(lambda: isinstance(d.app.screen, HelpScreen))


# Turns and branches


async def test_the_fork_button_of_a_turn_forks_there(desk: Open) -> None:
    async with desk() as d:
        turns = d.main.turns
        await d.until(lambda: turns.row_at(1) is not None)
        await d.pilot.click("#turns", offset=(turns.row_width - 2, 2))
        await d.called("fork", 2, False, "")
        await d.until(lambda: d.main.composer.has_focus)


async def test_a_click_on_a_turn_shows_it(desk: Open) -> None:
    async with desk(turns=40) as d:
        await d.pilot.press("f3", "home")
        await d.until(lambda: d.main.turns.chosen is not None and d.main.turns.chosen.turn == 1)
        await d.pilot.press("enter")
        await d.until(lambda: (d.main.transcript.chosen.turn if d.main.transcript.chosen else 0) == 1)


@pytest.mark.parametrize(
    ("key", "call"),
    [
        ("f", ("fork", 3, False, "")),
        ("F", ("fork", 3, True, "")),
        ("r", ("regenerate", 3)),
    ],
)
async def test_keys_on_a_turn(desk: Open, key: str, call: tuple[object, ...]) -> None:
    async with desk() as d:
        await d.until(lambda: d.main.turns.row_at(2) is not None)
        await d.pilot.press("f3", "home", "down", "down", key)
        await d.called(str(call[0]), *call[1:])
        assert d.main.composer.has_focus


async def test_editing_a_turn_fills_the_composer_before_what_is_typed(desk: Open) -> None:
    async with desk() as d:
        d.actions.gates["edit"] = asyncio.Event()
        await d.until(lambda: d.main.turns.row_at(0) is not None)
        await d.pilot.press("f3", "home", "e", "!", "!")
        d.actions.gates["edit"].set()
        await d.until(lambda: d.text == "prompt of 1!!")


async def test_from_the_palette_a_turns_command_means_the_newest(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("ctrl+p")
        await d.pilot.pause()
        await d.type("fork here")
        await d.pilot.press("enter")
        await d.called("fork", 5, False, "")


async def test_copying_a_turn_gives_its_source(desk: Open) -> None:
    async with desk() as d:
        await d.until(lambda: d.main.turns.row_at(0) is not None)
        await d.pilot.press("f3", "home", "y")
        await d.until(
            lambda: d.app.clipboard.startswith("What is the capital of France, and why?\n\nAnswer **1**")
        )


async def test_keys_on_a_branch(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "enter")
        await d.called("switch", "main")
        await d.until(lambda: d.main.composer.has_focus)
        await d.pilot.press("f2", "end", "d")
        await d.called("delete_branch", "b4")
        await d.pilot.press("u")
        await d.called("undo")
        await d.until(lambda: "Taken back: deleted “fr”" in d.notice)


async def test_a_branch_is_renamed_in_a_line(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "down", "n")
        field = d.main.query_one("#ask LineInput", LineInput)
        await d.until(lambda: field.has_focus)
        assert field.value == "A shorter answer"
        await d.pilot.press("!", "enter")
        await d.called("rename_branch", "shorter", "A shorter answer!")
        await d.until(lambda: d.main.composer.has_focus)


async def test_escape_leaves_a_question_unanswered(desk: Open) -> None:
    async with desk(runs=(run(),)) as d:
        await d.type("draft")
        await d.pilot.press("ctrl+p")
        await d.pilot.pause()
        await d.type("rename this conversation")
        await d.pilot.press("enter")
        await d.until(lambda: bool(d.main.query("#ask LineInput")))
        await d.pilot.press("escape")
        await d.until(lambda: d.main.composer.has_focus)
        assert d.actions.called("rename_conversation") == []
        assert d.actions.called("stop") == []
        assert d.text == "draft"


async def test_moving_along_the_bars_moves_through_the_turns(desk: Open) -> None:
    async with desk(turns=9) as d:
        await d.until(lambda: d.main.turns.row_at(0) is not None)
        await d.pilot.press("f4", "left", "left")
        await d.until(lambda: d.main.turns.chosen is not None and d.main.turns.chosen.turn == 7)


# Picking


async def test_the_palette_finds_and_runs(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("ctrl+p")
        await d.until(lambda: isinstance(d.app.screen, PaletteScreen))
        await d.type("dark or")
        await d.pilot.press("enter")
        await d.until(lambda: d.app.theme == "advchat-light")


async def test_the_palette_shows_only_what_works(desk: Open) -> None:
    async with desk(turns=0, branches=(), binned=()) as d:
        titles = {
            pick.title
            for pick in (
                PaletteScreen(d.main.usable, {})._pick(c) for c in PaletteScreen(d.main.usable, {})._commands
            )
        }
        assert "New conversation" in titles
        assert not titles & {"Fork here", "Open the bin", "Next sibling branch", "Take a queued prompt back"}


async def test_conversations_are_listed_narrowed_and_opened(desk: Open) -> None:
    actions = FakeActions()
    actions.listed = [conversation(number, f"About [/] {number}") for number in range(1, 451)]
    async with desk(actions) as d:
        await d.pilot.press("ctrl+o")
        await d.until(lambda: isinstance(d.app.screen, OpenScreen))
        rows = d.app.screen.query_one(PickList)
        await d.until(lambda: rows.count == 450)
        await d.type("77")
        await d.until(lambda: rows.count == 4)
        await d.pilot.press("down", "enter")
        await d.called("open_conversation", "c177")


async def test_a_search_hit_is_gone_to(desk: Open) -> None:
    actions = FakeActions()
    actions.hits = [SearchHit("c9", "Other", "fr", 3, "user", 30, "a [/] needle", (6, 12), TIME)]
    async with desk(actions) as d:
        await d.type("/search needle")
        await d.pilot.press("enter")
        await d.until(lambda: isinstance(d.app.screen, SearchScreen))
        rows = d.app.screen.query_one(PickList)
        await d.until(lambda: rows.count == 1)
        assert actions.called("search")[-1] == ("needle",)
        await d.pilot.press("enter")
        await d.called("open_conversation", "c9")
        await d.called("switch", "fr")


async def test_a_failing_search_says_so(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["search"] = UserError("The database is locked.")
        await d.pilot.press("ctrl+f")
        await d.until(lambda: isinstance(d.app.screen, SearchScreen))
        await d.type("x")
        rows = d.app.screen.query_one(PickList)
        await d.until(lambda: "The database is locked." in rows.empty)


async def test_a_branch_comes_back_from_the_bin(desk: Open) -> None:
    gone = replace(branch("gone", title="Gone"), binned_at=TIME)
    async with desk(binned=(gone,)) as d:
        await d.pilot.press("ctrl+p")
        await d.pilot.pause()
        await d.type("bin")
        await d.pilot.press("enter")
        await d.until(lambda: isinstance(d.app.screen, BinScreen))
        await d.pilot.press("enter")
        await d.called("restore_branch", "gone")


async def test_help_shows_the_keys_in_force(desk: Open) -> None:
    async with desk(keys={"turn.fork": ("x",)}) as d:
        await d.pilot.press("f1")
        await d.until(lambda: isinstance(d.app.screen, HelpScreen))
        await d.pilot.pause()
        text = str(d.app.screen.query_one("Static").render())
        assert "Fork before the turn" in text
        assert "\nx  " in text
        await d.pilot.press("escape")
        await d.until(lambda: d.app.screen is d.main)


# Stopping and leaving


async def test_escape_stops_the_run_shown_from_anywhere(desk: Open) -> None:
    async with desk(runs=(run(),)) as d:
        await d.type("kept")
        await d.pilot.press("f2", "escape")
        await d.called("stop")
        assert d.text == "kept"
        assert d.app.is_running


async def test_escape_with_nothing_open_and_nothing_running_goes_home(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "escape")
        assert d.main.composer.has_focus
        assert d.actions.called("stop") == []


async def test_quitting_asks_only_while_an_answer_runs(desk: Open) -> None:
    async with desk(runs=(run("fr"),)) as d:
        await d.pilot.press("ctrl+q")
        await d.until(lambda: "Ctrl+Q again" in d.notice)
        await d.pilot.press("escape")
        await d.pilot.press("ctrl+q")
        assert d.app.is_running
        await d.pilot.press("ctrl+q")
        await d.called("close")


async def test_quitting_saves_the_draft_first(desk: Open) -> None:
    async with desk() as d:
        await d.type("unsent")
        await d.pilot.press("ctrl+q")
        await d.called("close")
        assert d.actions.drafts["shorter"] == "unsent"


async def test_quitting_works_from_a_screen_on_top(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("ctrl+p")
        await d.until(lambda: isinstance(d.app.screen, PaletteScreen))
        await d.pilot.press("ctrl+q")
        await d.called("close")


async def test_a_store_that_cannot_be_opened_ends_the_program_with_the_cause(desk: Open) -> None:
    actions = FakeActions()
    actions.fail["start"] = NotADatabaseError("chat.db", "this is no database", "Choose another file with --db")
    async with desk(actions, wait=False) as d:
        await d.until(lambda: bool(d.app.fault))
        assert d.app.fault == "chat.db: this is no database. Choose another file with --db"
        await d.called("close")
        await d.until(lambda: d.app.return_code == 1)


# Text from outside


@pytest.mark.parametrize(
    "text", ['{"a":[1]} [/INST] [/', "[/", "ZLEX [b +", "\x1b]52;c;eA==\x07\u202eevil", "\ud800"]
)
async def test_case_1_2_3_and_5_outside_text_is_literal_everywhere(desk: Open, text: str) -> None:
    rows = (replace(snapshot().branches[0], branch=branch("main", title=text, current=True)),)
    async with desk(conversation_title=text, branch_title=text, branches=rows) as d:
        d.actions.fail["send"] = UserError(text)
        await d.type("x")
        await d.pilot.press("enter")
        await d.until(lambda: d.text == "x")
        await d.pilot.pause()
        screen = "\n".join(
            "".join(segment.text for segment in strip) for strip in d.app.screen._compositor.render_strips()
        )
        assert "\x1b" not in screen
        assert "\x07" not in screen
        assert "\u202e" not in screen
        if "\x1b" not in text and "\ud800" not in text:
            assert screen.count(text) >= 4
        assert "requests" in screen


async def test_case_79_copying_nothing_leaves_the_clipboard_and_the_program(desk: Open) -> None:
    async with desk() as d:
        d.app._clipboard = "kept"
        await d.pilot.press("ctrl+c")
        assert d.app.clipboard == "kept"
        assert d.app.is_running
        await d.until(lambda: "Nothing is selected" in d.notice)


async def test_ctrl_c_copies_what_is_selected_in_the_composer(desk: Open) -> None:
    async with desk() as d:
        await d.type("copy me")
        await d.pilot.press("shift+home", "ctrl+c")
        await d.until(lambda: d.app.clipboard == "copy me")


async def test_case_81_nothing_is_painted_while_nothing_happens(desk: Open) -> None:
    async with desk() as d:
        await d.until(lambda: not _ticking(d))


def _ticking(d: Desk) -> list[Any]:
    """The timers that would wake the program again and again."""
    timers: list[Any] = [timer for pump in (d.app, d.main, *d.main.walk_children()) for timer in pump._timers]
    return [timer for timer in timers if timer._repeat is None and timer._active.is_set()]


async def test_case_80_sixteen_colours_get_themes_of_their_own(
    desk: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "standard")
    async with desk() as d:
        assert d.app.theme == "advchat-dark-16"
        cursor = d.main.branches.render_line(d.main.branches.cursor)
        assert all(segment.style is not None and segment.style.underline for segment in cursor)
        await d.pilot.press("f2")
        cursor = d.main.branches.render_line(d.main.branches.cursor)
        assert all(segment.style is not None and segment.style.reverse for segment in cursor)


async def test_conversations_that_cannot_be_read_say_so(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["conversations"] = UserError("The database is locked.")
        await d.pilot.press("ctrl+o")
        await d.until(lambda: isinstance(d.app.screen, OpenScreen))
        rows = d.app.screen.query_one(PickList)
        await d.until(lambda: "The database is locked." in rows.empty)


async def test_case_88_a_fault_of_our_own_is_one_line_and_its_traceback_goes_to_the_log(
    desk: Open, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        secret = "sk-secret"
        raise ZeroDivisionError(len(secret))

    apps: list[AdvchatApp] = []

    async def break_it() -> None:
        async with desk() as d:
            apps.append(d.app)
            d.main.call_later(broken)
            await d.until(lambda: bool(d.app.fault))

    with pytest.raises(ZeroDivisionError):
        await break_it()
    [app] = apps
    assert app.fault == "ended by a fault of its own (ZeroDivisionError)."
    assert "in broken" in caplog.text
    assert "sk-secret" not in caplog.text.replace('secret = "sk-secret"', "")
