"""Runs and the prompts that wait for them.

Owns what is being answered: each run belongs to one (conversation, branch) for life, whatever the
screen shows meanwhile. Knows no widget; stores and answers only through the store and the runner port.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from advchat.controller.budgets import Budgets
from advchat.controller.live import LiveTurn
from advchat.events import (
    RequestEnded,
    RunEvent,
    RunFinished,
    RunStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Waiting,
)
from advchat.runner import Emit, RequestPlan, Runner, RunRequest, RunResult
from advchat.state import QueuedPrompt, RunInfo, TurnView
from advchat_storage import RequestRecord, Store
from advchat_storage.errors import StorageError

Place = tuple[str, str]
"""(conversation ID, branch ID)."""
Price = Callable[[RequestRecord], RequestRecord]

JOURNAL_SECONDS = 0.2
CLOSE_SECONDS = 1.5

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Run:
    run_id: str
    place: Place
    prompt: str
    model: str | None
    started_at: str
    turn: int = 0
    live: LiveTurn | None = None
    state: Literal["waiting", "answering", "tool", "stopping"] = "waiting"
    note: str = ""
    dirty: bool = False
    tool_seconds: dict[str, float] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Runs:
    """Every run of the program and every queued prompt."""

    def __init__(
        self,
        store: Store,
        runner: Runner,
        price: Price,
        emit: Emit,
        changed: Callable[[Place, bool], None],
        budgets: Budgets,
    ) -> None:
        """Call ``changed`` with a place whose run began, ended (True) or changed its state."""
        self._store = store
        self._runner = runner
        self._price = price
        self._emit = emit
        self._changed = changed
        self._budgets = budgets
        self._runs: dict[Place, _Run] = {}
        self._queues: dict[Place, list[tuple[QueuedPrompt, str | None]]] = {}
        self._queue_ids = itertools.count(1)
        self._closing = False
        self._details: dict[int, str] = {}

    def infos(self) -> tuple[RunInfo, ...]:
        """Tell of every run in progress."""
        return tuple(
            RunInfo(run.run_id, *run.place, run.turn, run.prompt, run.started_at, run.state, run.note)
            for run in self._runs.values()
        )

    def queued(self) -> tuple[QueuedPrompt, ...]:
        """Give the waiting prompts in the order in which they will be sent."""
        return tuple(prompt for queue in self._queues.values() for prompt, _ in queue)

    def running(self, place: Place) -> bool:
        """Tell whether that branch is being answered."""
        return place in self._runs

    def live(self, place: Place) -> TurnView | None:
        """Give the running turn as it stands now."""
        run = self._runs.get(place)
        return run.live.view if run is not None and run.live is not None else None

    def detail(self, key: int) -> str | None:
        """Give what a run of this program told beyond its one line, by its turn's key."""
        return self._details.get(key)

    async def send(
        self, place: Place, prompt: str, *, model: str | None = None, instructions: str | None = None
    ) -> int | None:
        """Answer ``prompt`` on the branch, or queue it when the branch is busy (then None).

        Returns the turn's number. Raises ``StorageError`` or ``ValueError``, with nothing changed, when
        the prompt cannot be stored.
        """
        if place in self._runs:
            self._enqueue(place, prompt, model)
            return None
        if self._queues.get(place):
            self._enqueue(place, prompt, model)
            await self._send_next(place)
            return None
        return await self._send_now(place, prompt, model, instructions)

    async def _send_now(
        self, place: Place, prompt: str, model: str | None, instructions: str | None = None
    ) -> int:
        run = self._reserve(place, prompt, model)
        try:
            run.turn, message_id = await self._store.begin_run(
                run_id=run.run_id,
                conversation_id=place[0],
                branch_id=place[1],
                prompt=prompt,
                item={"role": "user", "content": prompt},
            )
        except BaseException:
            self._drop(run)
            raise
        self._launch(run, message_id, instructions)
        return run.turn

    async def resume(
        self, place: Place, prompt: str, turn: int, message_id: int, *, model: str | None = None
    ) -> None:
        """Answer a prompt that is on disk already as the newest message of its branch."""
        if place in self._runs:
            return
        run = self._reserve(place, prompt, model)
        run.turn = turn
        try:
            await self._store.begin_run(
                run_id=run.run_id,
                conversation_id=place[0],
                branch_id=place[1],
                prompt=prompt,
                item=None,
            )
        except BaseException:
            self._drop(run)
            raise
        self._launch(run, message_id, None)

    def unqueue(self, queue_id: int) -> str:
        """Take a waiting prompt back; gives its text, or nothing when it has gone out meanwhile."""
        for place, queue in self._queues.items():
            for entry in queue:
                if entry[0].queue_id == queue_id:
                    queue.remove(entry)
                    self._changed(place, False)
                    return entry[0].text
        return ""

    async def stop(self, place: Place, *, drop_queue: bool = False) -> None:
        """Stop the branch's run and wait until what came is on disk."""
        if drop_queue:
            self._queues.pop(place, None)
        run = self._runs.get(place)
        if run is None:
            return
        self._ask_to_stop(run)
        await run.done.wait()

    async def wait(self, place: Place) -> None:
        """Wait until the branch's run is over; at once when there is none."""
        run = self._runs.get(place)
        if run is not None:
            await run.done.wait()

    async def stop_conversation(self, conversation_id: str) -> None:
        """Stop every run of a conversation and forget its queue."""
        places = [place for place in {*self._runs, *self._queues} if place[0] == conversation_id]
        for place in places:
            self._queues.pop(place, None)
        await asyncio.gather(*(self.stop(place) for place in places))

    async def close(self) -> None:
        """Stop everything; what came stays, marked stopped. Takes a second and a half at most."""
        self._closing = True
        self._queues.clear()
        runs = list(self._runs.values())
        for run in runs:
            self._ask_to_stop(run)
        tasks = [run.task for run in runs if run.task is not None]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=CLOSE_SECONDS)

    def _enqueue(self, place: Place, prompt: str, model: str | None) -> None:
        entry = QueuedPrompt(next(self._queue_ids), *place, prompt)
        self._queues.setdefault(place, []).append((entry, model))
        self._changed(place, False)

    def _reserve(self, place: Place, prompt: str, model: str | None) -> _Run:
        run = _Run(uuid.uuid4().hex, place, prompt, model, datetime.now(UTC).isoformat())
        self._runs[place] = run
        return run

    def _drop(self, run: _Run) -> None:
        if self._runs.get(run.place) is run:
            del self._runs[run.place]
        run.done.set()

    def _launch(self, run: _Run, message_id: int, instructions: str | None) -> None:
        view = TurnView(run.turn, message_id, run.prompt, (), "running", created_at=run.started_at)
        run.live = LiveTurn(view)
        self._emit(RunStarted(run.run_id, *run.place, run.turn, run.prompt))
        run.task = asyncio.create_task(self._drive(run, message_id, instructions), name=f"run {run.run_id}")
        self._changed(run.place, False)

    def _ask_to_stop(self, run: _Run) -> None:
        run.state = "stopping"
        self._changed(run.place, False)
        self._runner.stop(run.run_id)

    async def _drive(self, run: _Run, message_id: int, instructions: str | None) -> None:
        session = self._store.session(run.place[0], branch_id=run.place[1])
        journal = asyncio.create_task(self._keep_journal(run), name=f"journal {run.run_id}")

        async def record(entry: RequestRecord) -> RequestRecord:
            priced = await asyncio.to_thread(self._price, entry)
            await session.record_request(priced)
            self._budgets.settle(run.run_id)
            return priced

        async def allow(plan: RequestPlan) -> str | None:
            return await self._budgets.refusal(run.place, run.run_id, plan)

        request = RunRequest(
            run_id=run.run_id,
            prompt=run.prompt,
            message_id=message_id,
            session=session,
            model=run.model,
            instructions=instructions,
            turn=run.turn,
            allow=allow,
        )

        try:
            if run.state == "stopping":
                result = RunResult("stopped")
            else:
                result = await self._runner.run(request, lambda event: self._take(run, event), record)
        except asyncio.CancelledError:
            result = RunResult("stopped")
        except Exception as error:
            log.exception("the runner failed")
            result = RunResult("failed", error=f"Something unexpected went wrong: {error}. The log has more.")
        finally:
            journal.cancel()
            self._budgets.settle(run.run_id)
        await self._settle(run, result)
        await session.close()

    def _take(self, run: _Run, event: RunEvent) -> None:
        if run.live is not None:
            run.live.feed(event)
        state = run.state
        match event:
            case TextDelta():
                run.dirty = True
                state = "answering"
            case ToolStarted(name=name):
                run.note, state = name, "tool"
            case ToolFinished(call_id=call_id, seconds=seconds):
                run.tool_seconds[call_id] = seconds
                run.note, state = "", "waiting"
            case Waiting(reason=reason):
                run.note, state = reason, "waiting"
            case _:
                pass
        if run.state not in ("stopping", state):
            run.state = state
            if state == "answering":
                run.note = ""
            self._changed(run.place, False)
        elif isinstance(event, Waiting | RequestEnded):
            self._changed(run.place, isinstance(event, RequestEnded))
        self._emit(event)

    async def _keep_journal(self, run: _Run) -> None:
        while True:
            await asyncio.sleep(JOURNAL_SECONDS)
            if run.dirty and run.live is not None:
                run.dirty = False
                try:
                    await self._store.journal(run.run_id, partial=run.live.text, reasoning=run.live.reasoning)
                except StorageError as error:
                    run.dirty = True
                    run.note = error.problem

    async def _settle(self, run: _Run, result: RunResult) -> None:
        """Bring what is left to disk, tell, and let the next prompt out."""
        error = result.error
        try:
            if result.usage_carrier is not None:
                session = self._store.session(run.place[0], branch_id=run.place[1])
                await session.store_run_usage(result.usage_carrier)
                await session.close()
            if run.tool_seconds:
                await self._store.keep_tool_times(run.place[0], run.tool_seconds)
            await self._store.end_run(run.run_id, result.outcome, error)
        except Exception as problem:
            log.exception("a run's end could not be stored")
            error = error or str(problem)
        if run.live is not None and result.detail:
            self._details[run.live.view.key] = result.detail
        self._drop(run)
        self._emit(
            RunFinished(run.run_id, *run.place, run.turn, result.outcome, error=error, detail=result.detail)
        )
        self._changed(run.place, True)
        if result.outcome != "failed" and not self._closing:
            await self._send_next(run.place)

    async def _send_next(self, place: Place) -> None:
        queue = self._queues.get(place)
        if not queue:
            return
        prompt, model = queue.pop(0)
        if not queue:
            del self._queues[place]
        try:
            await self._send_now(place, prompt.text, model)
        except Exception:
            log.exception("a queued prompt could not be sent")
            self._queues.setdefault(place, []).insert(0, (prompt, model))
            self._changed(place, False)
