"""What every session does below its methods: holds its file, keeps its place, queues its work.

Owns the session's position (current branch and clear generation) and the order of its writes. Knows no SQL.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar

from advchat_storage.adopt import adopt, placed_up_to
from advchat_storage.database import Database, settled
from advchat_storage.errors import ReadOnlyError
from advchat_storage.migrations import look_ahead, prepare
from advchat_storage.opening import BUSY_SECONDS
from advchat_storage.ownership import MESSAGES, SESSIONS, Tables, belongs_to_others, identifier_name
from advchat_storage.place import MAIN, Position, Scope, resolve
from advchat_storage.settings import Settings, may_log_model_data, settings_from
from advchat_storage.wording import storable
from advchat_storage.workers import Manner

T = TypeVar("T")
Change = Callable[[sqlite3.Connection, str], T]
"""Work on a branch: ``change(connection, branch)``, in one transaction on the writer."""

CLOSE_SECONDS_IN_LOOP = 0.2
"""How long a plain ``close()`` may hold an event loop; it goes on by itself after that."""


class SessionBase:
    """A conversation in a file, and the branch that this object stands on."""

    def __init__(
        self,
        *,
        session_id: str,
        db_path: str | Path = ":memory:",
        create_tables: bool = False,
        logger: logging.Logger | None = None,
        session_settings: Settings = None,
        sessions_table: str = SESSIONS,
        messages_table: str = MESSAGES,
        resume_branch: bool = False,
    ) -> None:
        self.session_id = session_id
        self.db_path = db_path
        self.session_settings = settings_from(session_settings)
        self.sessions_table = sessions_table
        self.messages_table = messages_table
        tables = Tables(identifier_name(sessions_table), identifier_name(messages_table))
        self._scope = Scope(storable(session_id), tables)
        self._logger = logger or logging.getLogger("advchat_storage.session")
        self._position = Position(None if resume_branch else MAIN, None)
        self._position_lock = threading.Lock()
        self._seen = 0
        self._database = _hold(str(db_path), tables, create_tables)

    @property
    def bound_branch(self) -> str | None:
        """The branch that this session is bound to for life; None for one that can switch."""
        return self._position.branch if self._position.bound else None

    def on_branch(self, branch_id: str) -> Self:
        """Give a session of the same conversation bound to one branch for life.

        It ignores every switch. Once its branch is deleted, its operations raise ``ValueError``. The two are
        closed independently.
        """
        self._require_open()
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound._position = Position(storable(branch_id), None, bound=True)
        bound._position_lock = threading.Lock()
        bound._database = self._database.share()
        return bound

    def close(self) -> Awaitable[None]:
        """Give up the file after the work already queued; works called plainly, and may be awaited."""
        closed = self._database.release()
        if closed is not None:
            with contextlib.suppress(TimeoutError):
                closed.result(CLOSE_SECONDS_IN_LOOP if in_event_loop() else BUSY_SECONDS)
        return _Closing(closed)

    async def __aenter__(self) -> Self:
        self._require_open()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    @property
    def _current_branch_id(self) -> str:
        return self._position.branch or MAIN

    def _locked_connection(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Lend the writer's connection to the calling thread, between two writes."""
        return self._require_open().locked()

    def _get_connection(self) -> sqlite3.Connection:
        database = self._require_open()
        return database.lent_here() or database.submit_bare(lambda connection: connection).result()

    def _require_open(self) -> Database:
        if self._database.released:
            raise RuntimeError(f"{type(self).__name__} is closed")
        return self._database

    def _queue(
        self,
        change: Change[T],
        arrive: Callable[[T, Position], Position | None] | None = None,
        manner: Manner = Manner.CAREFUL,
    ) -> Future[T]:
        """Reserve a place among the writes; the branch written is the one current at this call.

        ``arrive`` tells from the result where the session stands once the change is committed.
        """
        database = self._require_open()
        position = self._position
        place = position

        def transact(connection: sqlite3.Connection) -> T:
            nonlocal place
            adopt(connection, self._scope)
            place = self._place(connection, position)
            return change(connection, place.branch or MAIN)

        def move(result: T) -> None:
            target = arrive(result, place) if arrive is not None else None
            if target is not None and not position.bound:
                with self._position_lock:
                    self._position = target

        return database.submit_write(transact, move, manner)

    async def _write(
        self,
        change: Change[T],
        arrive: Callable[[T, Position], Position | None] | None = None,
        manner: Manner = Manner.CAREFUL,
    ) -> T:
        return await settled(self._queue(change, arrive, manner))

    async def _read(self, query: Change[T], branch_id: str | None = None) -> T:
        """Read a branch: the one named, else the current one."""
        database = self._require_open()
        position = self._position

        def look(connection: sqlite3.Connection) -> T:
            if not self._all_placed(connection):
                raise _MessagesLeftOverError
            return answer(connection)

        def answer(connection: sqlite3.Connection) -> T:
            if branch_id is not None:
                return query(connection, storable(branch_id))
            return query(connection, self._place(connection, position).branch or MAIN)

        try:
            return await database.read(look)
        except _MessagesLeftOverError:
            with contextlib.suppress(ReadOnlyError):
                await database.write(lambda connection: adopt(connection, self._scope))
            return await database.read(answer)

    def _all_placed(self, connection: sqlite3.Connection) -> bool:
        placed = placed_up_to(connection, self._scope, self._seen)
        if placed is not None:
            self._seen = placed
        return placed is not None

    def _place(self, connection: sqlite3.Connection, position: Position) -> Position:
        place = resolve(connection, self._scope, position)
        if place != position:
            with self._position_lock:
                if self._position is position:
                    self._position = place
        return place

    def _log_failure(self, what: str, error: BaseException) -> None:
        """Log an error with its text only where the SDK's policy lets model data into logs."""
        if not may_log_model_data():
            self._logger.error("%s", what)
            return
        context = {"openai_agents_diagnostic_context": {"session_id": self.session_id}}
        self._logger.error("%s", what, exc_info=error, extra=context)


class _MessagesLeftOverError(Exception):
    """The plain session has written messages that are on no branch yet."""


class _Closing:
    """What ``close()`` gives: the closing goes on whether or not anybody awaits this."""

    def __init__(self, closed: Future[None] | None) -> None:
        self._closed = closed

    def __await__(self) -> Generator[Any, None, None]:
        if self._closed is not None and not self._closed.done():
            yield from asyncio.shield(asyncio.wrap_future(self._closed)).__await__()


def _hold(path: str, tables: Tables, create_tables: bool) -> Database:
    """Take hold of a file; raises ``ForeignSchemaError`` where it is known already that it is another's.

    A file that is not ready yet begins to be made ready. Only outside of an event loop is that waited for.
    """
    being_made = Database.claimed(path)
    if isinstance(being_made, Tables) and not being_made.same_as(tables):
        owner = f"{being_made.sessions_name} and {being_made.messages_name}"
        raise belongs_to_others(path, owner, tables)
    looked = None
    if being_made is None:
        looked = look_ahead(path, tables=tables, create_tables=create_tables)
    make_ready = functools.partial(prepare, tables=tables, path=path, create_tables=create_tables)
    database = Database.acquire(path, make_ready)
    database.claim(tables)
    if looked is not None:
        database.trust(looked)
    elif being_made is None:
        begun = database.begin()
        if not in_event_loop():
            try:
                begun.result()
            except BaseException:
                database.release()
                raise
    return database


def in_event_loop() -> bool:
    """Tell whether this thread runs an event loop right now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
