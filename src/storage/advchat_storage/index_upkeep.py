"""What other programs wrote, and the search index, kept up in the background between the writes of others.

Owns when stray messages are taken over and the index is fed, a batch at a time. A failure (a full disk, a
lock) costs nothing but speed: searches read what the index lacks. Knows neither the index's tables nor any
event loop.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from concurrent.futures import Future

from advchat_storage.database import Database
from advchat_storage.ownership import Tables, owner_of
from advchat_storage.search_index import pending, sweep, take_in
from advchat_storage.strays import take_over, worth_looking

_log = logging.getLogger(__name__)


class IndexUpkeep:
    """Feeds the index of one store's file."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._under_way: Future[None] | None = None
        self._stopped = False
        self._asked_again = False
        self._sweeping = False

    def start(self, *, sweeping: bool = False) -> None:
        """Take in what is waiting, in the background, and with ``sweeping`` take out what is gone."""
        with self._lock:
            self._sweeping = self._sweeping or sweeping
            self._asked_again = True
            if self._under_way is not None or self._stopped:
                return
            self._under_way = Future()
            # A running future cannot be cancelled by one of those who wait for it.
            self._under_way.set_running_or_notify_cancel()
        self._queue_step()

    async def caught_up(self, seconds: float) -> None:
        """Wait until nothing is waiting, for so long at most."""
        under_way = self._under_way
        if under_way is None:
            return
        waiting = asyncio.wrap_future(under_way)
        try:
            await asyncio.wait([waiting], timeout=seconds)
        finally:
            waiting.cancel()

    def stop(self) -> None:
        """Queue no further batch; the one under way is finished."""
        with self._lock:
            self._stopped = True

    def _queue_step(self) -> None:
        try:
            self._database.submit_write(self._step).add_done_callback(self._after_step)
        except RuntimeError:
            with self._lock:
                closed, self._under_way = self._under_way, None
            if closed is not None:
                closed.set_result(None)

    def _after_step(self, step: Future[bool]) -> None:
        error = step.exception()
        if error is not None:
            _log.info("The search index was not brought up to date: %s", type(error).__name__)
        with self._lock:
            more = error is None and (step.result() or self._asked_again)
            if more and not self._stopped:
                under_way = None
            else:
                under_way, self._under_way = self._under_way, None
        if under_way is None:
            self._queue_step()
        else:
            under_way.set_result(None)

    def _step(self, connection: sqlite3.Connection) -> bool:
        """Do one batch; gives whether there is more to do."""
        with self._lock:
            self._asked_again = False
        tables = owner_of(connection) or Tables()
        if worth_looking(connection, tables=tables):
            take_over(connection, tables=tables)
        if pending(connection, tables=tables) and take_in(connection, tables=tables):
            return True
        if self._sweeping:
            self._sweeping = sweep(connection, tables=tables) > 0
        return self._sweeping
