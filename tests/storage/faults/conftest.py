"""What the fault tests share: a file, a session on it, and an agent with a real client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from agents import Agent, OpenAIResponsesModel, RunConfig
from openai import AsyncOpenAI

from advchat_storage import AdvancedSQLiteSession
from tests.server import ModelServer

QUIET = RunConfig(tracing_disabled=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file that things happen to."""
    return tmp_path / "chat.db"


@pytest_asyncio.fixture
async def session(path: Path) -> AsyncIterator[AdvancedSQLiteSession]:
    """A session on the file, closed after the test."""
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as made:
        yield made


@pytest_asyncio.fixture
async def model(model_server: ModelServer) -> AsyncIterator[OpenAIResponsesModel]:
    """The SDK's own model on a real client that talks to the test server."""
    client = AsyncOpenAI(base_url=model_server.base_url, api_key="none", max_retries=0)
    yield OpenAIResponsesModel("test-model", client)
    await client.close()


@pytest.fixture
def agent(model: OpenAIResponsesModel) -> Agent:
    """An agent without tools."""
    return Agent(name="Assistant", model=model)
