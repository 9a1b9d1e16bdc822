"""Pictures of the screen's states, in three sizes and both themes.

Made anew with ``pytest tests/app/snapshots --snapshot-update``; look at what changed before accepting it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot

from advchat.actions import UserError
from advchat.app import AdvchatApp
from advchat.state import ItemView, Offer, UsageView
from advchat_storage.models import SearchHit
from tests.app.fakes import TIME, FakeActions, conversation, queued, run, snapshot, turn_view, until

SIZES = ((160, 48), (100, 30), (60, 20))
OFFER = Offer(
    "download",
    "No key and no endpoint: fetch a small model (98 MB) that runs on this machine?",
    (("d", "offer.accept", "Download"), ("t", "offer.refuse", "Take the tour")),
)


@dataclass(frozen=True)
class State:
    """A state of the screen: what the actions give, and the keys that lead there."""

    actions: Callable[[], FakeActions] = FakeActions
    keys: tuple[str, ...] = ()


def answering() -> FakeActions:
    text = "An answer that is still **being** written,\n\n```python\ndef half(\n"
    actions = FakeActions(snapshot(runs=(run(),), queue=(queued(1, "And then, what?"),)))
    actions.answering = turn_view(5, items=(ItemView("text", text),), status="running")
    return actions


def empty() -> FakeActions:
    return FakeActions(
        snapshot(0, branches=(), usage=UsageView(), conversation_title="", branch_title="", offer=OFFER)
    )


def refusing() -> FakeActions:
    actions = FakeActions()
    actions.fail["send"] = UserError("The disk is full: nothing was sent. Make room and send again.")
    return actions


def many() -> FakeActions:
    actions = FakeActions()
    actions.listed = [conversation(number, f"About number {number}") for number in range(1, 30)]
    return actions


def found() -> FakeActions:
    actions = FakeActions()
    excerpt = "Where is the needle in all of this hay?"
    actions.hits = [
        SearchHit("c1", "Recursion, explained", "main", 2, "user", 20, excerpt, (13, 19), TIME),
        SearchHit("c2", "用中文", "main", 7, "assistant", 30, "a needle [/] is here", (2, 8), TIME),
    ]
    return actions


STATES = {
    "main": State(),
    "answering": State(answering),
    "empty": State(empty),
    "refused": State(refusing, ("h", "i", "enter")),
    "branches": State(keys=("f2",)),
    "turns": State(keys=("f3",)),
    "usage": State(keys=("f4", "left")),
    "usage-days": State(keys=("f4", "enter")),
    "usage-models": State(keys=("f4", "enter", "right")),
    "usage-branches": State(keys=("f4", "enter", "left", "left", "t")),
    "completion": State(keys=("/",)),
    "palette": State(keys=("ctrl+p",)),
    "help": State(keys=("f1",)),
    "open": State(many, ("ctrl+o", "2")),
    "search": State(found, ("ctrl+f", "n")),
}


def settled(app: AdvchatApp) -> bool:
    """Whether everything that was asked for has been shown."""
    pending = [worker for worker in app.workers if not worker.is_finished and worker.group != "line"]
    return (
        not app.main.shown.loading
        and not pending
        # Heights near the view are exact only after its idle work: the scrollbar tells.
        and app.main.transcript._idle_timer is None
        and all(not pump.message_queue_size for pump in app.walk_children())
    )


def lead(keys: tuple[str, ...]) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def before(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, AdvchatApp)
        await until(pilot.pause, lambda: settled(app))
        for key in keys:
            await pilot.press(key)
            await until(pilot.pause, lambda: settled(app))
        if "ctrl+f" in keys:
            await until(pilot.pause, lambda: bool(getattr(app.screen, "hits", ())))
        await until(pilot.pause, lambda: settled(app))
        await pilot.pause()

    return before


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES)
def test_the_screen_looks_as_accepted(snap_compare: Any, state: str, size: tuple[int, int], theme: str) -> None:
    wanted = STATES[state]
    actions = wanted.actions()
    app = AdvchatApp(lambda: actions, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lead(wanted.keys))
