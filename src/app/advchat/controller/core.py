"""The program without a screen: the place that is shown.

Owns which conversation and branch are shown, the snapshot of them, and reading their turns; ``conversing``,
``branching`` and what follows add the actions. Calls the store and, through ``Runs``, the runner. Knows no
Textual.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from advchat.controller import tree_views
from advchat.controller.budgets import Budgets, Cheaper
from advchat.controller.item_views import calls_of, timed, turn_view, with_partial
from advchat.controller.runs import Place, Price, Runs
from advchat.controller.undo import UndoStack
from advchat.controller.usage_views import usage_view
from advchat.events import RunEvent
from advchat.naming import branch_label
from advchat.runner import Runner
from advchat.state import ModelView, Offer, Snapshot, TurnRow, TurnView
from advchat_storage import AdvancedSQLiteSession, Branch, Conversation, JournalEntry, Store
from advchat_storage.models import TurnHeader

log = logging.getLogger(__name__)

OnSnapshot = Callable[[Snapshot], None]
OnEvent = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class StartAt:
    """What the command line asks to begin with."""

    conversation: str | None = None
    new: bool = False
    model: str | None = None
    """Asked for now: goes before the one that a conversation keeps."""
    default_model: str | None = None
    """For conversations that keep none."""


class Core:
    """The place that is shown and the prompts sent from it, on one database and one runner."""

    def __init__(
        self,
        store: Store,
        runner: Runner,
        price: Price,
        start_at: StartAt | None = None,
        cheaper: Cheaper | None = None,
    ) -> None:
        self.store = store
        self.runner = runner
        self._price = price
        self.budgets = Budgets(store, price, cheaper)
        self.runs = Runs(store, runner, price, self._emit, self._run_changed, self.budgets)
        self._start_at = start_at or StartAt()
        self._on_snapshot: list[OnSnapshot] = []
        self._on_event: list[OnEvent] = []
        self._snapshot = Snapshot(db_name=str(store.path), model=self._model_view(self._default_model()))
        self._conversation_id = ""
        self._branch_id = "main"
        self._stored = False
        self._model: str | None = self._default_model()
        self._branches: list[Branch] = []
        self._undo = UndoStack()
        self._turns_version = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._refreshing = asyncio.Lock()
        self._storing = asyncio.Lock()
        self._want: set[str] = set()

    def _default_model(self) -> str | None:
        """Give the model of a conversation that names none; None leaves it to the runner."""
        return self._start_at.model or self._start_at.default_model

    # Watching

    @property
    def snapshot(self) -> Snapshot:
        """What is shown now."""
        return self._snapshot

    @property
    def place(self) -> Place:
        """The conversation and branch that are shown."""
        return self._conversation_id, self._branch_id

    def subscribe(self, on_snapshot: OnSnapshot, on_event: OnEvent) -> None:
        """Be told of every new snapshot and every run event, on the event loop's thread."""
        self._on_snapshot.append(on_snapshot)
        self._on_event.append(on_event)

    def _emit(self, event: RunEvent) -> None:
        for listener in self._on_event:
            try:
                listener(event)
            except Exception:
                log.exception("what shows a run failed; the run goes on")

    def _publish(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        for listener in self._on_snapshot:
            listener(snapshot)

    def _spawn(self, work: asyncio.Task[None]) -> None:
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    # Beginning and end

    async def _prepare(self) -> None:
        try:
            await self.runner.prepare(self._model)
        except Exception:
            log.exception("the model could not be prepared")
        self._refresh_soon("model")

    async def close(self) -> None:
        """Stop what runs, keep what came, and let go of the file and the model."""
        await self.runs.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.runner.close()
        await self.store.close()

    # The snapshot

    async def _show(self, conversation: Conversation, branch_id: str | None = None) -> None:
        self._conversation_id = conversation.conversation_id
        self._branch_id = branch_id or conversation.current_branch
        self._stored = True
        self._model = self._start_at.model or conversation.model or self._default_model()
        await self._refresh("place")

    def _refresh_soon(self, *parts: str) -> None:
        self._want.update(parts)
        if not self._refreshing.locked():
            self._spawn(asyncio.create_task(self._refresh(), name="refresh"))

    async def _refresh(self, *parts: str) -> None:
        """Read again what may have changed, publish the place first and its usage after."""
        self._want.update(parts)
        async with self._refreshing:
            while self._want:
                wanted, self._want = self._want, set()
                place = self.place
                if wanted & {"place", "tree", "turns"}:
                    await self._read_place(place, draft="place" in wanted)
                else:
                    self._publish(self._with_runs(self._snapshot))
                if wanted & {"place", "tree", "turns", "usage"} and place == self.place:
                    await self._read_usage(place)

    async def _read_place(self, place: Place, *, draft: bool) -> None:
        session = self.session()
        async with session:
            branches = await session.branch_tree() if self._stored else []
            binned = await session.binned_branches() if self._stored else []
        count = await self.store.turn_count(*place) if self._stored else 0
        text = await self.store.draft(*place) if draft else self._snapshot.draft
        conversation = await self.store.conversation(place[0]) if self._stored else None
        if place != self.place:
            return
        self._branches = branches
        self._turns_version += 1
        current = next((branch for branch in branches if branch.branch_id == place[1]), None)
        self._publish(
            self._with_runs(
                replace(
                    self._snapshot,
                    conversation_id=place[0],
                    conversation_title=conversation.title if conversation else self._snapshot_title(place),
                    branch_id=place[1],
                    branch_title=current.title if current else "",
                    binned=tuple(binned),
                    turn_count=count,
                    turns_version=self._turns_version,
                    draft=text,
                    loading=False,
                )
            )
        )

    def _snapshot_title(self, place: Place) -> str:
        return self._snapshot.conversation_title if self._snapshot.conversation_id == place[0] else ""

    def _with_runs(self, snapshot: Snapshot) -> Snapshot:
        runs = self.runs.infos()
        running = {run.branch_id for run in runs if run.conversation_id == self._conversation_id}
        return replace(
            snapshot,
            runs=runs,
            queue=self.runs.queued(),
            branches=tree_views.branch_rows(self._branches, self._branch_id, running),
            model=self._model_view(self._model),
        )

    async def _read_usage(self, place: Place) -> None:
        if not self._stored:
            return
        info = self.runner.model_info(self._model)
        usage = await usage_view(self.store, *place, context_window=info.context_window, local=info.free)
        budget = await self.budgets.of(place)
        if place == self.place:
            self._publish(replace(self._snapshot, usage=usage, budget=budget))

    def _model_view(self, model: str | None) -> ModelView:
        info = self.runner.model_info(model)
        return ModelView(
            name=info.name,
            label=info.label,
            ready=self.runner.ready,
            state="" if self.runner.ready else "getting ready",
            context_window=info.context_window,
        )

    def _run_changed(self, place: Place, ended: bool) -> None:
        shown = place == self.place
        if ended and not shown:
            self._spawn(asyncio.create_task(self._mark_unread(place), name="mark unread"))
        self._refresh_soon("turns" if ended or shown else "runs")

    async def _mark_unread(self, place: Place) -> None:
        async with self.store.session(place[0]) as session:
            await session.mark_unread(place[1], True)
        self._refresh_soon("tree")

    def set_offer(self, offer: Offer | None) -> None:
        """Show a question above the composer, or take it away."""
        self._publish(replace(self._snapshot, offer=offer))

    # Reading turns

    def session(self) -> AdvancedSQLiteSession:
        """Give an unbound session of the conversation that is shown."""
        return self.store.session(self._conversation_id)

    async def turns(self, start: int, stop: int) -> list[TurnView]:
        """Give the turns at positions [start, stop) of the branch shown; the running one as it stands."""
        place = self.place
        if not self._stored:
            return []
        turns, headers = await asyncio.gather(
            self.store.turns(*place, start, stop), self.store.turn_headers(*place, start, stop)
        )
        usages = {header.message_id: header.usage for header in headers}
        lost = await self._lost(place) if any(turn.status == "interrupted" for turn in turns) else {}
        times = await self.store.tool_times(place[0], calls_of(turns))
        live = self.runs.live(place)
        views = []
        for turn in turns:
            if live is not None and live.key == turn.message_id:
                views.append(live)
                continue
            key = turn.message_id
            view = with_partial(turn_view(turn, usages[key], self.runs.detail(key)), lost.get(key))
            view = timed(view, times)
            index = turn.siblings.index(place[1]) if place[1] in turn.siblings else 0
            views.append(replace(view, sibling_index=index))
        return views

    async def _lost(self, place: Place) -> dict[int, JournalEntry]:
        """Give what lost processes were answering on the branch, by the prompt's message row."""
        entries = await self.store.interrupted(place[0])
        return {
            entry.message_id: entry for entry in entries if entry.branch_id == place[1] and entry.message_id
        }

    async def turn_rows(self, start: int, stop: int) -> list[TurnRow]:
        """Give the lines of the turn list at positions [start, stop)."""
        if not self._stored:
            return []
        return [_turn_row(header) for header in await self.store.turn_headers(*self.place, start, stop)]

    def live(self, branch_id: str | None = None) -> TurnView | None:
        """Give the running turn of a branch of this conversation as it stands now."""
        return self.runs.live((self._conversation_id, branch_id or self._branch_id))


def _turn_row(header: TurnHeader) -> TurnRow:
    return TurnRow(
        turn=header.turn,
        key=header.message_id,
        preview=header.preview,
        tokens=header.usage.total_tokens,
        cost_nano=header.usage.cost_nano,
        at_least=header.usage.at_least,
        inherited=header.inherited,
        status=header.status,
        height=header.height_hint,
        height_width=header.height_width,
    )


def branch_name(branches: Sequence[Branch], branch_id: str) -> str:
    """Give a branch's title, or its ID when it has none."""
    found = next((branch for branch in branches if branch.branch_id == branch_id), None)
    return branch_label(branch_id, found.title if found else "")
