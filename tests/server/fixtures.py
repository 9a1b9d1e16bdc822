"""The test server as a fixture."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.server import ModelServer


@pytest_asyncio.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    """A server of the test's own, with an empty script: it echoes until told otherwise."""
    async with ModelServer() as server:
        yield server
