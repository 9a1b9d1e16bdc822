"""The items of a branch: appended, read, popped, cleared.

Functions take the plain connection first and run inside a transaction of the caller. Each touches only the
rows it speaks of: an append looks at the ends of two indexes, a pop at the newest row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advchat_storage import clock
from advchat_storage.adopt import adopt
from advchat_storage.branch_rows import keep_emptied, touch
from advchat_storage.items import Json, classify, encode, opens_turn
from advchat_storage.parsing import INVALID, parse
from advchat_storage.place import MAIN, REMOVED, Scope


class Row(NamedTuple):
    """An item made ready for its two rows."""

    text: str
    message_type: str
    tool_name: str | None


def rows_of(items: Sequence[Json]) -> list[Row]:
    """Make items ready for ``append``; raises ``TypeError`` for what JSON cannot hold."""
    return [Row(encode(item), *classify(item)) for item in items]


def append(connection: sqlite3.Connection, scope: Scope, branch: str, rows: Sequence[Row]) -> tuple[int, int]:
    """Add items at the end of a branch; gives the last one's turn and message row."""
    session, tables = scope.session_id, scope.tables
    adopt(connection, scope)
    connection.execute(
        f"INSERT INTO {tables.sessions} (session_id) VALUES (?) "
        "ON CONFLICT (session_id) DO UPDATE SET updated_at = CURRENT_TIMESTAMP",
        (session,),
    )
    sequence, turn = _ends(connection, session, branch)
    structure = []
    message = 0
    insert = f"INSERT INTO {tables.messages} (session_id, message_data) VALUES (?, ?)"
    for row in rows:
        message = connection.execute(insert, (session, row.text)).lastrowid or 0
        sequence += 1
        turn += opens_turn(row.message_type)
        structure.append((session, message, branch, row.message_type, sequence, turn, turn, row.tool_name))
    touch(connection, session, branch, clock.now(), message)
    connection.executemany(_INSERT_STRUCTURE, structure)
    return turn, message


def last_turn(connection: sqlite3.Connection, session_id: str, branch: str) -> int | None:
    """Give the number of a branch's newest turn; None for an empty branch."""
    query = "SELECT MAX(user_turn_number) FROM message_structure WHERE session_id = ? AND branch_id = ?"
    row = connection.execute(query, (session_id, branch)).fetchone()
    return None if row[0] is None else int(row[0])


def newest(connection: sqlite3.Connection, scope: Scope, branch: str, limit: int | None) -> list[Json]:
    """Give the newest ``limit`` valid items, oldest first; None or a negative limit gives all."""
    if limit is not None and limit < 0:
        limit = None
    if limit == 0:
        return []
    items: list[Json] = []
    for data in _data_backwards(connection, scope, branch):
        item = parse(data)
        if item is not INVALID:
            items.append(item)
            if len(items) == limit:
                break
    items.reverse()
    return items


def pop(connection: sqlite3.Connection, scope: Scope, branch: str) -> Json:
    """Remove the newest valid item of a branch and give it; None when there is none.

    Newer rows that are not JSON go with it: nobody could read or pop them otherwise.
    """
    query = f"""
        SELECT s.id, s.message_id, s.user_turn_number, CAST(m.message_data AS BLOB)
        FROM message_structure AS s LEFT JOIN {scope.tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = ? AND s.branch_id = ? ORDER BY s.sequence_number DESC LIMIT 1
    """
    place = (scope.session_id, branch)
    while True:
        row = connection.execute(query, place).fetchone()
        if row is None:
            return None
        _remove_row(connection, scope, branch, row[:3])
        item = parse(row[3])
        if item is not INVALID:
            return item


def clear(connection: sqlite3.Connection, scope: Scope) -> int:
    """Remove the conversation's history on all branches; gives the new clear generation.

    Branch IDs stay used, and what was paid stays in the ledger.
    """
    session, tables = scope.session_id, scope.tables
    for table in ("turn_usage", "message_structure", tables.messages, tables.sessions, "advchat_turns"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session,))
    connection.execute("INSERT OR IGNORE INTO branch_reservations VALUES (?, ?)", (session, MAIN))
    generation = connection.execute(
        "INSERT INTO session_clear_generations (session_id, generation) VALUES (?, 1) "
        "ON CONFLICT (session_id) DO UPDATE SET generation = generation + 1 RETURNING generation",
        (session,),
    ).fetchone()
    connection.execute("UPDATE advchat_branches SET gone = ? WHERE session_id = ?", (REMOVED, session))
    connection.execute(
        "UPDATE advchat_conversations SET current_branch = 'main', updated_at = ? WHERE session_id = ?",
        (clock.now(), session),
    )
    return int(generation[0])


_INSERT_STRUCTURE = """
INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number,
    user_turn_number, branch_turn_number, tool_name)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def _ends(connection: sqlite3.Connection, session: str, branch: str) -> tuple[int, int]:
    """Give the conversation's highest sequence number and the branch's newest turn."""
    row = connection.execute(
        "SELECT (SELECT MAX(sequence_number) FROM message_structure WHERE session_id = :session), "
        "(SELECT MAX(user_turn_number) FROM message_structure "
        "WHERE session_id = :session AND branch_id = :branch)",
        {"session": session, "branch": branch},
    ).fetchone()
    return int(row[0] or 0), int(row[1] or 0)


def _data_backwards(connection: sqlite3.Connection, scope: Scope, branch: str) -> Iterator[bytes | None]:
    # CROSS JOIN keeps the branch's index in front, so that a limit reads no more rows than it gives.
    query = f"""
        SELECT CAST(m.message_data AS BLOB)
        FROM message_structure AS s CROSS JOIN {scope.tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = ? AND s.branch_id = ? ORDER BY s.sequence_number DESC
    """
    cursor = connection.execute(query, (scope.session_id, branch))
    try:
        for row in cursor:
            yield row[0]
    finally:
        cursor.close()


def _remove_row(
    connection: sqlite3.Connection, scope: Scope, branch: str, row: tuple[int, int, int | None]
) -> None:
    structure_id, message_id, turn = row
    connection.execute("DELETE FROM message_structure WHERE id = ?", (structure_id,))
    shown = connection.execute(
        "SELECT 1 FROM message_structure WHERE message_id = ? LIMIT 1", (message_id,)
    ).fetchone()
    if shown is None:
        connection.execute(f"DELETE FROM {scope.tables.messages} WHERE id = ?", (message_id,))
        connection.execute(
            "DELETE FROM advchat_turns WHERE session_id = ? AND message_id = ?", (scope.session_id, message_id)
        )
    place = {"session": scope.session_id, "branch": branch, "turn": turn}
    connection.execute(
        """
        DELETE FROM turn_usage
        WHERE session_id = :session AND branch_id = :branch AND user_turn_number = :turn
            AND NOT EXISTS (
                SELECT 1 FROM message_structure
                WHERE session_id = :session AND branch_id = :branch AND user_turn_number = :turn
            )
        """,
        place,
    )
    keep_emptied(connection, scope.session_id, branch)
