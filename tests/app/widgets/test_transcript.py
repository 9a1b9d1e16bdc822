"""The transcript on a screen: drawing, scrolling, keys, mouse, windows of turns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.color import Color
from textual.strip import Strip
from textual.widgets import Input

from advchat.state import ItemView, TurnRow, TurnView
from advchat.widgets.transcript import Transcript
from advchat.widgets.transcript.palette import contrast

from .transcript_host import IDENT, Host, HostScreen, answered, until


def many(count: int) -> list[TurnView]:
    return [
        answered(turn, f"Answer {turn}.\n\nMore of {turn}.", f"Question {turn}?")
        for turn in range(1, count + 1)
    ]


def without_heads(rows: list[str]) -> list[str]:
    """Leave out the rows that change with the cursor."""
    return [row for row in rows if "⑂ Fork" not in row]


async def test_a_conversation_opens_at_its_end() -> None:
    host = Host(many(10_000))
    async with host.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "  More of 10000." in host.shown)
        assert "▌ Question 10000?" in host.shown
        assert all(end - start < 60 for start, end in host.asked)
        assert sum(end - start for start, end in host.asked) < 60


async def test_an_empty_branch_says_what_to_do() -> None:
    host = Host()
    async with host.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert any("Nothing here yet." in row for row in host.shown)


@pytest.mark.parametrize(
    "text", ["[/", "[b", "[@click=app.bell]x[/]", "\x1b]52;c;aGk=\x07", "[link=smb://x]y[/link]"]
)
async def test_case_1_to_5_outside_text_is_shown_as_it_is(text: str) -> None:
    tool = ItemView("tool", text, name=text, arguments=text, seconds=1.0)
    items = (ItemView("reasoning", text), tool, ItemView("text", f"`{text}`"), ItemView("notice", text))
    view = TurnView(1, 1, text, items, "failed", error=text, note=text)
    host = Host([view])
    async with host.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: any("failed" in row for row in host.shown))
        shown = text.replace("\x1b", "␛").replace("\x07", "␇")
        assert sum(shown in row for row in host.shown) >= 6
        assert "\x1b" not in "".join(host.shown)


async def test_keys_scroll() -> None:
    host = Host(many(50))
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: "  More of 50." in host.shown)
        end = host.shown
        await pilot.press("up")
        assert host.shown[1:] == end[:-1]
        await pilot.press("down")
        assert host.shown == end
        await pilot.press("pageup", "pagedown")
        assert without_heads(host.shown) == without_heads(end)
        await pilot.press("home")
        await until(pilot, lambda: "  More of 1." in host.shown)
        assert host.transcript.scroll_y == 0
        await pilot.press("end")
        await until(pilot, lambda: without_heads(host.shown) == without_heads(end))


async def test_the_wheel_and_the_scrollbar_scroll() -> None:
    host = Host(many(200))
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: "  More of 200." in host.shown)
        before = host.shown
        await pilot._post_mouse_events([_wheel_up()], Transcript, (5, 5))
        assert host.shown != before
        host.transcript.scroll_to(y=100, animate=False)
        await until(pilot, lambda: round(host.transcript.scroll_y) == host.transcript.viewport.top)
        await until(pilot, lambda: any("Question" in row for row in host.shown))
        assert abs(host.transcript.viewport.top - 100) < 40


def _wheel_up() -> type:
    from textual.events import MouseScrollUp

    return MouseScrollUp


async def test_the_turn_keys_are_commands_on_the_chosen_turn() -> None:
    host = Host(many(50))
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: "  More of 50." in host.shown)
        assert host.transcript.chosen is not None
        assert host.transcript.chosen.turn == 50
        await pilot.press("ctrl+up", "k")
        assert host.transcript.chosen.turn == 48
        await pilot.press("f", "e", "r", "y")
        screen = host.screen
        assert isinstance(screen, HostScreen)
        assert screen.commands == ["turn.fork", "turn.edit", "turn.regenerate", "turn.copy"]
        await pilot.press("home")
        await until(pilot, lambda: host.transcript.chosen is not None and host.transcript.chosen.turn < 5)
        turns = [message.turn for message in host.heard_of(Transcript.TurnFocused)]
        assert turns[:3] == [50, 49, 48]


async def test_buttons_are_clicked() -> None:
    host = Host([answered(1, siblings=("a", "b"), sibling_index=1), answered(2, "[x](https://example.org) y")])
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: any("2/2" in row for row in host.shown))
        for label in ("⑂ Fork", "‹", "›", "regenerate"):
            await pilot.hover(Transcript, offset=host.find("2/2"))
            await until(pilot, lambda: any("regenerate" in row for row in host.shown))
            await pilot.click(Transcript, offset=host.find(label))
        await pilot.click(Transcript, offset=host.find("x y"))
        await pilot.pause()
        assert [message.turn for message in host.heard_of(Transcript.ForkRequested)] == [1]
        actions = [
            (message.action, message.turn, message.key) for message in host.heard_of(Transcript.ActionRequested)
        ]
        assert actions == [("previous_sibling", 1, 1001), ("next_sibling", 1, 1001), ("regenerate", 1, 1001)]
        assert [message.url for message in host.heard_of(Transcript.LinkRequested)] == ["https://example.org"]


async def test_everything_clickable_is_reached_by_key() -> None:
    answer = "[x](https://example.org)\n\n```py\na = 1\n```"
    view = answered(1, answer, status="failed", error="no", actions=("retry", "discard"))
    host = Host([view])
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: any("Retry" in row for row in host.shown))
        for _ in range(9):
            await pilot.press("tab", "enter")
        await pilot.pause()
        assert [message.turn for message in host.heard_of(Transcript.ForkRequested)] == [1]
        actions = [message.action for message in host.heard_of(Transcript.ActionRequested)]
        assert actions == ["edit", "regenerate", "copy", "compare", "retry", "discard"]
        assert [message.url for message in host.heard_of(Transcript.LinkRequested)] == ["https://example.org"]
        assert [message.text for message in host.heard_of(Transcript.CopyRequested)] == ["a = 1"]
        await pilot.press("tab")
        assert isinstance(host.focused, Input)


@pytest.mark.parametrize("url", ["smb://host/x", "vscode://file/x", "/etc/passwd", "javascript:alert(1)"])
async def test_case_7_unsafe_links_are_text(url: str) -> None:
    host = Host([answered(1, f"[press me]({url})")])
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: any(f"press me ({url})" in row for row in host.shown))
        await pilot.click(Transcript, offset=host.find("press me"))
        await pilot.press("tab", "tab", "tab", "tab", "tab", "tab", "enter")
        assert not host.heard_of(Transcript.LinkRequested)


async def test_tool_calls_and_reasoning_unfold() -> None:
    items = (
        ItemView("reasoning", "First think.\nThen act."),
        ItemView("tool", "sunny\nand warm", name="weather", arguments='{"city": "Oslo"}', seconds=0.42),
        ItemView("text", "Sunny."),
    )
    host = Host([TurnView(1, 1, "Weather?", items, "completed")])
    async with host.run_test(size=(80, 30)) as pilot:
        await until(pilot, lambda: "  ▸ ✓ weather  city: Oslo  0.4 s" in host.shown)
        assert "  ▸ Reasoning  First think. Then act." in host.shown
        await pilot.click(Transcript, offset=host.find("✓ weather"))
        await until(pilot, lambda: any("and warm" in row for row in host.shown))
        assert any('"city": "Oslo"' in row for row in host.shown)
        await pilot.click(Transcript, offset=host.find("▾ ✓ weather"))
        await pilot.click(Transcript, offset=host.find("▸ Reasoning"))
        await until(pilot, lambda: "  │ Then act." in host.shown)
        assert not any("and warm" in row for row in host.shown)


async def test_a_long_prompt_is_folded() -> None:
    prompt = "\n".join(f"line {number}" for number in range(200))
    host = Host([answered(1, "Yes.", prompt)])
    async with host.run_test(size=(80, 30)) as pilot:
        await until(pilot, lambda: any("▸ all 200 lines" in row for row in host.shown))
        assert not any("line 150" in row for row in host.shown)
        await pilot.click(Transcript, offset=host.find("▸ all 200 lines"))
        await pilot.press("end")
        await until(pilot, lambda: "▌ line 199" in host.shown)


async def test_the_fork_point_is_marked() -> None:
    turns = [replace(view, inherited=view.turn < 3) for view in many(4)]
    host = Host(turns)
    async with host.run_test(size=(80, 40)) as pilot:
        host.transcript.parent_name = "Plan [b"
        await until(pilot, lambda: any("⑂ inherited from Plan [b above" in row for row in host.shown))
        rule = next(y for y, row in enumerate(host.shown) if "inherited" in row)
        assert host.shown[rule - 2] == "  More of 2."
        assert host.shown[rule + 2].startswith("▌ 3")


async def test_a_branch_without_own_turns_is_marked_at_its_end() -> None:
    host = Host([replace(view, inherited=True) for view in many(2)])
    async with host.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: any("⑂ inherited above" in row for row in host.shown))
        assert host.find("⑂ inherited above")[1] > host.find("More of 2.")[1]


async def test_flipping_to_a_sibling_keeps_the_fork_point_in_place() -> None:
    host = Host(many(40))
    async with host.run_test(size=(80, 30)) as pilot:
        transcript = host.transcript
        transcript.scroll_to_turn(30)
        await until(pilot, lambda: "  More of 30." in host.shown)
        place = host.find("▌ Question 30?")[1]
        above = host.shown[: place - 1]
        host.turns = [
            *host.turns[:29],
            *(answered(turn, f"Other {turn}.", f"Asked {turn}?", key=5000 + turn) for turn in (30, 31)),
        ]
        transcript.set_conversation((IDENT[0], "other"), 31, keep_scroll_at=30)
        await pilot.pause()
        assert host.shown[: place - 1] == above
        await until(pilot, lambda: "  Other 30." in host.shown)
        assert host.shown[: place - 1] == above
        assert host.find("▌ Asked 30?")[1] == place


async def test_flipping_at_the_end_keeps_the_fork_point_in_place() -> None:
    host = Host(many(20))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "  More of 20." in host.shown)
        place = host.find("▌ Question 20?")[1]
        long = "\n\n".join(f"Paragraph {number}." for number in range(30))
        host.turns = [*host.turns[:19], answered(20, long, "Other?", key=7000)]
        host.transcript.set_conversation((IDENT[0], "other"), 20, keep_scroll_at=20)
        await until(pilot, lambda: "▌ Other?" in host.shown)
        assert host.find("▌ Other?")[1] == place


async def test_a_new_fork_shows_what_it_inherits_to_its_end() -> None:
    host = Host(many(20))
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.scroll_to_turn(12)
        await until(pilot, lambda: "  More of 12." in host.shown)
        host.turns = [replace(view, inherited=True) for view in host.turns[:11]]
        host.transcript.set_conversation((IDENT[0], "fork"), 11, keep_scroll_at=12)
        await until(pilot, lambda: any("⑂ inherited above" in row for row in host.shown))
        assert "  More of 11." in host.shown
        assert host.transcript.viewport.follow


async def test_turns_are_read_again_as_they_come_into_view() -> None:
    host = Host(many(40))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "  More of 40." in host.shown)
        host.turns = [replace(view, items=(ItemView("text", f"New {view.turn}."),)) for view in host.turns]
        host.transcript.reread()
        await until(pilot, lambda: "  New 40." in host.shown)
        await pilot.press("pageup")
        await until(pilot, lambda: "  New 35." in host.shown)
        assert not any("More of" in row for row in host.shown)


async def test_heights_are_told_once_and_serve_as_hints() -> None:
    host = Host(many(30))
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: bool(host.heard_of(Transcript.HeightsMeasured)))
        message = host.heard_of(Transcript.HeightsMeasured)[0]
        viewport = host.transcript.viewport
        assert message.width == viewport.width
        assert message.heights[1030] == viewport.offsets[29]
        rows = [
            TurnRow(
                1,
                9001,
                "",
                1,
                1,
                at_least=False,
                inherited=False,
                status="completed",
                height=33,
                height_width=message.width,
            )
        ]
        host.transcript.set_conversation(("other", "main"), 1, rows)
        assert viewport.total == 33


async def test_turns_not_there_yet_leave_the_screen_alive() -> None:
    host = Host(many(500), answers=False)
    async with host.run_test(size=(80, 20)) as pilot:
        await until(pilot, lambda: bool(host.asked))
        await pilot.press("up", "pageup", "home", "end", "f", "tab", "enter", "ctrl+up")
        await pilot.click(Transcript, offset=(5, 5))
        host.transcript.put_turns(480, host.turns[480:])
        await until(pilot, lambda: "  More of 500." in host.shown)


async def test_case_30_resizing_to_nothing_and_back() -> None:
    host = Host(many(30))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "  More of 30." in host.shown)
        before = host.shown
        for size in ((2, 1), (0, 0), (1, 3), (40, 2), (80, 24)):
            await pilot.resize_terminal(*size)
        await until(pilot, lambda: host.shown == before)


async def test_case_31_a_new_theme_recolours_everything() -> None:
    host = Host([answered(1, "```py\nx = 1\n```")])
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: any("x = 1" in row for row in host.shown))
        dark, rows = host.transcript.palette, host.shown
        host.theme = "advchat-light"
        await until(pilot, lambda: host.transcript.palette != dark)
        assert host.shown == rows


@pytest.mark.parametrize("theme", ["advchat-dark", "advchat-light", "textual-dark", "textual-light"])
async def test_case_80_every_text_has_contrast(theme: str) -> None:
    host = Host(many(1), theme=theme)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "  More of 1." in host.shown)
        transcript = host.transcript
        background = transcript.background_colors[1]
        for role in transcript.palette.__slots__:
            style = getattr(transcript.palette, role)
            if role in {"rule", "bar", "target"} or style.color is None:
                continue
            below = background if style.bgcolor is None else Color.from_rich_color(style.bgcolor)
            assert contrast(Color.from_rich_color(style.color), below) >= 4.49, role


async def test_case_81_nothing_is_painted_while_nothing_happens() -> None:
    host = Host(many(30))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(host.heard_of(Transcript.HeightsMeasured)))
        painted: list[int] = []
        paint = host.transcript.render_line

        def counted(y: int) -> Strip:
            painted.append(y)
            return paint(y)

        host.transcript.render_line = counted  # type: ignore[method-assign]  # counts what is painted
        ticks: list[int] = []
        host.set_interval(0.05, lambda: ticks.append(1))
        await until(pilot, lambda: len(ticks) > 6)
        assert not painted
