"""Chats for the runner's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest_asyncio

from advchat.agents_runner import AgentsRunner
from tests.app.runner.kit import Chat, MakeChat, open_chat, settings
from tests.server import ModelServer


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
