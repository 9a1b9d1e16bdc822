"""Reading what can still be read of a damaged file into a new one. SQLite alone.

Owns the way around damaged pages: each table is read from its beginning and from its end, so that only
what lies between two damaged places is lost. Knows no table by name.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advchat_storage.ownership import quoted

_Row = tuple[Any, ...]


def salvage(path: str, *, target: Path) -> list[str]:
    """Write every readable row of the file at ``path`` to ``target``; gives a line per table that lost rows.

    Indexes and triggers are made anew; full-text tables are left out, for they are made from the rest.
    Raises ``sqlite3.DatabaseError`` when not even the list of tables can be read.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as damaged:
        # Without this, a file shorter than its header says is refused as a whole.
        damaged.execute("PRAGMA writable_schema = ON")
        return _salvaged(damaged, target)


def _salvaged(connection: sqlite3.Connection, target: Path) -> list[str]:
    schema = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'trigger', rowid"
    ).fetchall()
    virtual = [name for _, name, sql in schema if sql.upper().startswith("CREATE VIRTUAL")]
    kept = [
        (kind, name, sql)
        for kind, name, sql in schema
        if not name.startswith("sqlite_") and not any(name.startswith(table) for table in virtual)
    ]
    lost = []
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA foreign_keys = OFF")
        copy.execute("BEGIN")
        for kind, name, sql in kept:
            if kind == "table":
                copy.execute(sql)
                if not _copy_table(connection, copy, name):
                    lost.append(f"some rows of {name} could not be read")
        _forget_index(copy, kept)
        for kind, _, sql in kept:
            if kind != "table":
                copy.execute(sql)
        copy.execute("COMMIT")
    return lost


def _copy_table(source: sqlite3.Connection, copy: sqlite3.Connection, table: str) -> bool:
    """Copy a table; False when some of it could not be read."""
    columns = [quoted(row[1]) for row in copy.execute(f"PRAGMA table_info({quoted(table)})")]
    marks = ", ".join("?" * (len(columns) + 1))
    insert = f"INSERT OR IGNORE INTO {quoted(table)} (rowid, {', '.join(columns)}) VALUES ({marks})"
    select = f"SELECT rowid, {', '.join(columns)} FROM {quoted(table)} NOT INDEXED"
    whole = True
    for direction in ("ASC", "DESC"):
        reading = _readable(source, select, direction)
        reached_end = False
        for row in reading:
            if row is None:
                reached_end = True
            else:
                copy.execute(insert, row)
        if reached_end:
            return whole
        whole = False
    return whole


def _readable(source: sqlite3.Connection, select: str, direction: str) -> Iterator[_Row | None]:
    """Yield rows until damage; None at last when there was none."""
    try:
        yield from source.execute(f"{select} ORDER BY rowid {direction}")
    except sqlite3.DatabaseError:
        return
    yield None


def _forget_index(copy: sqlite3.Connection, kept: list[tuple[str, str, str]]) -> None:
    """Empty what the search index stands on: it is made anew from the messages."""
    names = {name for _, name, _ in kept}
    for table in ("advchat_search_documents", "advchat_search_state"):
        if table in names:
            copy.execute(f"DELETE FROM {table}")
