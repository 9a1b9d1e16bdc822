"""A runner, a store and a test server put together, as the controller does it."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from advchat.agents_runner import AgentsRunner, RunnerSettings
from advchat.config import Api, Config, Endpoint
from advchat.events import ReasoningDelta, RunEvent, TextDelta
from advchat.models.scope import Patience
from advchat.runner import Allow, Record, RunRequest, RunResult
from advchat_storage import AdvancedSQLiteSession, RequestRecord, Store

E = TypeVar("E")

EAGER = Patience(idle_seconds=30, pause_seconds=0)
"""Tries again at once."""


def settings(
    base_url: str | None,
    *,
    api: Api | None = None,
    key: str | None = "sk-test",
    model: str | None = "test-model",
    agent: str | None = None,
    patience: Patience = EAGER,
    config: Config | None = None,
    **more: Any,
) -> RunnerSettings:
    config = config or Config(model=model, endpoint=Endpoint(base_url=base_url, api=api, api_key=key))
    return RunnerSettings(config=config, agent=agent, patience=patience, **more)


@dataclass
class Chat:
    """One branch of a conversation, driven as the controller does."""

    runner: AgentsRunner
    store: Store
    conversation: str = "c1"
    branch: str = "main"
    events: list[RunEvent] = field(default_factory=list)
    rows: list[RequestRecord] = field(default_factory=list)
    run_id: str = ""
    record: Record | None = None
    """In place of the store's."""
    allow: Allow | None = None
    launched: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the runner has been asked; whoever waits for it finds the run active."""
    happened: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReasoningDelta))

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def ask(self, prompt: str, *, model: str | None = None, instructions: str | None = None) -> RunResult:
        """Store the prompt, answer it, store the usage. ``events`` and ``rows`` are those of this run."""
        self.events, self.rows, self.run_id = [], [], uuid.uuid4().hex
        session = self.session()
        await session.add_items([{"role": "user", "content": prompt}])
        turns = await session.get_conversation_turns()
        request = RunRequest(
            run_id=self.run_id,
            prompt=prompt,
            message_id=0,
            session=session,
            model=model,
            instructions=instructions,
            turn=len(turns),
            allow=self.allow,
        )
        self.launched.set()
        result = await self.runner.run(request, self._take, self.record or self._record)
        if result.usage_carrier is not None:
            await session.store_run_usage(result.usage_carrier)
        await session.close()
        return result

    def start(self, prompt: str, **options: Any) -> asyncio.Task[RunResult]:
        """``ask`` in the background."""
        return asyncio.create_task(self.ask(prompt, **options))

    async def saw(self, kind: type[RunEvent], count: int = 1) -> None:
        """Wait until that many events of the kind have come."""
        async with self.happened:
            await self.happened.wait_for(lambda: len(self.of(kind)) >= count)

    async def said(self, text: str) -> None:
        """Wait until the answer so far is that text."""
        async with self.happened:
            await self.happened.wait_for(lambda: self.text == text)

    def session(self) -> AdvancedSQLiteSession:
        return self.store.session(self.conversation, branch_id=self.branch)

    async def items(self) -> list[Any]:
        session = self.session()
        try:
            return await session.get_items()
        finally:
            await session.close()

    async def lines(self) -> list[str]:
        """The branch on disk, in the test server's short form."""
        from tests.server.history import lines

        return lines({"input": await self.items()})

    def _take(self, event: RunEvent) -> None:
        self.events.append(event)
        self._notifying = asyncio.ensure_future(self._notify())

    async def _notify(self) -> None:
        async with self.happened:
            self.happened.notify_all()

    async def _record(self, row: RequestRecord) -> RequestRecord:
        self.rows.append(row)
        await self.store.record(self.conversation, row)
        return row


class MakeChat(Protocol):
    """Makes a chat with the test server, or with ``base_url``; options are those of ``settings``."""

    async def __call__(self, base_url: str | None = None, **options: Any) -> Chat: ...


async def open_chat(runner: AgentsRunner, path: Path) -> Chat:
    """A chat on a fresh conversation in the file."""
    store = Store(path)
    await store.open()
    conversation = await store.create_conversation()
    return Chat(runner, store, conversation.conversation_id)
