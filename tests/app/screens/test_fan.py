"""The answers of a fan-out side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from advchat.actions import UserError
from advchat.screens.fan import FanScreen
from advchat.screens.fan_numbers import duration, numbers, summary
from advchat.state import RunInfo
from advchat.widgets.fan_grid import Shape, Tabs, shape
from advchat.widgets.heading import Heading
from advchat.widgets.lines import Notice
from advchat_storage.clock import now as clock_now
from tests.app.fakes import TIME, FakeActions, usage
from tests.app.fans import answer, fanned, finish, member
from tests.app.screens.conftest import Desk, Open
from tests.app.widgets.host import lines


@asynccontextmanager
async def grid(
    desk: Open, actions: FakeActions, size: tuple[int, int] = (160, 48)
) -> AsyncIterator[tuple[Desk, FanScreen]]:
    """Open the main screen and the grid over it."""
    async with desk(actions, size=size) as d:
        d.main.action_command("branch.answers")
        await d.until(lambda: isinstance(d.app.screen, FanScreen))
        screen = d.app.screen
        assert isinstance(screen, FanScreen)
        await d.until(lambda: all(pane.view is not None for pane in screen.grid.panes))
        await d.pilot.pause()
        yield d, screen


def notice(screen: FanScreen) -> str:
    return str(screen.query_one(Notice).render())


async def test_the_grid_closes_where_another_conversation_is_shown(desk: Open) -> None:
    # Ctrl+N right after the line that fans out: it is done once the grid is open.
    async with grid(desk, actions := fanned(2, running=2)) as (d, screen):
        await actions.new_conversation("")
        await d.until(lambda: d.app.screen is not screen)


# Layout


@pytest.mark.parametrize(
    ("count", "width", "height", "expected"),
    [
        (2, 160, 45, Shape(2, 1)),
        (3, 160, 45, Shape(3, 1)),
        (4, 160, 45, Shape(4, 1)),
        (5, 160, 45, Shape(3, 2)),
        (8, 160, 45, Shape(4, 2)),
        (8, 320, 80, Shape(8, 1)),
        (4, 100, 27, Shape(2, 2)),
        (2, 60, 18, Shape(1, 2)),
        (3, 60, 18, Shape(1, 1, tabs=True)),
        (8, 100, 27, Shape(1, 1, tabs=True)),
        (2, 40, 9, Shape(1, 1, tabs=True)),
    ],
)
def test_answers_stand_beside_each_other_where_they_fit(
    count: int, width: int, height: int, expected: Shape
) -> None:
    assert shape(count, width, height) == expected


@pytest.mark.parametrize("count", [2, 3, 5, 8])
@pytest.mark.parametrize("size", [(160, 48), (100, 30), (60, 20), (40, 12)])
async def test_every_answer_can_be_seen_at_every_size(desk: Open, count: int, size: tuple[int, int]) -> None:
    async with grid(desk, fanned(count), size) as (d, screen):
        for number in range(1, count + 1):
            await d.pilot.press(str(number))
            await d.pilot.pause()
            pane = screen.grid.panes[number - 1]
            assert pane.has_focus
            await d.pilot.press("home")
            assert any(f"Answer {number}" in row for row in lines(pane))
            assert pane.region.right <= size[0]
            assert pane.size.height >= 4


# Streaming


async def test_answers_grow_and_end_where_they_belong(desk: Open) -> None:
    actions = fanned(3, running=2)
    async with grid(desk, actions) as (d, screen):
        first, second, third = screen.grid.panes
        assert "⟳" in str(first.border_subtitle)
        assert "✓" in str(third.border_subtitle)
        longer = answer(1, "running")
        items = (replace(longer.items[0], text=f"{longer.items[0].text}\n\nand it goes on"),)
        actions.growing["fan1"] = replace(longer, items=items)
        await d.until(lambda: any("and it goes on" in row for row in lines(first)))
        assert not any("and it goes on" in row for row in lines(second))
        finish(actions, 1)
        finish(actions, 2, "failed", error="The key was refused.")
        await d.until(lambda: "✓" in str(first.border_subtitle))
        await d.until(lambda: "failed" in str(second.border_subtitle))
        await d.until(lambda: any("The key was refused." in row for row in lines(second)))
        assert second.has_class("-failed")
        await d.until(lambda: "3 of 3 answered" in screen.query_one(Heading).render_line(0).text)


async def test_text_from_outside_is_neither_markup_nor_escapes(desk: Open) -> None:
    async with grid(desk, fanned(4)) as (_, screen):
        shown = "\n".join(lines(screen.grid.panes[3]))
        assert "[/red] ␛[2J" in shown
        assert "claude [/]" in str(screen.grid.panes[3]._border_title)


# Choosing


async def test_arrows_tab_numbers_and_the_mouse_choose(desk: Open) -> None:
    async with grid(desk, fanned(5)) as (d, screen):
        ways = {"right": 1, "down": 4, "up": 1, "left": 0, "shift+tab": 4, "tab": 0, "3": 2}
        for key, chosen in ways.items():
            await d.pilot.press(key)
            assert screen.grid.chosen == chosen, key
        await d.pilot.press("down")
        assert screen.grid.chosen == 4
        await d.pilot.click(screen.grid.panes[1])
        await d.until(lambda: screen.grid.chosen == 1)
        assert screen.grid.panes[1].has_focus


async def test_tabs_choose_by_click_where_one_answer_is_shown(desk: Open) -> None:
    async with grid(desk, fanned(3), (60, 20)) as (d, screen):
        assert screen.grid.tabbed
        await d.pilot.click(Tabs, offset=(25, 0))
        await d.until(lambda: screen.grid.chosen == 1)
        assert [pane.display for pane in screen.grid.panes] == [False, True, False]


@pytest.mark.parametrize("key", ["enter", "k"])
async def test_keeping_shows_the_answers_branch(desk: Open, key: str) -> None:
    async with grid(desk, fanned(3, running=1)) as (d, _):
        await d.pilot.press("right", key)
        await d.called("keep", "fan2")
        await d.until(lambda: d.app.screen is d.main)
        await d.until(lambda: d.main.composer.has_focus)


async def test_forking_on_from_an_answer(desk: Open) -> None:
    async with grid(desk, fanned(3, running=1)) as (d, screen):
        await d.pilot.press("f")
        assert "still being answered" in notice(screen)
        await d.pilot.press("right", "f")
        await d.called("fork_on", "fan2", 5)
        await d.until(lambda: d.app.screen is d.main)


async def test_leaving_lets_the_answers_go_on(desk: Open) -> None:
    actions = fanned(3, running=3)
    async with grid(desk, actions) as (d, _):
        await d.pilot.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        assert not actions.called("stop")
        assert not actions.called("keep")
        await d.type("typing goes on")
        assert d.text == "typing goes on"
        d.main.action_command("branch.answers")
        await d.until(lambda: isinstance(d.app.screen, FanScreen))


async def test_stopping_one_leaves_the_others(desk: Open) -> None:
    async with grid(desk, fanned(3, running=3)) as (d, screen):
        await d.pilot.press("right", "s")
        await d.called("stop_branch", "fan2")
        d.actions.fail["stop_branch"] = UserError("It has ended.")
        await d.pilot.press("s")
        await d.until(lambda: "It has ended." in notice(screen))


async def test_an_answer_is_copied(desk: Open) -> None:
    async with grid(desk, fanned(2)) as (d, screen):
        await d.pilot.press("2", "y")
        await d.until(lambda: "Copied" in notice(screen))
        assert d.app.clipboard.startswith("Answer **2**")


async def test_a_failure_to_read_is_said_and_takes_nothing_down(desk: Open) -> None:
    actions = fanned(2, running=2)
    async with grid(desk, actions) as (d, screen):
        actions.fail["turn_on"] = OSError("the disk is gone")
        finish(actions, 1)
        await d.until(lambda: "the disk is gone" in notice(screen))
        assert any("Answer 1" in row for row in lines(screen.grid.panes[0]))


# Numbers


def test_numbers_are_about_while_it_grows_and_exact_afterwards() -> None:
    from datetime import timedelta

    begun = clock_now()
    from datetime import datetime

    moment = datetime.fromisoformat(begun)
    growing = member(1, "running", started_at=begun)
    view = answer(1, "running")
    run = RunInfo("run1", "c1", "fan1", 5, "?", TIME, "waiting", "rate limit, 12 s")
    assert numbers(growing, view, None, moment + timedelta(seconds=2)).startswith("⟳ 2.0 s · ~")
    assert "/s" in numbers(growing, view, None, moment + timedelta(seconds=2))
    assert "rate limit, 12 s" in numbers(growing, view, run, moment)
    assert numbers(member(1), answer(1), None, moment) == "✓ 1,200→400 tok · $0.000900 · 4.0 s · 100/s"
    assert numbers(member(1), answer(1), None, moment, short=True) == "✓ 1200→400 · $0.0009 · 4.0 s · 100/s"
    unknown = replace(member(1), usage=replace(usage(), cost_nano=None, input_tokens=None, output_tokens=None))
    assert numbers(unknown, answer(1), None, moment) == "✓ ?→? tok · unknown · 4.0 s"
    refused = replace(member(1, "refused"), usage=replace(usage(), requests=0))
    assert "no request went out" in numbers(refused, answer(1, "refused"), None, moment)


def test_a_sum_of_answers_is_at_least_while_some_grow() -> None:
    assert summary((member(1), member(2)), (False, False)) == "2 of 2 answered · $0.0027000"
    assert summary((member(1), member(2, "running")), (False, True)) == "1 of 2 answered · ≥$0.000900"
    assert summary((member(1, "running"),), (True,)) == "0 of 1 answered"


def test_durations_are_short() -> None:
    assert [duration(value) for value in (0.04, 9.94, 12.3, 125)] == ["0.0 s", "9.9 s", "12 s", "2:05"]
