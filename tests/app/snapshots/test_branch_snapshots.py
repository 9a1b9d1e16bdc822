"""Pictures of fan-out, comparison, the tree's views and the composer's edge, in three sizes and both themes.

Made anew with ``pytest tests/app/snapshots --snapshot-update``; look at what changed before accepting it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from textual.pilot import Pilot

from advchat.app import AdvchatApp
from advchat.screens.compare import CompareScreen
from advchat.screens.fan import FanScreen
from advchat.state import Budget, SendEstimate
from tests.app.fakes import FakeActions, snapshot, some_branches, until
from tests.app.fans import compared, fanned, finish
from tests.app.snapshots.test_snapshots import SIZES, settled


@dataclass(frozen=True)
class State:
    """A state of the screen: what the actions give, the command that leads there, keys pressed then."""

    actions: Callable[[], FakeActions]
    command: str = ""
    keys: tuple[str, ...] = ()


def growing() -> FakeActions:
    actions = fanned(3, running=2)
    finish(actions, 3, "failed", error="The model is not known there. /model names another.")
    return actions


def comparing() -> FakeActions:
    actions = FakeActions()
    actions.comparison = compared()
    return actions


def estimating() -> FakeActions:
    actions = FakeActions(snapshot(budget=Budget(500_000_000, 410_000_000, "conversation")))
    actions.estimated = SendEstimate(1_234, 0.8, 1_000_000, 4_000_000, 120_000)
    return actions


def tree() -> FakeActions:
    names = {"main": "gpt-5", "fr": "gpt-4.1-mini"}
    rows = tuple(
        replace(
            row,
            children=int(row.branch.branch_id in ("main", "shorter")),
            branch=replace(
                row.branch, model=names.get(row.branch.branch_id), pinned=row.branch.branch_id == "shorter"
            ),
        )
        for row in some_branches()
    )
    return FakeActions(snapshot(branches=rows))


STATES = {
    "fan": State(growing, "branch.answers", ("2",)),
    "fan-of-eight": State(lambda: fanned(8), "branch.answers", ("6",)),
    "compare": State(comparing, "branch.compare", ("enter",)),
    "edge": State(estimating, "", tuple("why")),
    "tree": State(tree, "panel.branches", ("m", "up", "up", "space", "o")),
}


def ready(app: AdvchatApp) -> bool:
    """Whether what was asked for is there."""
    screen = app.screen
    if isinstance(screen, FanScreen):
        return all(pane.view is not None and pane._idle_timer is None for pane in screen.grid.panes)
    if isinstance(screen, CompareScreen):
        return bool(screen.view.viewport.lines) and screen.view.lit and screen.view._idle_timer is None
    title = app.main.query_one("#compose")._border_title
    return app.main.composer.text == "" or (title is not None and title.plain.startswith("about"))


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES)
def test_live_branches_look_as_accepted(
    snap_compare: Any, state: str, size: tuple[int, int], theme: str
) -> None:
    wanted = STATES[state]
    actions = wanted.actions()
    app = AdvchatApp(lambda: actions, theme=theme)

    async def before(pilot: Pilot[Any]) -> None:
        await until(pilot.pause, lambda: settled(app))
        if wanted.command:
            app.main.action_command(wanted.command)
            await until(pilot.pause, lambda: settled(app))
        await pilot.press(*wanted.keys)
        await until(pilot.pause, lambda: ready(app) and settled(app))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=before)
