"""Connections and transactions: how any change reaches the file.

Owns one pool per file and process: a writer and a few readers, each an aiosqlite connection with a
thread of its own, opened on their first job so that nothing here ever blocks an event loop. Every
statement of the store runs inside a function given to ``read`` or ``write``; that function gets the
plain ``sqlite3`` connection and runs on the connection's thread, so that a whole transaction costs one
hop. Knows nothing of tables: each user of a file passes what makes the file ready for it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from advchat_storage.errors import StorageError
from advchat_storage.opening import MEMORY, choose_journal, open_reader, open_writer, settle_in
from advchat_storage.workers import Job, Manner, Worker

T = TypeVar("T")
Prepare = Callable[[sqlite3.Connection, bool], bool]
"""Makes a file ready: ``prepare(connection, may_write)`` tells whether it is; without ``may_write`` it
only looks. Raises what refuses the file."""

READERS = 2
CLOSING_SECONDS = 1.0
"""How long a process that leaves without closing waits for its files to be tidied."""


class Database:
    """One user's hold on a file; all holds of a process on one file share its writer and readers."""

    def __init__(self, pool: _Pool, prepare: Prepare) -> None:
        self.path = pool.path
        self._pool = pool
        self._prepare = prepare
        self._ready = False
        self._released = False

    @classmethod
    def claimed(cls, path: str | Path) -> object | None:
        """Give what a hold of this process has said of the file with ``claim``; None when nothing is known."""
        with _pools_lock:
            pool = _pools.get(_resolved(str(path)))
            return None if pool is None or pool.replaced() else pool.claim

    @classmethod
    def acquire(cls, path: str | Path, prepare: Prepare) -> Database:
        """Take hold of a file; opens nothing yet. Every ``:memory:`` is its own."""
        name = str(path)
        if name == MEMORY:
            private = _Pool(MEMORY)
            private.uses = 1
            return cls(private, prepare)
        resolved = _resolved(name)
        with _pools_lock:
            pool = _pools.get(resolved)
            if pool is None or pool.replaced():
                pool = _pools[resolved] = _Pool(resolved)
            pool.uses += 1
            return cls(pool, prepare)

    def share(self) -> Database:
        """Take another hold on the same file (or the same ``:memory:``)."""
        with _pools_lock:
            self._pool.uses += 1
            return Database(self._pool, self._prepare)

    def claim(self, claim: object) -> None:
        """Say what the file is, or is being made, for whoever asks ``claimed``."""
        self._pool.claim = claim

    def trust(self, looked: sqlite3.Connection) -> None:
        """Take the file as ready, as the given connection has just seen; it becomes a reader."""
        self._ready = True
        self._pool.let_readers_in(looked)

    def begin(self) -> Future[None]:
        """Make the file ready before anybody asks."""
        begun = self._pool.writer.submit(self._make_ready)
        begun.add_done_callback(self._end_failed_claim)
        return begun

    def _end_failed_claim(self, begun: Future[None]) -> None:
        if begun.exception() is not None:
            self._pool.claim = None

    @property
    def released(self) -> bool:
        """Whether this hold was given up."""
        return self._released

    def release(self) -> Future[None] | None:
        """Give up this hold, once; the last one closes the file, and its future tells when that is done."""
        if self._released:
            return None
        self._released = True
        return self._pool.release()

    def __del__(self) -> None:
        if not getattr(self, "_released", True):
            self.release()

    def submit_write(
        self, change: Job[T], then: Callable[[T], None] | None = None, manner: Manner = Manner.CAREFUL
    ) -> Future[T]:
        """Queue one transaction: all of ``change``, or nothing of it when it raises.

        Its place among the writes is the place of this call. ``then`` is called with the result once it is
        committed, before any later write begins, on the writer's thread.
        """

        def transact(connection: sqlite3.Connection) -> T:
            self._make_ready(connection)
            result = self._pool.writer.transact(change, manner)
            if then is not None:
                then(result)
            return result

        return self._pool.writer.submit(transact)

    def submit_read(self, query: Job[T]) -> Future[T]:
        """Queue a reading of one consistent state of the file."""

        def snapshot(connection: sqlite3.Connection) -> T:
            self._make_ready_from(connection)
            connection.execute("BEGIN")
            try:
                return query(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

        return self._pool.reader().submit(snapshot)

    def submit_bare(self, job: Job[T]) -> Future[T]:
        """Queue what cannot run in a transaction (a checkpoint, ``VACUUM INTO``, a pragma) on the writer."""

        def ready_then(connection: sqlite3.Connection) -> T:
            self._make_ready(connection)
            return job(connection)

        return self._pool.writer.submit(ready_then)

    async def write(self, change: Job[T]) -> T:
        """Run one transaction; a cancelled caller waits for its outcome, then the cancellation goes on."""
        return await settled(self.submit_write(change))

    async def read(self, query: Job[T]) -> T:
        """Read one consistent state, never behind a writer of this process."""
        return await asyncio.wrap_future(self.submit_read(query))

    @contextlib.contextmanager
    def locked(self) -> Iterator[sqlite3.Connection]:
        """Lend the writer's connection to the calling thread, between two jobs of the writer.

        A transaction that the borrower leaves open is rolled back, or no later write could begin its own.
        Who has it already and asks again is given it again.
        """
        mine = self.lent_here()
        if mine is not None:
            yield mine
            return
        lent: Future[sqlite3.Connection] = Future()
        given_back = threading.Event()

        def lend(connection: sqlite3.Connection) -> None:
            self._make_ready(connection)
            lent.set_result(connection)
            given_back.wait()

        job = self._pool.writer.submit(lend)
        job.add_done_callback(lambda done: None if lent.done() else lent.set_exception(_failure(done)))
        connection = lent.result()
        self._pool.borrower = threading.get_ident(), connection
        try:
            yield connection
        finally:
            self._pool.borrower = None
            if connection.in_transaction:
                connection.rollback()
            given_back.set()
            job.result()

    def lent_here(self) -> sqlite3.Connection | None:
        """Give the writer's connection where the calling thread has borrowed it."""
        borrower = self._pool.borrower
        return borrower[1] if borrower is not None and borrower[0] == threading.get_ident() else None

    def _make_ready(self, connection: sqlite3.Connection) -> None:
        if not self._ready:
            self._prepare(connection, False)  # A file that is refused is left as it is.
        self._pool.settle(connection)
        if not self._ready:
            self._prepare(connection, True)
            self._ready = True

    def _make_ready_from(self, connection: sqlite3.Connection) -> None:
        if self._pool.alone:
            self._make_ready(connection)
        elif not self._ready and not self._is_ready(connection):
            self._pool.writer.submit(self._make_ready).result()
        self._ready = True

    def _is_ready(self, connection: sqlite3.Connection) -> bool:
        try:
            return self._prepare(connection, False)
        except StorageError:
            return False  # The writer may be about to make what is missing.


class _Pool:
    """The writer and the readers of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.uses = 0
        self.alone = path == MEMORY
        self.claim: object | None = None
        self.borrower: tuple[int, sqlite3.Connection] | None = None
        self.identity: tuple[int, int] | None = None
        self._may_read = threading.Event()
        self._has_journal = False
        self._start_workers()
        with _pools_lock:
            _living.add(self)

    def _start_workers(self) -> None:
        self.writer = Worker(self._open_writer, self.path)
        self._readers = [] if self.alone else [Worker(self._open_reader, self.path) for _ in range(READERS)]

    def reader(self) -> Worker:
        """Choose the reader that has least to do; a ``:memory:`` has one connection for everything."""
        return self.writer if self.alone else min(self._readers, key=lambda worker: worker.load)

    def release(self) -> Future[None] | None:
        """Give up one use; closes after what is queued when it was the last."""
        with _pools_lock:
            self.uses -= 1
            if self.uses > 0:
                return None
            if _pools.get(self.path) is self:
                del _pools[self.path]
            _living.discard(self)
        return self.finish()

    def finish(self) -> Future[None]:
        """Close every connection after its queued jobs, the writer's last."""
        readers = [reader.finish() for reader in self._readers]

        def after_readers() -> None:
            for closed in readers:
                closed.result()

        return self.writer.finish(after_readers)

    def replaced(self) -> bool:
        """Tell whether the path now names another file than the one that is open here."""
        return self.identity is not None and self.identity != _identity(self.path)

    def settle(self, connection: sqlite3.Connection) -> None:
        """Give the file the journal that suits it, once it is known to be ours."""
        if not self.alone and not self._has_journal:
            choose_journal(connection)
            self._has_journal = True

    def let_readers_in(self, first: sqlite3.Connection) -> None:
        """Let readers open the file before the writer has, since it is there and ours; ``first`` is one."""
        settle_in(first)
        if self.identity is None:
            self.identity = _identity(self.path)
        if not self._readers[0].take(first):
            first.close()
        self._may_read.set()

    def start_anew(self) -> None:
        """Forget connections and threads that belong to the parent process."""
        self._may_read.clear()
        self.borrower = None
        self._start_workers()

    def _open_writer(self) -> sqlite3.Connection:
        connection = open_writer(self.path)
        self.identity = None if self.alone else _identity(self.path)
        self._has_journal = False
        self._may_read.set()
        return connection

    def _open_reader(self) -> sqlite3.Connection:
        # The writer creates the file and chooses its journal, so that a reader never meets half of it.
        if not self._may_read.is_set():
            self.writer.submit(lambda connection: None).result()
        connection = open_reader(self.path)
        if self.identity is None:
            self.identity = _identity(self.path)
        return connection


_pools: dict[str, _Pool] = {}
_living: weakref.WeakSet[_Pool] = weakref.WeakSet()
_pools_lock = threading.RLock()
"""Re-entrant, since a hold may be given up by the garbage collector at any moment."""


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
            cancelled = cancelled or error
        except Exception:
            break
    if cancelled is not None:
        if not waiting.cancelled():
            waiting.exception()
        raise cancelled
    return waiting.result()


def _failure(job: Future[None]) -> BaseException:
    return job.exception() or RuntimeError("the connection was not lent")


def _resolved(name: str) -> str:
    return str(Path(name).expanduser().resolve())


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _tidy_up() -> None:
    """Close what nobody closed, so that no journal stays beside the file; never for long."""
    deadline = time.monotonic() + CLOSING_SECONDS
    with _pools_lock:
        left = list(_living)
    for closed in [pool.finish() for pool in left]:
        with contextlib.suppress(Exception):
            closed.result(max(0.0, deadline - time.monotonic()))


def _after_fork() -> None:
    global _pools_lock  # noqa: PLW0603  # The parent's lock may have been held by a thread that is not here.
    _pools_lock = threading.RLock()
    for pool in _living:
        pool.start_anew()


atexit.register(_tidy_up)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
