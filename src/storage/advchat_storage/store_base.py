"""What the store does below its methods: holds its file, gives sessions, sends work to reader and writer.

Owns the life of a store. Knows no SQL and no subject.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from advchat_storage.database import Database
from advchat_storage.errors import ReadOnlyError
from advchat_storage.index_upkeep import IndexUpkeep
from advchat_storage.lost_runs import record_lost, unrecorded
from advchat_storage.migrations import foreign_file, prepare_any
from advchat_storage.opening import MEMORY
from advchat_storage.ownership import Tables, owner_of
from advchat_storage.place import Scope
from advchat_storage.session import AdvancedSQLiteSession
from advchat_storage.strays import stray_conversations, take_over
from advchat_storage.wording import storable

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[Concatenate[sqlite3.Connection, P], T]


class StoreBase:
    """One file, opened at the first call, closed by ``close`` or ``async with``."""

    def __init__(self, db_path: str | Path) -> None:
        self._database = Database.acquire(
            db_path, functools.partial(prepare_any, path=str(Path(db_path).expanduser()))
        )
        self._owner: Tables | None = None
        self._upkeep = IndexUpkeep(self._database)

    @property
    def path(self) -> str:
        """The file, as an absolute path; ``:memory:`` for none."""
        return self._database.path

    async def open(self) -> None:
        """Open the file and bring its tables up to date; the typed refusals come from here."""
        tables = await self._tables()
        if await self._read(stray_conversations, tables=tables):
            with contextlib.suppress(ReadOnlyError):
                await self._write(take_over, tables=tables)
        if await self._read(unrecorded):
            with contextlib.suppress(ReadOnlyError):
                await self._write(record_lost)
        self._upkeep.start(sweeping=True)

    async def close(self) -> None:
        """Finish what is queued and give up the file. Closing twice is no error."""
        self._upkeep.stop()
        closed = self._database.release()
        if closed is not None:
            await asyncio.wrap_future(closed)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    def session(self, conversation_id: str, *, branch_id: str | None = None) -> AdvancedSQLiteSession:
        """Give a session on a conversation: on its current branch, or bound to ``branch_id`` for life.

        The caller closes it; the store may be closed before.
        """
        tables = self._owner or Tables()
        session = AdvancedSQLiteSession(
            session_id=conversation_id,
            db_path=self.path,
            create_tables=True,
            sessions_table=tables.sessions,
            messages_table=tables.messages,
            resume_branch=True,
        )
        if self.path == MEMORY:
            session._database.release()
            session._database = self._database.share()
        if branch_id is None:
            return session
        bound = session.on_branch(branch_id)
        session.close()
        return bound

    async def _tables(self) -> Tables:
        """Give the names of the file's base tables."""
        if self._owner is None:
            foreign = await asyncio.to_thread(foreign_file, self.path)
            if foreign is not None:
                raise foreign
            self._owner = await self._require_open().read(owner_of) or Tables()
        return self._owner

    async def _scope(self, conversation_id: str) -> Scope:
        return Scope(storable(conversation_id), await self._tables())

    async def _read(self, query: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``query(connection, …)`` on one consistent state of the file."""
        return await self._require_open().read(lambda connection: query(connection, *args, **kwargs))

    async def _write(self, change: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``change(connection, …)`` as one transaction; a cancelled caller waits for its outcome."""
        return await self._require_open().write(lambda connection: change(connection, *args, **kwargs))

    def _require_open(self) -> Database:
        if self._database.released:
            raise RuntimeError("This store is closed")
        return self._database
