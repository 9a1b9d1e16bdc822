"""Connections, pragmas and transactions: how any change reaches the file.

Owns one pool per file and process: a writer and a few readers, each an aiosqlite connection with a
thread of its own, opened on their first job so that nothing here ever blocks an event loop. Every
statement of the store runs inside a function given to ``read`` or ``write``; that function gets the
plain ``sqlite3`` connection and runs on the connection's thread, so that a whole transaction costs one
hop. Knows nothing of tables: the pool's owner passes what prepares a fresh file.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import ClassVar, TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL

from advchat_storage.faults import translate

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]
Prepare = Callable[[sqlite3.Connection], None]

MEMORY = ":memory:"
READERS = 2
BUSY_SECONDS = 60.0
"""How long a statement waits for a lock that another process holds: longer than any honest hold, since
what waits may be an answer that was paid for."""


class _Worker(aiosqlite.Connection):
    """An aiosqlite connection that takes whole functions, opens itself late and serves any event loop.

    aiosqlite delivers a result into the loop that asked and dies when that loop is closed; a
    ``concurrent.futures.Future`` per job has no loop, so that one file serves several loops in turn.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection], path: str) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._path = path
        self._starting = threading.Lock()
        self._busy = False
        self._thread.daemon = True  # A session that nobody closed must not hold the process.

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

    def finish(self) -> Future[None]:
        """Close after the jobs already queued, and end the thread."""

        def close() -> None:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        future = self._queue(close)
        self._running = False
        self._tx.put_nowait((None, lambda: _STOP_RUNNING_SENTINEL))
        return future

    def _queue(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            self._busy = True
            try:
                result = job()
            except BaseException as error:
                future.set_exception(translate(error, self._path))
            else:
                future.set_result(result)
            finally:
                self._busy = False

        with self._starting:
            if self._thread.ident is None:
                self._thread.start()
            self._tx.put_nowait((None, run))
        return future


class Database:
    """One file, its writer and its readers, shared by every session and store of this process."""

    _pools: ClassVar[dict[str, Database]] = {}
    _pools_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: str, prepare: Prepare) -> None:
        self.path = path
        self._uses = 1
        self._writer = _Worker(lambda: _open_writer(path, prepare), path)
        if path == MEMORY:
            self._readers = [self._writer]
        else:
            self._readers = [_Worker(self._open_reader, path) for _ in range(READERS)]

    @classmethod
    def acquire(cls, path: str | Path, prepare: Prepare) -> Database:
        """Give the file's pool, made at the first call; opens nothing yet. Every ``:memory:`` is its own."""
        name = str(path)
        if name == MEMORY:
            return cls(MEMORY, prepare)
        resolved = str(Path(name).expanduser().resolve())
        with cls._pools_lock:
            pool = cls._pools.get(resolved)
            if pool is None:
                pool = cls._pools[resolved] = cls(resolved, prepare)
            else:
                pool._uses += 1
            return pool

    def release(self) -> Future[None] | None:
        """Give up one use; the last one closes the pool, and its future tells when that is done."""
        with self._pools_lock:
            self._uses -= 1
            if self._uses > 0:
                return None
            if self._pools.get(self.path) is self:
                del self._pools[self.path]
        for reader in self._readers:
            if reader is not self._writer:
                reader.finish()
        return self._writer.finish()

    def submit_write(self, change: Job[T]) -> Future[T]:
        """Queue one transaction: all of ``change``, or nothing of it when it raises."""

        def transact(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = change(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return result

        return self._writer.submit(transact)

    def submit_read(self, query: Job[T]) -> Future[T]:
        """Queue a reading of one consistent state of the file."""

        def snapshot(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN")
            try:
                return query(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

        reader = min(self._readers, key=lambda worker: worker.load)
        return reader.submit(snapshot)

    def submit_bare(self, job: Job[T]) -> Future[T]:
        """Queue what cannot run in a transaction (a checkpoint, ``VACUUM INTO``, a pragma) on the writer."""
        return self._writer.submit(job)

    async def write(self, change: Job[T]) -> T:
        """Run one transaction; a cancelled caller waits for its outcome, then the cancellation goes on."""
        return await settled(self.submit_write(change))

    async def read(self, query: Job[T]) -> T:
        """Read one consistent state, never behind a writer of this process."""
        return await asyncio.wrap_future(self.submit_read(query))

    def _open_reader(self) -> sqlite3.Connection:
        # The writer prepares the file first, so that a reader never meets half a schema.
        self._writer.submit(lambda connection: None).result()
        return _connect(self.path)


async def settled(future: Future[T]) -> T:
    """Await a queued change to its end, whatever cancellations arrive meanwhile; then let one go on."""
    waiting = asyncio.wrap_future(future)
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            if waiting.cancelled():
                raise
            cancelled = error
        except Exception:
            break
    if cancelled is not None:
        if not waiting.cancelled():
            waiting.exception()
        raise cancelled
    return waiting.result()


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _open_writer(path: str, prepare: Prepare) -> sqlite3.Connection:
    connection = _connect(path)
    try:
        if path != MEMORY:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection
