"""Where prompts are typed."""

from __future__ import annotations

from time import perf_counter

import pytest
from rich.cells import cell_len
from textual import events

from advchat.widgets.composer import Composer, typed
from tests.app.fakes import until
from tests.app.widgets.host import Host, lines

SIZE = (40, 10)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\tdef f():\n\t\tpass", "\tdef f():\n\t\tpass"),
        ("ab\x00cd", "ab␀cd"),
        ("\x1b[2J", "␛[2J"),
        ("\ud800", "\ufffd"),
        ("سلام file.txt", "سلام file.txt"),
        ("안녕 👩‍👩‍👧", "안녕 👩‍👩‍👧"),
    ],
)
def test_what_is_seen_is_what_is_sent(raw: str, kept: str) -> None:
    assert typed(raw) == kept


async def test_enter_hands_the_text_over_and_ctrl_j_begins_a_line() -> None:
    composer = Composer()
    app = Host(composer)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "alt+enter", "d")
        assert composer.text == "a\nb\nc\nd"
        await pilot.press("enter")
        assert composer.text == ""
        await until(pilot.pause, lambda: [m.text for m in app.hear(Composer.Submitted)] == ["a\nb\nc\nd"])


async def test_a_paste_of_several_lines_stays_in_the_composer() -> None:
    composer = Composer()
    app = Host(composer)
    async with app.run_test(size=SIZE) as pilot:
        composer.post_message(events.Paste("one\r\ntwo\r\n"))
        await until(pilot.pause, lambda: composer.text == "one\ntwo\n")
        assert app.hear(Composer.Submitted) == []
        await pilot.press("ctrl+underscore")


async def test_undo_brings_back_what_put_replaced() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=SIZE) as pilot:
        await pilot.press("a", "b")
        composer.put("from the editor")
        assert composer.text == "from the editor"
        composer.action_undo()
        assert composer.text == "ab"
        composer.load("another place")
        composer.action_undo()
        assert composer.text == "another place"


async def test_rows_wrap_and_the_cursor_is_drawn_where_it_is() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=SIZE) as pilot:
        composer.put("word " * 20)
        await pilot.pause()
        assert all(cell_len(line) <= SIZE[0] for line in lines(composer))
        assert "".join(line.strip() + " " for line in lines(composer) if line).split() == ["word"] * 20
        reverse = [
            (y, segment.text)
            for y in range(composer.size.height)
            for segment in composer.render_line(y)
            if segment.style and segment.style.bgcolor != composer.rich_style.bgcolor
        ]
        assert reverse == [(len([line for line in lines(composer) if line]) - 1, " ")]


async def test_selected_text_is_lit_and_tabs_are_drawn_as_blanks() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=SIZE) as pilot:
        composer.put("a\tb")
        await pilot.pause()
        assert composer.render_line(0).text.startswith("a   b ")
        await pilot.press("shift+left", "shift+left")
        assert composer.selected_text == "\tb"
        lit = "".join(
            segment.text
            for segment in composer.render_line(0)
            if segment.style and segment.style.bgcolor != composer.rich_style.bgcolor
        )
        assert lit == "   b"
        assert composer.text == "a\tb"


async def test_up_and_down_are_told_where_the_cursor_cannot_go() -> None:
    composer = Composer()
    app = Host(composer)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("a", "ctrl+j", "b", "up")
        assert composer.cursor_location[0] == 0
        assert app.hear(Composer.Stepped) == []
        await pilot.press("up")
        await until(pilot.pause, lambda: [m.step for m in app.hear(Composer.Stepped)] == [-1])


async def test_an_empty_composer_says_what_to_do() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=(90, 5)) as pilot:
        await pilot.pause()
        assert "Enter sends, Ctrl+J begins a new line" in lines(composer)[0]


async def test_case_17_a_key_after_a_huge_wide_paste_is_quick() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=SIZE) as pilot:
        composer.post_message(events.Paste("语" * 33_000))
        await until(pilot.pause, lambda: len(composer.text) == 33_000)
        begun = perf_counter()
        await pilot.press("x")
        await until(pilot.pause, lambda: composer.text.endswith("x"))
        spent = perf_counter() - begun
        assert lines(composer)[-1].strip().endswith("x")
    # TextArea's own drawing took seconds for this; the bound is loose, so that a busy machine does not decide.
    assert spent < 5


async def test_only_a_rows_own_text_is_styled_of_a_huge_line() -> None:
    composer = Composer()
    async with Host(composer).run_test(size=SIZE) as pilot:
        composer.put("语" * 33_000)
        await pilot.pause()
        strip = composer.render_line(0)
        assert sum(len(segment.text) for segment in strip) <= SIZE[0]
