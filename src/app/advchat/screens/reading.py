"""The transcript's side of the main screen.

Owns giving the transcript its turns and the run that is shown, and answering what it asks for. Which turns
there are is the actions' to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advchat.naming import branch_label
from advchat.screens.desk import Desk, MakeActions
from advchat.screens.places import shared_turns_end

if TYPE_CHECKING:
    from advchat.events import RunEvent, RunFinished, RunStarted
    from advchat.state import BranchRow, Snapshot, TurnView
    from advchat.widgets.transcript import Transcript

Place = tuple[str, str]


class Reading(Desk):
    """What has been said, and what is being said."""

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__(make_actions, keys, log_file)
        self._ident: Place | None = None
        self._version = -1
        self._run_id: str | None = None
        self._tree: Sequence[BranchRow] = ()

    @property
    def place(self) -> Place:
        """The conversation and branch that are shown."""
        return self.shown.conversation_id, self.shown.branch_id

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot and events on, the transcript included."""
        super().show(snapshot, news)
        if snapshot.loading:
            return
        if self.place != self._ident:
            self._show_place(snapshot)
        else:
            self.transcript.set_count(snapshot.turn_count)
            if snapshot.turns_version != self._version:
                self.transcript.reread()
        self._version = snapshot.turns_version
        self._tree = snapshot.branches
        self._follow(snapshot, news)

    def _show_place(self, snapshot: Snapshot) -> None:
        before, self._ident = self._ident, self.place
        keep = None
        if before is not None and before[0] == self._ident[0]:
            keep = shared_turns_end(snapshot.branches, before[1], self._ident[1])
        self._run_id = None
        names = {
            row.branch.branch_id: branch_label(row.branch.branch_id, row.branch.title)
            for row in snapshot.branches
        }
        shown = next(
            (row.branch for row in snapshot.branches if row.branch.branch_id == snapshot.branch_id), None
        )
        self.transcript.parent_name = names.get(shown.parent or "", "") if shown is not None else ""
        self.transcript.set_conversation(self._ident, snapshot.turn_count, keep_scroll_at=keep)

    # The run

    def _follow(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Bring the run that is shown up to date; what it had said before is in its live turn already."""
        from advchat.events import RunFinished, RunStarted  # noqa: PLC0415 - late: no run is in the first frame

        run = snapshot.run
        begun = next((event for event in news if isinstance(event, RunStarted) and self._is_here(event)), None)
        run_id = run.run_id if run is not None else begun.run_id if begun is not None else None
        fresh = run_id is not None and run_id != self._run_id
        if fresh:
            live = self.actions.live()
            if live is not None:
                self._run_id = run_id
                self.transcript.begin_run(live)
        for event in news:
            if isinstance(event, RunFinished):
                self._end_run(event)
            elif event.run_id == self._run_id and not fresh:
                self.transcript.feed(event)

    def _is_here(self, event: RunStarted | RunFinished) -> bool:
        return (event.conversation_id, event.branch_id) == self.place

    def _end_run(self, event: RunFinished) -> None:
        if event.run_id == self._run_id:
            self._run_id = None
        if self._is_here(event):
            self.run_worker(self._put_finished(event), group="finished", exit_on_error=False)

    async def _put_finished(self, event: RunFinished) -> None:
        async def read() -> None:
            view = await self.read_turn(event.turn)
            if view is not None and self._is_here(event) and self._run_id is None:
                self.transcript.end_run(view)

        await self.line.attempt(read)

    async def read_turn(self, turn: int) -> TurnView | None:
        """Read the turn with that number; where turn 0 exists, positions and numbers are the same."""
        views = await self.actions.turns(max(0, turn - 1), turn + 1)
        return next((view for view in views if view.turn == turn), None)

    # What the transcript asks for

    # Handlers go by Textual's naming, because their classes are imported after the first frame.

    def on_transcript_turns_wanted(self, event: Transcript.TurnsWanted) -> None:
        """Read turns that have come near the view."""
        event.stop()
        self._read_turns(event.start, event.end)

    def _read_turns(self, first: int, end: int) -> None:
        self.run_worker(self._put_turns(self.place, first, end), group="turns", exit_on_error=False)

    async def _put_turns(self, place: Place, first: int, end: int) -> None:
        async def read() -> None:
            views = await self.actions.turns(first, end)
            if place == self._ident and self.is_mounted:
                self.transcript.put_turns(first, views)

        await self.line.attempt(read)

    def on_transcript_heights_measured(self, event: Transcript.HeightsMeasured) -> None:
        """Keep how high turns were, as hints for the next opening."""
        event.stop()

        async def keep() -> None:
            await self.actions.remember_heights(event.width, event.heights)

        self.run_worker(self.line.attempt(keep), group="heights", exit_on_error=False)

    def on_transcript_turn_focused(self, event: Transcript.TurnFocused) -> None:
        """Bring the list of turns along."""
        event.stop()
        self.turns.show_turn(event.turn)

    def on_transcript_copy_requested(self, event: Transcript.CopyRequested) -> None:
        """Put source text on the clipboard."""
        event.stop()
        self.app.copy_to_clipboard(event.text)
