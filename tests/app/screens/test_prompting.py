"""Typing, sending, slash commands, drafts."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from advchat.actions import UserError
from advchat.state import Offer
from tests.app.fakes import FakeActions, queued, run, snapshot
from tests.app.screens.conftest import Open


async def test_enter_sends_and_empties_the_composer(desk: Open) -> None:
    async with desk() as d:
        await d.type("hello")
        await d.pilot.press("ctrl+j")
        await d.type("you")
        assert d.text == "hello\nyou"
        await d.pilot.press("enter")
        await d.called("send", "hello\nyou", "shorter")
        assert d.text == ""


async def test_a_refused_prompt_stays_with_what_was_typed_since(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["send"] = UserError("The disk is full. Make room and send again.")
        d.actions.gates["send"] = asyncio.Event()
        await d.type("hello")
        await d.pilot.press("enter")
        await d.type("more")
        d.actions.gates["send"].set()
        await d.until(lambda: d.text == "hello\nmore")
        assert "The disk is full. Make room and send again." in d.notice


async def test_an_unforeseen_failure_is_one_line_and_the_text_stays(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["send"] = RuntimeError("[/INST] broke\nbadly")
        await d.type("hello")
        await d.pilot.press("enter")
        await d.until(lambda: d.text == "hello")
        assert "RuntimeError: [/INST] broke badly" in d.notice


async def test_an_empty_prompt_is_told(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("space", "enter")
        await d.until(lambda: "Nothing to send yet" in d.notice)
        assert d.actions.called("send") == []


async def test_a_prompt_typed_before_the_store_is_open_goes_out_by_itself(desk: Open) -> None:
    actions = FakeActions()
    actions.gates["start"] = asyncio.Event()
    async with desk(actions, wait=False) as d:
        await d.type("early")
        await d.pilot.press("enter")
        assert d.text == ""
        assert actions.called("send") == []
        actions.gates["start"].set()
        await d.called("send", "early", "shorter")


async def test_double_slash_is_sent_as_text(desk: Open) -> None:
    async with desk() as d:
        await d.type("//etc")
        await d.pilot.press("enter")
        await d.called("send", "/etc", "shorter")


async def test_case_38_what_is_typed_right_after_a_fork_goes_to_the_fork_once(desk: Open) -> None:
    async with desk() as d:
        d.actions.gates["fork"] = asyncio.Event()
        await d.pilot.press("f3")
        await d.pilot.press("f", "h", "i", "enter")
        assert d.actions.called("send") == []
        d.actions.gates["fork"].set()
        await d.called("send", "hi", "fork1")
        assert d.actions.called("fork") == [(5, False, "")]
        assert d.actions.called("send") == [("hi", "fork1")]


async def test_a_draft_stays_with_its_branch(desk: Open) -> None:
    async with desk() as d:
        d.actions.drafts["main"] = "old draft"
        await d.type("for shorter")
        await d.pilot.press("alt+left")
        await d.until(lambda: d.text == "old draft")
        assert d.actions.drafts["shorter"] == "for shorter"


async def test_drafts_survive_moves_made_faster_than_they_are_done(desk: Open) -> None:
    async with desk() as d:
        d.actions.drafts["sibling+1"] = "one"
        d.actions.drafts["main"] = "two"
        d.actions.gates["sibling"] = asyncio.Event()
        await d.type("zero")
        await d.pilot.press("alt+down")
        await d.type("x")
        await d.pilot.press("alt+left")
        await d.type("y")
        d.actions.gates["sibling"].set()
        await d.until(lambda: d.text == "twoy")
        assert d.actions.drafts == {"shorter": "zero", "sibling+1": "onex", "main": "two"}


async def test_a_failed_move_gives_the_draft_back(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["parent"] = UserError("This branch has no parent.")
        await d.type("keep me")
        await d.pilot.press("alt+left")
        await d.until(lambda: d.text == "keep me")
        assert "This branch has no parent." in d.notice


async def test_the_stored_draft_is_shown_at_start_before_what_is_typed(desk: Open) -> None:
    async with desk(draft="stored") as d:
        assert d.text == "stored"


async def test_the_draft_is_saved_when_typing_rests(desk: Open) -> None:
    async with desk() as d:
        await d.type("rest")
        await d.called("save_draft", "rest", "shorter")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("/fork 2", ("fork", 2, False, "")),
        ("/fork 2 a name", ("fork", 2, False, "a name")),
        ("/switch main", ("switch", "main")),
        ("/rename better", ("rename_branch", "shorter", "better")),
        ("/delete fr", ("delete_branch", "fr")),
        ("/new Tea", ("new_conversation", "Tea")),
        ("/model gpt-5", ("set_model", "gpt-5")),
        ("/export a.md", ("export", "a.md")),
    ],
)
async def test_slash_commands_act(desk: Open, line: str, call: tuple[object, ...]) -> None:
    async with desk() as d:
        await d.type(line)
        await d.pilot.press("enter")
        await d.called(str(call[0]), *call[1:])
        await d.until(lambda: d.text == "")


async def test_slash_commands_run_while_an_answer_is_running(desk: Open) -> None:
    async with desk(runs=(run(),)) as d:
        await d.type("/switch main")
        await d.pilot.press("enter")
        await d.called("switch", "main")


@pytest.mark.parametrize(
    ("line", "told"),
    [("/frok 2", "Did you mean /fork?"), ("/fork", "/fork needs N"), ("/fork two", "needs a turn's number")],
)
async def test_a_wrong_slash_command_stays_to_be_corrected(desk: Open, line: str, told: str) -> None:
    async with desk() as d:
        await d.type(line)
        await d.pilot.press("enter")
        await d.until(lambda: told in d.notice)
        assert d.text == line


async def test_a_slash_command_that_fails_later_comes_back(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["fork"] = UserError("There is no turn 99 to fork on this branch; it has 5.")
        await d.type("/fork 99")
        await d.pilot.press("enter")
        await d.until(lambda: d.text == "/fork 99")
        assert "There is no turn 99" in d.notice


async def test_completion_opens_narrows_and_completes(desk: Open) -> None:
    async with desk() as d:
        await d.type("/s")
        await d.until(lambda: d.main.completing)
        assert [d.main.completion.pick_at(place).title for place in range(2)] == [
            "/search TEXT",
            "/switch NAME",
        ]
        await d.pilot.press("down", "tab")
        await d.until(lambda: d.text == "/switch ")
        assert not d.main.completing
        assert d.main.composer.has_focus


async def test_escape_closes_the_completion_and_keeps_the_text(desk: Open) -> None:
    async with desk(runs=(run(),)) as d:
        await d.type("/s")
        await d.until(lambda: d.main.completing)
        await d.pilot.press("escape")
        assert not d.main.completing
        assert d.text == "/s"
        assert d.actions.called("stop") == []
        await d.pilot.press("escape")
        await d.called("stop")


async def test_queued_prompts_are_shown_and_can_be_taken_back(desk: Open) -> None:
    async with desk(runs=(run(),), queue=(queued(7, "and [/] then?"), queued(8, "elsewhere", "fr"))) as d:
        lines = d.main.query_one("#queue")
        assert "and [/] then?" in str(lines.render())
        assert "elsewhere" not in str(lines.render())
        await d.pilot.click("#queue", offset=(5, 0))
        await d.until(lambda: d.text == "and [/] then?")


async def test_an_offer_is_answered_by_alt_and_its_letter(desk: Open) -> None:
    offer = Offer(
        "download", "Fetch a model [/b]?", (("d", "offer.accept", "Download"), ("t", "offer.refuse", "Tour"))
    )
    async with desk(offer=offer) as d:
        await d.type("dt")
        assert d.text == "dt"
        assert d.actions.called("answer_offer") == []
        await d.pilot.press("alt+t")
        await d.called("answer_offer", "offer.refuse")
        await d.until(lambda: not d.main.query_one("#offer").display)
        assert d.text == "dt"


async def test_an_offer_is_answered_by_the_key_that_terminals_send(desk: Open) -> None:
    offer = Offer("download", "Fetch?", (("t", "offer.refuse", "Tour"),))
    async with desk(offer=offer) as d:
        # Most terminals send Esc and the letter, which then comes with the key.
        d.main.composer.post_message(events.Key("alt+t", "t"))
        await d.called("answer_offer", "offer.refuse")
        assert d.text == ""


async def test_an_offer_is_answered_by_mouse(desk: Open) -> None:
    offer = Offer("download", "Fetch?", (("d", "offer.accept", "Download"),))
    async with desk(offer=offer) as d:
        await d.pilot.click("#offer", offset=(4, 1))
        await d.called("answer_offer", "offer.accept")


async def test_case_18_all_pasted_lines_arrive(desk: Open) -> None:
    async with desk() as d:
        d.main.composer.post_message(events.Paste("one\r\ntwo\rthree"))
        await d.until(lambda: d.text == "one\ntwo\nthree")
        await d.pilot.press("ctrl+o")
        await d.pilot.pause()
        d.app.screen.query_one("LineInput").post_message(events.Paste("one\ntwo\nthree"))
        await d.until(lambda: getattr(d.app.screen.query_one("LineInput"), "value", "") == "one two three")


async def test_case_22_ctrl_c_leaves_the_draft(desk: Open) -> None:
    async with desk() as d:
        await d.type("a long draft")
        await d.pilot.press("ctrl+c", "ctrl+c")
        assert d.text == "a long draft"
        assert d.app.is_running


async def test_moved_keys_are_in_force(desk: Open) -> None:
    keys = {"composer.send": ("ctrl+s",), "composer.newline": ("enter",), "panel.usage": ("f6",)}
    async with desk(keys=keys) as d:
        await d.type("a")
        await d.pilot.press("enter")
        await d.type("b")
        assert d.text == "a\nb"
        await d.pilot.press("ctrl+s")
        await d.called("send", "a\nb", "shorter")
        await d.pilot.press("f6")
        assert d.main.usage.has_focus
        assert snapshot().branch_id == "shorter"
