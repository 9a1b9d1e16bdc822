"""Selecting in the transcript, and what copying gives."""

from __future__ import annotations

import pytest
from textual.events import MouseDown, MouseMove, MouseUp
from textual.pilot import Pilot

from advchat.state import ItemView, TurnView
from advchat.widgets.transcript import Transcript

from .transcript_host import Host, answered, until


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Drag with the left button between two cells of the transcript."""
    await pilot._post_mouse_events([MouseMove, MouseDown], Transcript, start, button=1)
    await pilot._post_mouse_events([MouseMove, MouseUp], Transcript, end, button=1)
    await pilot.pause()


async def select(host: Host, pilot: Pilot[None], first: str, last: str) -> str | None:
    """Drag from the first letter of ``first`` to the last letter of ``last``; return what copying gives."""
    await until(pilot, lambda: any(first in row for row in host.shown))
    x, y = host.find(last)
    await drag(pilot, host.find(first), (x + len(last) - 1, y))
    return host.screen.get_selected_text()


async def press_copy(host: Host, pilot: Pilot[None], label: str) -> None:
    """Click the copy button of the code block with that label."""
    y = host.find(label)[1]
    await pilot.click(Transcript, offset=(host.shown[y].index("copy"), y))
    await pilot.pause()


LONG = " ".join(f"word{number}" for number in range(60))


async def test_case_77_prose_is_copied_without_the_breaks_of_wrapping() -> None:
    host = Host([answered(1, LONG)])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "word0", "word59") == LONG
        assert (
            await select(host, pilot, "word7 ", "word31") == LONG[LONG.index("word7 ") : LONG.index(" word32")]
        )


async def test_case_77_code_is_copied_as_written() -> None:
    code = "def f():\n\tif True:\n\t\treturn '" + "x" * 300 + "'\n\n# end"
    host = Host([answered(1, f"Look:\n\n```py\n{code}\n```\n\nDone.")])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "def f", "# end") == code
        await press_copy(host, pilot, "  py  ")
        assert [message.text for message in host.heard_of(Transcript.CopyRequested)] == [code]


async def test_code_in_a_list_is_copied_without_its_margin() -> None:
    host = Host([answered(1, "1. Do:\n   ```sh\n   ls\n     -l\n   ```\n2. Done.")])
    async with host.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: any("sh  " in row for row in host.shown))
        await press_copy(host, pilot, "sh  ")
        assert [message.text for message in host.heard_of(Transcript.CopyRequested)] == ["ls\n  -l"]


async def test_markup_is_copied_with_what_it_marks() -> None:
    answer = "# The head\n\nSome **bold words** and `code` here.\n\n- one\n- two"
    host = Host([answered(1, answer)])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "The head", "two") == answer
        assert await select(host, pilot, "bold", "here.") == "**bold words** and `code` here."
        assert await select(host, pilot, "Some", "words") == "Some **bold words**"
        assert await select(host, pilot, "bold", "words") == "bold words"
        assert await select(host, pilot, "one", "two") == "- one\n- two"
        assert await select(host, pilot, "ode", "ode") == "ode"


async def test_a_selection_over_turns_holds_prompts_and_answers() -> None:
    host = Host([answered(1, "First answer.", "First?"), answered(2, "Second answer.", "Second?")])
    async with host.run_test(size=(60, 30)) as pilot:
        copied = await select(host, pilot, "First?", "Second answer.")
        assert copied == "First?\n\nFirst answer.\n\nSecond?\n\nSecond answer."


async def test_case_13_right_to_left_and_wide_text_is_copied_in_logical_order() -> None:
    answer = "سلام report.txt دنیا 日本語 e\u0301 ☂️ end"
    host = Host([answered(1, answer)])
    async with host.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: any("report" in row for row in host.shown))
        y = next(y for y, row in enumerate(host.shown) if "report" in row)
        await drag(pilot, (0, y), (59, y))
        assert host.screen.get_selected_text() == answer


async def test_case_10_nothing_is_lost_in_copying_what_is_neutralised() -> None:
    answer = "ab\0cd \x1b[2J ef\ud800gh\tij"
    host = Host([answered(1, answer)])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "ab", "ij") == answer


async def test_case_79_a_blank_drag_selects_nothing_and_keeps_a_copy() -> None:
    host = Host([answered(1, "Short.")])
    async with host.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: "  Short." in host.shown)
        host.copy_to_clipboard("precious")
        y = host.find("Short.")[1]
        for start, end in (((30, y), (50, y)), ((10, y + 5), (50, y + 8)), ((0, y + 1), (50, y + 1))):
            await drag(pilot, start, end)
            assert host.screen.get_selected_text() is None
            await pilot.press("ctrl+c")
        assert host.clipboard == "precious"
        assert host.is_running


async def test_a_selection_survives_scrolling_streaming_and_resizing() -> None:
    host = Host([answered(turn, f"Answer {turn} here.") for turn in range(1, 20)])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "Answer 18", "here.") is not None
        selected = host.transcript.selected_text
        assert selected.startswith("Answer 18") or selected
        await pilot.press("pageup", "home")
        await pilot.resize_terminal(40, 20)
        host.transcript.begin_run(TurnView(20, 1020, "Now?", (ItemView("text", "Going"),), "running"))
        await pilot.pause()
        assert host.transcript.selected_text == selected


async def test_a_click_or_escape_ends_a_selection() -> None:
    host = Host([answered(1, "Some words here.")])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "Some", "words") == "Some words"
        await pilot.click(Transcript, offset=(50, 10))
        assert host.transcript.selected_text == ""
        assert await select(host, pilot, "Some", "words") == "Some words"
        await pilot.press("escape")
        assert host.transcript.selected_text == ""
        assert host.screen.get_selected_text() is None


async def test_a_drag_does_not_press_what_it_began_on() -> None:
    host = Host([answered(1, "Go [there](https://example.org) now.")])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "there", "now.") == "[there](https://example.org) now."
        assert not host.heard_of(Transcript.LinkRequested)


@pytest.mark.parametrize(
    "answer", ["> quoted *text*\n> more", "| a | b |\n|---|---|\n| one | two |", "a  \nb\\\nc &amp; \\*d"]
)
async def test_whole_blocks_are_copied_as_written(answer: str) -> None:
    host = Host([answered(1, f"Before.\n\n{answer}\n\nAfter.")])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "Before.", "After.") == f"Before.\n\n{answer}\n\nAfter."


async def test_the_answer_of_a_turn_is_its_source() -> None:
    items = (ItemView("text", "# One"), ItemView("tool", "x", name="t"), ItemView("text", "Two **b**\n"))
    host = Host([TurnView(1, 77, "p", items, "completed")])
    async with host.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: any("Two" in row for row in host.shown))
        assert host.transcript.turn_source(77) == "# One\n\nTwo **b**\n"
        assert host.transcript.turn_source(78) is None


async def test_rows_and_turns_are_selected_by_key() -> None:
    host = Host([answered(1, "One\n\nTwo\n\nThree", "First?"), answered(2, "Four", "Second?")])
    async with host.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: "  Four" in host.shown)
        host.transcript.scroll_to_turn(1)
        await pilot.press("shift+down", "shift+down", "shift+down")
        assert host.screen.get_selected_text() == "First?\n\nOne\n\nTwo"
        await pilot.press("shift+up")
        assert host.screen.get_selected_text() == "First?\n\nOne"
        await pilot.press("ctrl+a")
        assert host.screen.get_selected_text() == "First?\n\nOne\n\nTwo\n\nThree"


async def test_an_error_can_be_copied() -> None:
    host = Host([answered(1, "Half", status="failed", error="no route to host 10.0.0.1")])
    async with host.run_test(size=(60, 30)) as pilot:
        assert await select(host, pilot, "route", "10.0.0.1") == "route to host 10.0.0.1"


async def test_a_link_that_names_another_place_says_where_it_leads() -> None:
    host = Host([answered(1, "[https://good.example](https://evil.example/x) [docs](https://docs.example)")])
    async with host.run_test(size=(90, 30)) as pilot:
        await until(pilot, lambda: any("(https://evil.example/x)" in row for row in host.shown))
        assert not any("(https://docs.example)" in row for row in host.shown)
