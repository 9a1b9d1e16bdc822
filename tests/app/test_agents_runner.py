"""The runner: answers, tools, history, the ledger, and ends of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest_asyncio

from advchat.agents_runner import AgentsRunner
from advchat.events import RequestEnded
from tests.app.runner_kit import Chat, open_chat, settings
from tests.server import ModelServer, Usage, say


class MakeChat(Protocol):
    async def __call__(self, **options: Any) -> Chat: ...


@pytest_asyncio.fixture
async def make_chat(model_server: ModelServer, tmp_path: Path) -> AsyncIterator[MakeChat]:
    """Makes chats with the test server; options are those of ``settings``."""
    async with AsyncExitStack() as stack:

        async def make(base_url: str | None = None, **options: Any) -> Chat:
            runner = AgentsRunner(settings(base_url or model_server.base_url, **options))
            stack.push_async_callback(runner.close)
            chat = await open_chat(runner, tmp_path / "chat.db")
            stack.push_async_callback(chat.store.close)
            return chat

        yield make


async def test_an_answer_streams_and_is_stored(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    model_server.script(say("Hello there", usage=Usage(10, 2, cached=4, cache_write=1, reasoning=1)))
    result = await chat.ask("Hi")
    assert (result.outcome, result.error, result.detail) == ("completed", None, None)
    assert chat.text == "Hello there"
    assert await chat.lines() == ["user: Hi", "assistant: Hello there"]
    assert [seen.lines for seen in model_server.requests] == [["user: Hi"]]
    row = chat.rows[0]
    tokens = (
        row.input_tokens,
        row.cached_tokens,
        row.cache_write_tokens,
        row.output_tokens,
        row.reasoning_tokens,
    )
    assert tokens == (10, 4, 1, 2, 1)
    assert [event.status for event in chat.of(RequestEnded)] == ["completed"]


async def test_later_turns_send_the_whole_history(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    await chat.ask("One")
    await chat.ask("Two")
    assert model_server.requests[-1].lines == ["user: One", "assistant: Echo: One", "user: Two"]
