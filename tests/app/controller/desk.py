"""A controller on a real file with a scripted runner, and ways to wait for what it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from advchat.controller import Controller, StartAt
from advchat.events import RunEvent, RunFinished
from advchat.state import Snapshot
from advchat_storage import RequestRecord, Store
from tests.app.controller.scripted import ScriptedRunner


def price(record: RequestRecord) -> RequestRecord:
    """A nano-dollar per token."""
    return replace(record, cost_nano=record.total_tokens, price_source="config")


class Desk:
    """A controller, its runner, and every event and snapshot that came."""

    def __init__(self, path: Path, start_at: StartAt | None = None) -> None:
        self.runner = ScriptedRunner()
        self.controller = Controller(Store(path), self.runner, price, start_at)
        self.events: list[RunEvent] = []
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self.controller.subscribe(self._snapshot, self._event)

    def _snapshot(self, snapshot: Snapshot) -> None:
        self._tell()

    def _event(self, event: RunEvent) -> None:
        self.events.append(event)
        self._tell()

    def _tell(self) -> None:
        task = asyncio.ensure_future(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until ``holds``, looking again at each event and snapshot."""
        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(holds)

    async def finished(self, count: int = 1) -> None:
        """Wait until that many runs have ended."""
        await self.until(lambda: sum(isinstance(event, RunFinished) for event in self.events) >= count)

    async def ask(self, prompt: str) -> None:
        """Send and wait for the answer."""
        before = sum(isinstance(event, RunFinished) for event in self.events)
        await self.controller.send(prompt)
        await self.finished(before + 1)

    async def history(self, branch_id: str) -> list[str]:
        """The texts of a branch."""
        async with self.controller.session() as session:
            return [str(item["content"]) for item in await session.get_items(branch_id=branch_id)]


@asynccontextmanager
async def open_desk(path: Path, start_at: StartAt | None = None) -> AsyncIterator[Desk]:
    desk = Desk(path, start_at)
    try:
        await desk.controller.start()
        yield desk
    finally:
        await desk.controller.close()
