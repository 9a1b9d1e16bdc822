"""The samples' surroundings: a folder of their own, a model to talk to, and both classes in turn."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from agents import Agent, set_default_openai_client, set_tracing_disabled
from agents.models import _openai_shared
from openai import AsyncOpenAI

from tests.server import ModelServer


@pytest.fixture(params=["advchat_storage", "agents.extensions.memory"])
def session_class(request: pytest.FixtureRequest) -> Any:
    """The class under test, then the SDK's own, so that a sample's expectations are known to be right."""
    return importlib.import_module(request.param).AdvancedSQLiteSession


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Samples name files relatively."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest_asyncio.fixture(autouse=True)
async def client(model_server: ModelServer) -> AsyncIterator[AsyncOpenAI]:
    """A real client that the SDK uses by default, as in the samples."""
    before = _openai_shared.get_default_openai_client()
    made = AsyncOpenAI(base_url=model_server.base_url, api_key="none", max_retries=0)
    set_default_openai_client(made, use_for_tracing=False)
    set_tracing_disabled(True)
    yield made
    await made.close()
    _openai_shared._default_openai_client = before


@pytest.fixture
def agent() -> Agent:
    """The samples' agent."""
    return Agent(name="Assistant", instructions="Reply very concisely.", model="test-model")


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """Sessions that a test leaves open are put here and closed after it."""
    sessions: list[Any] = []
    yield sessions
    for session in sessions:
        session.close()
