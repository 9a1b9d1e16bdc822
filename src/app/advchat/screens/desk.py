"""What the main screen shows.

Owns beginning after the first frame, and passing each snapshot and event on to the widgets. Knows the
actions; asks them only for windows of rows.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from advchat.actions import Actions, UserError
from advchat.screens.layout import OPENING, Layout
from advchat.screens.line import Line
from advchat.widgets.lines import OfferBar, QueueLines
from advchat.widgets.turns import TurnList

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.state import Snapshot

MakeActions = Callable[[], Actions]


class Desk(Layout):
    """The layout with a conversation in it."""

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__(keys)
        self._make_actions = make_actions
        self._actions: Actions | None = None
        self.line = Line(self.complain, log_file)
        self._news: list[RunEvent] = []
        self._due = False

    @property
    def actions(self) -> Actions:
        """Who acts. Raises UserError in the first moments, before anybody does."""
        if self._actions is None:
            raise UserError(OPENING)
        return self._actions

    def on_mount(self) -> None:
        """Begin once the first frame has been painted."""
        # First in the line: a prompt sent before anything is open waits for it and goes out by itself.
        self.line.add(self._start)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if not gc.isenabled():
            # What was made for the first frame stays for good: later collections need not look at it.
            gc.freeze()
            gc.enable()
        self.run_worker(self.line.run(), group="line", exit_on_error=False)

    async def _start(self) -> None:
        try:
            # Making the actions imports much: in a thread, so that keys typed meanwhile are painted.
            self._actions = await asyncio.to_thread(self._make_actions)
            await self.furnish()
            self._actions.subscribe(self._take_snapshot, self._take_event)
            await self._actions.start()
        except Exception as error:
            # Without the store there is nothing to show: the program ends with the cause.
            self.give_up(self.line.words(error))

    def give_up(self, cause: str) -> None:
        """End the program, because it could not begin."""
        raise NotImplementedError

    def _take_snapshot(self, _: Snapshot) -> None:
        self._fall_due()

    def _take_event(self, event: RunEvent) -> None:
        self._news.append(event)
        self._fall_due()

    def _fall_due(self) -> None:
        # Called from the actions' own tasks: widgets are touched in this screen's own turn, once for many.
        if not self._due:
            self._due = True
            self.call_later(self.catch_up)

    def catch_up(self) -> None:
        """Show the newest snapshot and the events that came with it."""
        self._due = False
        news, self._news = self._news, []
        if self.is_mounted:
            self.show(self.actions.snapshot, news)

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot on to every widget."""
        self._shown = snapshot
        self.header.show(snapshot)
        self.branches.show(snapshot.branches)
        place = (snapshot.conversation_id, snapshot.branch_id)
        self.turns.show(place, snapshot.turn_count, snapshot.turns_version)
        self.usage.show(snapshot.usage)
        self.query_one(OfferBar).show(snapshot.offer)
        waiting = tuple(
            prompt for prompt in snapshot.queue if (prompt.conversation_id, prompt.branch_id) == place
        )
        self.query_one(QueueLines).show(waiting)
        self.title_panel("branches", len(snapshot.branches))
        self.title_panel("turns", snapshot.turn_count)
        self.show_keys()

    @on(TurnList.RowsWanted)
    def _read_rows(self, event: TurnList.RowsWanted) -> None:
        event.stop()
        self.run_worker(self._rows(event), group="rows", exit_on_error=False)

    @property
    def started(self) -> bool:
        """Whether there is somebody who acts."""
        return self._actions is not None

    async def _rows(self, wanted: TurnList.RowsWanted) -> None:
        async def read() -> None:
            rows = await self.actions.turn_rows(wanted.first, wanted.end)
            self.turns.put_rows(wanted.generation, wanted.first, rows)
            self.transcript.viewport.hint(rows)

        if not await self.line.attempt(read):
            self.turns.forget_request(wanted.generation, wanted.first)
