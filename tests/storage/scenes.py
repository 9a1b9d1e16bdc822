"""A store with a conversation in it, and the short words in which tests speak to it.

Owns no assertions. Whatever it does goes through the public classes, or the SDK's own class.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from advchat_storage import RequestRecord, Store
from advchat_storage.ownership import Tables
from advchat_storage.search_index import take_in
from advchat_storage.strays import take_over

CONVERSATION = "talk"
_numbers = itertools.count(1)


def user(text: Any) -> dict[str, Any]:
    """Make a user message."""
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    """Make an assistant message as the Responses API gives it."""
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def request(branch: str = "main", turn: int = 1, **values: Any) -> RequestRecord:
    """Make a ledger row; unknown counts stay unknown."""
    plain: dict[str, Any] = {
        "request_id": f"request-{next(_numbers)}",
        "run_id": "run",
        "agent": "Assistant",
        "model_asked": "gpt-test",
        "model": "gpt-test",
        "provider": "openai",
        "api": "responses",
        "started_at": "2026-11-29T10:00:00+00:00",
        "first_token_at": "2026-11-29T10:00:01+00:00",
        "finished_at": "2026-11-29T10:00:03+00:00",
        "status": "completed",
    }
    return RequestRecord(branch_id=branch, turn=turn, **{**plain, **values})


def sdk_usage(input_tokens: int, output_tokens: int, *, requests: int = 1, cached: int = 0) -> Any:
    """Make what ``store_run_usage`` is given, with the SDK's own usage object in it."""
    from agents.usage import Usage
    from openai.types.responses.response_usage import InputTokensDetails

    usage = Usage(
        requests=requests,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        input_tokens_details=InputTokensDetails.model_construct(cached_tokens=cached, cache_write_tokens=0),
    )
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=usage))


@contextlib.contextmanager
def sdk_session(path: Path | str, conversation: str = CONVERSATION) -> Iterator[Any]:
    """Open the file with the SDK's own class, as a program without advchat would."""
    from agents.extensions.memory import AdvancedSQLiteSession

    session = AdvancedSQLiteSession(session_id=conversation, db_path=path, create_tables=True)
    try:
        yield session
    finally:
        session.close()


@dataclass
class Scene:
    """A store and one conversation of it."""

    store: Store
    conversation: str = CONVERSATION
    runs: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, path: Path | str) -> AsyncIterator[Scene]:
        """Open a store on ``path`` with an empty conversation, or with the one that is there."""
        async with Store(path) as store:
            if await store.conversation(CONVERSATION) is None:
                await store.create_conversation(conversation_id=CONVERSATION)
            yield cls(store)

    async def ask(self, prompt: str, answer: str | None = None, *, branch: str = "main", **usage: Any) -> int:
        """Run one turn on a branch: prompt, answer, ledger row when counts are given; gives its message row."""
        run = f"run-{next(self.runs)}"
        turn, message = await self.store.begin_run(
            run_id=run,
            conversation_id=self.conversation,
            branch_id=branch,
            prompt=prompt,
            item=user(prompt),
        )
        async with self.store.session(self.conversation, branch_id=branch) as session:
            await session.add_items([assistant(f"Answer to {prompt}" if answer is None else answer)])
        if usage:
            await self.store.record(self.conversation, request(branch, turn, run_id=run, **usage))
        await self.store.end_run(run, "completed")
        return message

    async def fork(
        self, turn: int, *, source: str = "main", name: str | None = None, after: bool = False
    ) -> str:
        """Fork a branch before (or after) a turn, without switching; gives its ID."""
        async with self.store.session(self.conversation) as session:
            return await session.fork(turn, kind="after" if after else "before", source=source, branch_id=name)

    async def pop(self, branch: str, count: int = 1) -> None:
        """Pop items off a branch."""
        async with self.store.session(self.conversation, branch_id=branch) as session:
            for _ in range(count):
                await session.pop_item()

    async def delete(self, branch: str) -> None:
        """Delete a branch for good."""
        async with self.store.session(self.conversation) as session:
            await session.delete_branch(branch, force=True)

    async def bin(self, branch: str) -> None:
        """Put a branch into the bin."""
        async with self.store.session(self.conversation) as session:
            await session.bin_branch(branch)

    async def places(self) -> list[tuple[str, str | None, int | None]]:
        """Give branch, parent and fork turn of the tree, in its order."""
        async with self.store.session(self.conversation) as session:
            return [(b.branch_id, b.parent, b.fork_turn) for b in await session.branch_tree()]

    async def index(self) -> None:
        """Bring what is kept up in the background up to date, to the last message."""
        await self.store._write(take_over, tables=Tables())
        while await self.store._write(take_in, tables=Tables()):
            pass
