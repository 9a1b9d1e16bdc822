"""The program without a screen, put together as the program itself does.

Owns waiting on snapshots and events; everything else is the program's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Self

from advchat.cli import wiring
from advchat.cli.parser import parse
from advchat.controller import Controller
from advchat.events import RunEvent, RunFinished, TextDelta
from advchat.state import Snapshot, TurnView
from tests.server import ModelServer

PATIENCE = 30.0


class Desk:
    """A controller and what it has told so far."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.events: list[RunEvent] = []
        self._changed = asyncio.Event()
        self._closed = False
        controller.subscribe(self._take_snapshot, self._take_event)

    @classmethod
    def of(cls, db: Path, server: ModelServer, *options: str) -> Self:
        """Make one as the command line would."""
        words = ["--db", str(db), "--base-url", server.base_url, "--model", "test-model", *options]
        return cls(wiring.make_controller(wiring.settings(parse(words))))

    async def start(self) -> None:
        """Open the file and show what the options ask for."""
        await self.controller.start()

    async def close(self) -> None:
        """Leave the program; calling it again does nothing."""
        if not self._closed:
            self._closed = True
            await self.controller.close()

    @property
    def shown(self) -> Snapshot:
        """The newest snapshot."""
        return self.controller.snapshot

    @property
    def finished(self) -> list[RunFinished]:
        """Every run that has ended, in order."""
        return [event for event in self.events if isinstance(event, RunFinished)]

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until a predicate over snapshot and events holds."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def ask(self, text: str) -> RunFinished:
        """Send on the branch shown and wait for the answer's end."""
        count = len(self.finished)
        await self.controller.send(text)
        await self.until(lambda: len(self.finished) > count and self.shown.run is None)
        return self.finished[-1]

    async def ended(self, count: int) -> None:
        """Wait until that many runs have ended in all and the snapshot knows."""
        await self.until(lambda: len(self.finished) >= count and not self.shown.runs)

    async def streamed(self, text: str) -> None:
        """Wait until that much has come over any run."""
        await self.until(lambda: text in self.streamed_text())

    def streamed_text(self) -> str:
        """Every delta so far, put together."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    async def views(self) -> list[TurnView]:
        """Every turn of the branch shown, as the screen gets it."""
        return await self.controller.turns(0, 1000)

    async def said(self) -> list[str]:
        """The branch shown, in short: ``prompt → answer``, with the status where it is not completed."""
        return [_short(view) for view in await self.views()]

    def _take_snapshot(self, _: Snapshot) -> None:
        self._changed.set()

    def _take_event(self, event: RunEvent) -> None:
        self.events.append(event)
        self._changed.set()


def _short(view: TurnView) -> str:
    answer = "".join(item.text for item in view.items if item.kind == "text")
    status = "" if view.status == "completed" else f" ({view.status})"
    return f"{view.prompt} → {answer}{status}"
