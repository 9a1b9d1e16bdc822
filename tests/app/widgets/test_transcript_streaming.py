"""A live answer in the transcript."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from advchat.events import (
    AgentChanged,
    ReasoningDelta,
    RequestEnded,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Waiting,
)
from advchat.state import ItemView, TurnView
from advchat.widgets.transcript import Transcript
from advchat.widgets.transcript.streaming import LiveRun

from .transcript_host import IDENT, Host, answered, until

LIVE = TurnView(1, 1001, "Tell me.", (), "running")


def text(words: str) -> TextDelta:
    return TextDelta("run", words)


async def drawn(pilot: Pilot[None], host: Host) -> None:
    await until(pilot, lambda: not host.transcript.drawing)


async def test_deltas_are_joined_into_few_frames() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        assert any("Nothing here yet." in row for row in host.shown)
        host.transcript.begin_run(LIVE)
        await until(pilot, lambda: "  ⟳ waiting for the answer" in host.shown)
        assert not any("Nothing here yet." in row for row in host.shown)
        frames: list[int] = []
        draw = host.transcript._draw_live

        def counted() -> None:
            frames.append(1)
            draw()

        host.transcript._draw_live = counted  # type: ignore[method-assign]  # counts frames
        for number in range(500):
            host.transcript.feed(text(f"word{number} "))
        await until(pilot, lambda: any("word499" in row for row in host.shown))
        assert len(frames) == 1


async def test_what_came_before_the_screen_looked_is_there() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.begin_run(replace(LIVE, items=(ItemView("text", "Once upon "),)))
        host.transcript.feed(text("a time."))
        await until(pilot, lambda: "  Once upon a time." in host.shown)


async def test_tools_reasoning_and_handoffs_come_in_order() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        transcript = host.transcript
        transcript.begin_run(LIVE)
        transcript.feed(ReasoningDelta("run", "Think."))
        transcript.feed(text("Let me see."))
        transcript.feed(ToolStarted("run", "c1", "weather", '{"city": "Oslo"}'))
        await until(pilot, lambda: any("⟳ weather  city: Oslo" in row for row in host.shown))
        transcript.feed(ToolFinished("run", "c1", "weather", "sunny", 1.25))
        transcript.feed(AgentChanged("run", "Helper"))
        transcript.feed(Waiting("run", "rate limit", 12.0))
        await until(pilot, lambda: "  ⟳ waiting: rate limit, 12 s" in host.shown)
        transcript.feed(text("It is sunny."))
        await until(pilot, lambda: "  It is sunny." in host.shown)
        assert not any("rate limit" in row for row in host.shown)
        rows = [row.strip() for row in host.shown if row.strip()]
        assert rows[2:] == [
            "▸ Reasoning  Think.",
            "Let me see.",
            "▸ ✓ weather  city: Oslo  1.2 s",
            "ℹ Helper goes on from here",
            "It is sunny.",
        ]


async def test_ending_a_run_moves_nothing() -> None:
    host = Host([answered(turn) for turn in range(1, 10)])
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: any("▌ 9" in row or "█ 9" in row for row in host.shown))
        live = TurnView(10, 1010, "Tell me.", (), "running")
        host.transcript.begin_run(live)
        answer = "# Head\n\nSome text.\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd."
        host.transcript.feed(text(answer))
        await until(pilot, lambda: "  End." in host.shown)
        before = host.shown
        rendered = [id(line.row) for line in host.transcript.viewport.lines]
        host.transcript.end_run(replace(live, items=(ItemView("text", answer),), status="completed"))
        assert host.shown == before
        await pilot.pause()
        assert [id(line.row) for line in host.transcript.viewport.lines][-10:] == rendered[-10:]


async def test_a_stopped_run_says_so_in_place() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.begin_run(LIVE)
        host.transcript.feed(text("Half of it"))
        view = replace(LIVE, items=(ItemView("text", "Half of it"),), status="stopped", actions=("continue",))
        host.transcript.end_run(view)
        await until(pilot, lambda: "  ■ stopped" in host.shown)
        assert "  Half of it" in host.shown
        await pilot.click(Transcript, offset=host.find("Continue"))
        await pilot.pause()
        assert [message.action for message in host.heard_of(Transcript.ActionRequested)] == ["continue"]


async def test_case_26_streaming_leaves_the_reader_alone() -> None:
    host = Host([answered(turn, "line\n" * 20) for turn in range(1, 6)])
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "  line" in host.shown)
        host.transcript.begin_run(TurnView(6, 1006, "More?", (), "running"))
        await pilot.press("pageup")
        before = host.shown
        for number in range(60):
            host.transcript.feed(text(f"line {number}\n\n"))
        await drawn(pilot, host)
        assert host.shown == before
        assert not host.transcript.viewport.follow


@pytest.mark.parametrize("way", ["end", "down", "wheel"])
async def test_case_28_coming_back_to_a_moving_end_follows_it(way: str) -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        transcript = host.transcript
        transcript.begin_run(LIVE)
        transcript.feed(text("\n\n".join(f"start {number}" for number in range(40))))
        await drawn(pilot, host)
        await pilot.press("up")
        transcript.feed(text("\n\n" + "\n\n".join(f"more {number}" for number in range(20))))
        await drawn(pilot, host)
        assert not transcript.viewport.follow
        if way == "wheel":
            from textual.events import MouseScrollDown

            await pilot._post_mouse_events([MouseScrollDown], Transcript, (5, 5))
        else:
            await pilot.press(way)
        assert transcript.viewport.follow
        transcript.feed(text("\n\nthe very last"))
        await until(pilot, lambda: "  the very last" in host.shown)


async def test_case_31_code_stays_through_theme_focus_and_branch() -> None:
    host = Host([answered(1)])
    async with host.run_test(size=(80, 24)) as pilot:
        transcript = host.transcript
        live = TurnView(2, 1002, "Code?", (), "running")
        transcript.begin_run(live)
        transcript.feed(text("```py\nx = 'one"))
        await drawn(pilot, host)
        host.theme = "advchat-light"
        transcript.feed(text(" and two'\ny = 2"))
        host.query_one(Input).focus()
        await drawn(pilot, host)
        await until(pilot, lambda: "    y = 2" in host.shown)
        assert "    x = 'one and two'" in host.shown
        host.transcript.set_conversation((IDENT[0], "other"), 1)
        await until(pilot, lambda: not any("y = 2" in row for row in host.shown))
        transcript.feed(text("lost"))
        transcript.set_conversation(IDENT, 2)
        so_far = "```py\nx = 'one and two'\ny = 2\nz = "
        transcript.begin_run(replace(live, items=(ItemView("text", so_far),)))
        transcript.feed(text("3\n```"))
        await until(pilot, lambda: "    z = 3" in host.shown)


async def test_case_5_and_8_streamed_control_bytes_are_harmless() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.begin_run(LIVE)
        for part in ("a\x1b", "]52;c;aGk=\x07", "b\x9b2J", "c\r", "d\x00", "\ud800", "e\u202e"):
            host.transcript.feed(text(part))
        await until(pilot, lambda: any("a␛]52;c;aGk=␇b" in row for row in host.shown))
        assert any("d\ufffd\ufffde⟨U+202E⟩" in row for row in host.shown)
        assert all(row.isprintable() for row in host.shown)


async def test_turns_that_arrive_do_not_replace_the_live_one() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.begin_run(LIVE)
        host.transcript.feed(text("Growing"))
        host.transcript.put_turns(0, [LIVE])
        host.transcript.feed(text(" on"))
        await until(pilot, lambda: "  Growing on" in host.shown)


async def test_an_idle_stream_repaints_nothing() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        host.transcript.begin_run(LIVE)
        host.transcript.feed(text("Growing"))
        await until(pilot, lambda: "  Growing" in host.shown)
        host.transcript.feed(RequestEnded("run", "r", None, "completed", None, None, None, None))
        assert not host.transcript.drawing


def test_a_tool_that_was_never_announced_is_shown() -> None:
    live = LiveRun(LIVE)
    live.feed(text("a"))
    live.feed(ToolFinished("run", "c9", "late", "done", 0.1))
    live.feed(text("b"))
    assert [(item.kind, item.text) for item in live.items()] == [("text", "a"), ("tool", "done"), ("text", "b")]
