"""Runs what the user asks for, one thing after another.

Owns the order: what was asked first is done first, so that a prompt typed after a fork goes to the fork
however long the fork takes. Owns too how failures become one line. Knows no widget.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from advchat.actions import UserError

log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[None]]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Entry:
    job: Job
    failed: Callable[[], None] | None


class Line:
    """A line of jobs. ``run`` works it off until it is cancelled; a failing job never ends it."""

    def __init__(self, say: Say, log_file: Path | None = None) -> None:
        self._say = say
        self._log_file = log_file
        self._entries: asyncio.Queue[_Entry] = asyncio.Queue()
        self._closed = False

    def add(self, job: Job, *, failed: Callable[[], None] | None = None) -> None:
        """Have the job done after all added before; ``failed`` is called before its failure is said."""
        self._entries.put_nowait(_Entry(job, failed))

    async def run(self) -> None:
        """Work the line off for ever."""
        while True:
            entry = await self._entries.get()
            try:
                await self.attempt(entry.job, failed=entry.failed)
            finally:
                self._entries.task_done()

    async def attempt(self, job: Job, *, failed: Callable[[], None] | None = None) -> bool:
        """Do the job now; say its failure in one line. Return whether it succeeded."""
        if self._closed:
            return False
        try:
            await job()
        except Exception as error:
            # Whatever an action does must not take the screen down; the cause is said and logged.
            if failed is not None:
                failed()
            self._say(self.words(error))
            return False
        return True

    def words(self, error: Exception) -> str:
        """Put a failure into one line for a person; what we did not foresee also goes to the log."""
        # Late: the first frame needs no store.
        from advchat_storage.errors import StorageError  # noqa: PLC0415

        if isinstance(error, (UserError, StorageError)):
            return str(error)
        log.error("an action failed", exc_info=error)
        told = " ".join(str(error).split())[:200]
        where = f" The details are in {self._log_file}." if self._log_file is not None else ""
        return f"That failed: {type(error).__name__}{': ' + told if told else ''}.{where}"

    def close(self) -> None:
        """Do nothing any more: who acts is about to let go of everything."""
        self._closed = True

    async def done(self) -> None:
        """Wait until everything in the line has been done."""
        await self._entries.join()
