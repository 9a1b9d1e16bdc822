"""Making a file ready: whose tables it holds, which version they have, and bringing them up to date.

Owns the claim of a file by one pair of base tables and the numbered migrations. A migration that has
been released is never changed: append another one. Knows no session and no thread.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from advchat_storage import schema
from advchat_storage.clock import now
from advchat_storage.errors import ForeignSchemaError, NewerSchemaError
from advchat_storage.opening import MEMORY, open_to_look
from advchat_storage.ownership import Tables, foreign_problem, owner_of, owner_problem, unclaimed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of our own tables; runs in the transaction that records it."""

    version: int
    name: str
    apply: Callable[[sqlite3.Connection], None]


def _own_tables(connection: sqlite3.Connection) -> None:
    _run(connection, schema.OURS)
    _run(connection, schema.SHARED_MESSAGES)
    for trigger in schema.TRIGGERS:
        connection.execute(trigger)
    connection.execute(schema.ADOPT_USAGE)


MIGRATIONS: tuple[Migration, ...] = (Migration(1, "tables of our own", _own_tables),)
"""In order; append only."""


def prepare(
    connection: sqlite3.Connection,
    may_write: bool,
    *,
    tables: Tables,
    path: str,
    create_tables: bool = True,
    migrations: tuple[Migration, ...] = MIGRATIONS,
) -> bool:
    """Make the file ready for ``tables``; without ``may_write`` only tell whether it is.

    Raises ``ForeignSchemaError`` (a ``ValueError``) when the file belongs to another pair of base tables, or
    to none while ``create_tables`` is off, and ``NewerSchemaError``. Safe to interrupt at any moment.
    """
    version = applied_version(connection)
    if version > migrations[-1].version:
        raise NewerSchemaError(path, "a newer advchat has written this file", "Update advchat to open it")
    problem = owner_problem(connection, tables, path=path, create_tables=create_tables)
    if problem is not None:
        raise problem
    if version == migrations[-1].version and _has_sdk_tables(connection, tables):
        return True
    if not may_write:
        return False
    if version:
        _back_up(connection, path, version)
    with schema.transaction(connection):
        # Another process may have claimed the file while this one waited for the lock.
        problem = owner_problem(connection, tables, path=path, create_tables=create_tables)
        if problem is not None:
            raise problem
        _create_sdk_tables(connection, tables)
        _apply(connection, migrations[0])
    for migration in migrations[1:]:
        with schema.transaction(connection):
            _apply(connection, migration)
    return True


def prepare_any(connection: sqlite3.Connection, may_write: bool, *, path: str) -> bool:
    """Make a file ready whoever its base tables are: those it has, or the SDK's default ones."""
    return prepare(connection, may_write, tables=owner_of(connection) or Tables(), path=path)


def look_ahead(path: str, *, tables: Tables, create_tables: bool) -> sqlite3.Connection | None:
    """Look without waiting whether the file is ready for ``tables``; if so, give the connection that looked.

    Raises ``ForeignSchemaError`` when it belongs to other tables, or to none while ``create_tables`` is off.
    """
    file = Path(path).expanduser()
    if path == MEMORY or not file.is_file():
        if not create_tables:
            raise unclaimed(path)
        return None
    try:
        connection = open_to_look(str(file))
    except sqlite3.Error:
        return None
    ready = False
    try:
        ready = prepare(connection, False, tables=tables, path=path, create_tables=create_tables)
    except (sqlite3.Error, NewerSchemaError):
        return None
    finally:
        if not ready:
            connection.close()
    return connection if ready else None


def foreign_file(path: str) -> ForeignSchemaError | None:
    """Tell whether another program has filled the file, before anything in it is changed."""
    if path == MEMORY or not Path(path).is_file():
        return None
    return _glance(Path(path), lambda connection: foreign_problem(connection, path))


def _glance(file: Path, question: Callable[[sqlite3.Connection], T]) -> T | None:
    """Ask a question of a file for a moment, to read only; None where a lock or a fault hides the answer."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro", uri=True, timeout=0)
    except sqlite3.Error:
        return None
    try:
        return question(connection)
    except (sqlite3.Error, NewerSchemaError):
        return None
    finally:
        connection.close()


def applied_version(connection: sqlite3.Connection) -> int:
    """Give the number of the newest migration in the file; 0 for a file that is not ours yet."""
    if not schema.exists(connection, "advchat_migrations"):
        return 0
    row = connection.execute("SELECT max(version) FROM advchat_migrations").fetchone()
    return int(row[0] or 0)


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    # Another process may have applied it meanwhile.
    if applied_version(connection) >= migration.version:
        return
    migration.apply(connection)
    connection.execute(
        "INSERT INTO advchat_migrations (version, name, applied_at) VALUES (?, ?, ?)",
        (migration.version, migration.name, now()),
    )


def _has_sdk_tables(connection: sqlite3.Connection, tables: Tables) -> bool:
    wanted = (tables.sessions_name, tables.messages_name, *schema.ADVANCED_TABLES)
    return all(schema.exists(connection, name) for name in wanted)


def _create_sdk_tables(connection: sqlite3.Connection, tables: Tables) -> None:
    _run(connection, tables.fill(schema.BASE))
    _run(connection, tables.fill(schema.ADVANCED))
    connection.execute(schema.RESERVE_KNOWN_BRANCHES)


def _back_up(connection: sqlite3.Connection, path: str, version: int) -> None:
    target = Path(f"{path}.version-{version}.backup")
    os.close(os.open(target, os.O_CREAT | os.O_RDWR, 0o600))
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
    finally:
        copy.close()


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Execute statements one by one; ``executescript`` would commit the transaction around them."""
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)
