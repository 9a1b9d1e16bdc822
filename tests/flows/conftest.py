"""What the flow tests may ask for: the command line in this process, and the real controller.

Both stand on the real store, the real runner and the SDK's own client; only the model is the test server's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.flows.cli import CommandLine
from tests.flows.desk import Desk
from tests.server import ModelServer
from tests.server.threaded import ThreadedServer

OpenDesk = Callable[..., Awaitable[Desk]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own: no settings, no key but the test's, no conversations."""
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(made / name.lower()))
    for name in ("OPENAI_BASE_URL", "OPENAI_DEFAULT_MODEL", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    return made


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the conversations go; there is no such file yet."""
    return tmp_path / "chat.db"


@pytest.fixture
def server() -> Iterator[ThreadedServer]:
    """A test server beside the test's thread, for the command line, which runs a loop of its own."""
    with ThreadedServer() as served:
        yield served


@pytest.fixture
def line(
    db: Path, server: ThreadedServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """The command line on ``db``, answered by ``server``."""
    return CommandLine(db, server, capfd, monkeypatch)


@pytest_asyncio.fixture
async def open_desk(db: Path, model_server: ModelServer) -> AsyncIterator[OpenDesk]:
    """Open the program without a screen on ``db``, answered by ``model_server``; takes more options."""
    async with AsyncExitStack() as opened:

        async def start(*options: str) -> Desk:
            desk = Desk.of(db, model_server, *options)
            opened.push_async_callback(desk.close)
            await desk.start()
            return desk

        yield start
