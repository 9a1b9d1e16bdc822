"""What the tests of the whole program may ask for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import arguments, environment
from tests.e2e.terminal import Terminal
from tests.e2e.tmux import TMUX, Tmux
from tests.server.threaded import ThreadedServer

OpenTerminal = Callable[..., Terminal]
OpenTmux = Callable[..., Tmux]


@pytest.fixture
def server() -> Iterator[ThreadedServer]:
    """A test server beside the test's thread; it echoes until told otherwise."""
    with ThreadedServer() as served:
        yield served


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The program's home; the database is ``chat.db`` in it."""
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def open_terminal(home: Path, server: ThreadedServer) -> Iterator[OpenTerminal]:
    """Start the program in a pseudo-terminal: words, ``size``, ``env``, ``connected``, ``db``."""
    with ExitStack() as opened:

        def start(*words: str, **given: Any) -> Terminal:
            argv, env, size = _call(words, home, server, given)
            return opened.enter_context(Terminal(argv, env=env, size=size))

        yield start


@pytest.fixture
def open_tmux(home: Path, server: ThreadedServer) -> Iterator[OpenTmux]:
    """Start the program in tmux; as ``open_terminal``, and ``settings`` are tmux commands."""
    if TMUX is None:
        if os.environ.get("CI"):
            pytest.fail("tmux is missing; .ci/run installs it")
        pytest.skip("tmux is not installed")
    # The path of a Unix socket is short by law: pytest's folders are too deep for it.
    folder = Path(tempfile.mkdtemp(prefix="advchat-"))
    with ExitStack() as opened:

        def start(*words: str, **given: Any) -> Tmux:
            settings = given.pop("settings", ())
            argv, env, size = _call(words, home, server, given)
            return opened.enter_context(Tmux(argv, env=env, folder=folder, size=size, settings=settings))

        yield start
    shutil.rmtree(folder)


def _call(
    words: tuple[str, ...], home: Path, server: ThreadedServer, given: dict[str, Any]
) -> tuple[list[str], dict[str, str], tuple[int, int]]:
    connected = given.pop("connected", True)
    env = environment(home, **given.pop("env", {}) | ({} if connected else {"OPENAI_API_KEY": ""}))
    db = given.pop("db", home / "chat.db")
    size = given.pop("size", (160, 48))
    argv = given.pop("argv", None)
    assert not given, f"unknown: {given}"
    return argv or arguments(*words, db=db, base_url=server.base_url if connected else None), env, size
