"""The test server on a thread of its own, for tests that do not run on an event loop.

Owns the loop and thread that the server lives on, and the ways into it from outside: waiting and opening
gates. What a test reads of ``server`` is only appended to, so it may be read from any thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Self, TypeVar

from tests.server.seen import Seen
from tests.server.server import ModelServer

PATIENCE = 30.0
"""Seconds until something that never comes fails the test."""


T = TypeVar("T")


class ThreadedServer:
    """A ``ModelServer`` that serves while the test does something else."""

    def __init__(self, server: ModelServer | None = None) -> None:
        self.server = server or ModelServer()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self.server.start())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self.server.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return self.server.base_url

    @property
    def histories(self) -> list[list[str]]:
        """The history of each model request so far, in short."""
        return [seen.lines for seen in self.server.requests]

    def arrived(self, count: int, seconds: float = PATIENCE) -> Seen:
        """Wait until ``count`` model requests have come in all; give the last of them."""
        return self._run(self.server.arrived(count), seconds)

    def gone(self, seen: Seen, seconds: float = PATIENCE) -> None:
        """Wait until the client of that request has gone away."""
        assert self._run(seen.gone.wait(), seconds)

    def open(self, gate: str) -> None:
        """Let the answers that wait at the gate go on."""
        self._loop.call_soon_threadsafe(self.server.gate(gate).set)

    def _run(self, work: Coroutine[object, object, T], seconds: float = PATIENCE) -> T:
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, seconds), self._loop).result()
