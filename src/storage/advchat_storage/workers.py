"""Threads that own a connection and take whole functions.

Owns the queue in front of a connection and what a transaction is. Knows neither files nor tables.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum, auto
from typing import TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

from advchat_storage.faults import translate

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]


class Manner(Enum):
    """How a transaction is run."""

    CAREFUL = auto()
    """Keys are checked, and the commit has reached the disk."""
    UNCHECKED = auto()
    """For a change that keeps the foreign keys by itself: they are not checked."""
    FLEETING = auto()
    """For what may be lost with the power, such as which branch is current: the disk is not waited for."""


_PRAGMAS = {
    Manner.UNCHECKED: ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON"),
    Manner.FLEETING: ("PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"),
}


class Worker(aiosqlite.Connection):
    """An aiosqlite connection that takes whole functions, opens itself late and serves any event loop.

    aiosqlite delivers a result into the loop that asked and dies when that loop is closed; a
    ``concurrent.futures.Future`` per job has no loop, so that one file serves several loops in turn.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection], path: str) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._path = path
        self._lock = threading.RLock()  # The garbage collector may give up another hold while it is held.
        self._busy = False
        self._closed: Future[None] | None = None
        self._thread.daemon = True  # A session that nobody closed must not hold the process.

    def __del__(self) -> None:
        if self._connection is not None:
            if self._thread.ident is None:
                self._connection.close()
            else:
                self._tx.put_nowait((None, self._connection.close))
        if self._thread.ident is not None and self._closed is None:
            self._tx.put_nowait((None, _stop))

    def take(self, connection: sqlite3.Connection) -> bool:
        """Use a connection that is open already; False where this worker has begun to work."""
        with self._lock:
            if self._closed is not None or self._thread.ident is not None or self._connection is not None:
                return False
            self._connection = connection
            return True

    @property
    def load(self) -> int:
        """Jobs queued and running."""
        return self._tx.qsize() + self._busy

    def submit(self, job: Job[T]) -> Future[T]:
        """Queue ``job``; its place among this connection's jobs is the place of this call."""

        def run_open() -> T:
            if self._connection is None:
                self._connection = self._connector()
            return job(self._connection)

        return self._queue(run_open)

    def transact(self, change: Job[T], manner: Manner = Manner.CAREFUL) -> T:
        """Run all of ``change`` or nothing of it; only from a job of this worker."""
        connection = self._connection
        if connection is None:
            raise RuntimeError("transact() outside a job")
        if manner is Manner.CAREFUL:
            return self._transact(connection, change)
        lowered, restored = _PRAGMAS[manner]
        connection.execute(lowered)
        try:
            return self._transact(connection, change)
        finally:
            if self._connection is not None:
                connection.execute(restored)

    def _transact(self, connection: sqlite3.Connection, change: Job[T]) -> T:
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = change(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                self._roll_back(connection)
            raise
        return result

    def finish(self, before: Callable[[], None] | None = None) -> Future[None]:
        """Close after the jobs already queued (and ``before``), and end the thread.

        Whoever calls it again is given the same future: the program's end and the garbage collector may both
        come to close what nobody has closed.
        """

        def close() -> None:
            if before is not None:
                before()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        with self._lock:
            if self._closed is None:
                self._closed = self._finish(close)
                self._running = False
            return self._closed

    def _finish(self, close: Callable[[], None]) -> Future[None]:
        try:
            closed = self._enqueue(close)
        except RuntimeError:
            # From Python 3.12 on no thread begins once the interpreter ends: nothing is queued, so close here.
            closed = Future()
            self._settle(close, closed)
        else:
            self._tx.put_nowait((None, _stop))
        return closed

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:
            # Closing ends the transaction for certain; the next job opens the file again.
            self._connection = None
            connection.close()

    def _queue(self, job: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._closed is not None:
                raise RuntimeError(f"{self._path} was closed")
            return self._enqueue(job)

    def _enqueue(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        # The thread holds on to the last function it ran, which must not hold on to whose job it was.
        waiting = [(job, future)]

        def run() -> None:
            self._busy = True
            try:
                self._settle(*waiting.pop())
            finally:
                self._busy = False

        if self._thread.ident is None:
            self._thread.start()
        self._tx.put_nowait((None, run))
        return future

    def _settle(self, job: Callable[[], T], future: Future[T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = job()
        except BaseException as error:
            future.set_exception(translate(error, self._path))
        else:
            future.set_result(result)


def _stop() -> object:
    return _STOP_RUNNING_SENTINEL
