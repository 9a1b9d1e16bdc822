"""Messages that the plain SQLite session wrote: taken over into the ``main`` branch.

The plain session knows no branches: it writes messages and nothing else. Owns finding such messages, which
costs one look where there are none, and giving them their structure rows. Functions take the plain connection
first and run inside a transaction of the caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from advchat_storage import clock
from advchat_storage.branch_rows import add_missing
from advchat_storage.items import classify, opens_turn
from advchat_storage.parsing import parse
from advchat_storage.place import MAIN, Scope

LOOKED_THROUGH = "placed"
"""Name of the file's mark: up to it, a store has looked at every message's place."""


class _Message(NamedTuple):
    message_id: int
    message_type: str
    tool_name: str | None
    created_at: str | None


def placed_up_to(connection: sqlite3.Connection, scope: Scope, seen: int) -> int | None:
    """Give the newest message row when every message is on a branch; None when some are on none.

    ``seen`` is an earlier answer: rows up to it are not looked at again.
    """
    mark = max(seen, _mark(connection, scope), looked_through(connection))
    query = f"SELECT MAX(id) FROM {scope.tables.messages} WHERE session_id = ?"
    newest = int(connection.execute(query, (scope.session_id,)).fetchone()[0] or 0)
    if newest <= mark:
        return mark
    return None if _unplaced(connection, scope, mark, limit=1) else newest


def looked_through(connection: sqlite3.Connection) -> int:
    """Give the newest message row of those whose places were looked at, whichever conversation's they are."""
    query = "SELECT value FROM advchat_search_state WHERE name = ?"
    row = connection.execute(query, (LOOKED_THROUGH,)).fetchone()
    return 0 if row is None else int(row[0])


def adopt(connection: sqlite3.Connection, scope: Scope) -> None:
    """Show on ``main`` what the plain session wrote, in the order of the messages."""
    mark = _mark(connection, scope)
    if not _has_newer(connection, scope, mark):
        return
    messages = [
        _Message(message, *classify(parse(data)), created)
        for message, data, created in _unplaced(connection, scope, mark)
    ]
    if messages:
        add_missing(connection, scope.session_id, MAIN, clock.now())
        _place(connection, scope, messages)
    _set_mark(connection, scope)


def _mark(connection: sqlite3.Connection, scope: Scope) -> int:
    query = "SELECT adopted FROM advchat_conversations WHERE session_id = ?"
    row = connection.execute(query, (scope.session_id,)).fetchone()
    return int(row[0]) if row else 0


def _has_newer(connection: sqlite3.Connection, scope: Scope, mark: int) -> bool:
    query = f"SELECT 1 FROM {scope.tables.messages} WHERE session_id = ? AND id > ? LIMIT 1"
    return connection.execute(query, (scope.session_id, mark)).fetchone() is not None


def _unplaced(
    connection: sqlite3.Connection, scope: Scope, mark: int, limit: int = -1
) -> list[tuple[int, bytes | None, str | None]]:
    return connection.execute(
        f"SELECT m.id, CAST(m.message_data AS BLOB), m.created_at FROM {scope.tables.messages} AS m "
        "WHERE m.session_id = ? AND m.id > ? "
        "AND NOT EXISTS (SELECT 1 FROM message_structure AS s WHERE s.message_id = m.id) "
        "ORDER BY m.id LIMIT ?",
        (scope.session_id, mark, limit),
    ).fetchall()


def _set_mark(connection: sqlite3.Connection, scope: Scope) -> None:
    moment = clock.now()
    connection.execute(
        "INSERT INTO advchat_conversations (session_id, created_at, updated_at, adopted) "
        f"SELECT :session, :moment, :moment, MAX(id) FROM {scope.tables.messages} "
        "WHERE session_id = :session "
        "ON CONFLICT (session_id) DO UPDATE SET adopted = excluded.adopted",
        {"session": scope.session_id, "moment": moment},
    )


def _place(connection: sqlite3.Connection, scope: Scope, messages: Sequence[_Message]) -> None:
    session = scope.session_id
    sequence, turn, last = connection.execute(
        "SELECT (SELECT COALESCE(MAX(sequence_number), 0) FROM message_structure WHERE session_id = :session), "
        "COALESCE(MAX(user_turn_number), 0), COALESCE(MAX(message_id), 0) FROM message_structure "
        "WHERE session_id = :session AND branch_id = 'main'",
        {"session": session},
    ).fetchone()
    rows = []
    for number, message in enumerate(messages, sequence + 1):
        turn += opens_turn(message.message_type)
        kind, tool, created = message.message_type, message.tool_name, message.created_at
        rows.append((session, message.message_id, kind, number, turn, turn, tool, created or clock.now()))
    connection.executemany(
        "INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number, "
        "user_turn_number, branch_turn_number, tool_name, created_at) VALUES (?, ?, 'main', ?, ?, ?, ?, ?, ?)",
        rows,
    )
    if messages[0].message_id < last:
        _put_in_order(connection, session)


def _put_in_order(connection: sqlite3.Connection, session: str) -> None:
    """Give ``main`` new numbers, after older messages came to it than it had."""
    rows = connection.execute(
        "SELECT id, message_type, user_turn_number FROM message_structure "
        "WHERE session_id = ? AND branch_id = 'main' ORDER BY message_id",
        (session,),
    ).fetchall()
    (sequence,) = connection.execute(
        "SELECT MAX(sequence_number) FROM message_structure WHERE session_id = ?", (session,)
    ).fetchone()
    turn = 0
    moved: dict[int, int] = {}
    changes = []
    for number, (row, kind, old_turn) in enumerate(rows, sequence + 1):
        turn += opens_turn(kind)
        moved[old_turn] = turn
        changes.append((number, turn, turn, row))
    connection.executemany(
        "UPDATE message_structure SET sequence_number = ?, user_turn_number = ?, branch_turn_number = ? "
        "WHERE id = ?",
        changes,
    )
    # Turns only move up, so that from the last one down none meets another.
    for table, column in (
        ("turn_usage", "user_turn_number"),
        ("advchat_requests", "turn"),
        ("advchat_turns", "turn"),
    ):
        connection.executemany(
            f"UPDATE {table} SET {column} = ? WHERE session_id = ? AND branch_id = 'main' AND {column} = ?",
            [(new, session, old) for old, new in sorted(moved.items(), reverse=True) if new > old],
        )


_TURN_COLUMNS = (("turn_usage", "user_turn_number"), ("advchat_requests", "turn"), ("advchat_turns", "turn"))
