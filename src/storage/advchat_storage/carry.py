"""Turns carried from one branch to another: copied as new messages, with a note of where they came from.

Runs inside a transaction of the caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from advchat_storage.history import Row, append, last_turn, pop
from advchat_storage.ledger import first_message
from advchat_storage.place import Scope, require_branch


def carry(connection: sqlite3.Connection, scope: Scope, source: str, turns: Sequence[int], target: str) -> None:
    """Append copies of ``turns`` of ``source`` to ``target``, in the order given.

    Raises ``ValueError`` for an unknown branch and for a turn that the source does not have.
    """
    for branch in (source, target):
        require_branch(connection, scope.session_id, branch)
    copies = [(turn, _rows(connection, scope, source, turn)) for turn in turns]
    name = _name(connection, scope, source)
    for turn, rows in copies:
        append(connection, scope, target, rows)
        _note(connection, scope, target, f"from turn {turn} of {name}")


def drop_last(connection: sqlite3.Connection, scope: Scope, branch: str, count: int) -> None:
    """Remove the newest ``count`` turns of a branch. Raises ``ValueError`` for an unknown branch."""
    require_branch(connection, scope.session_id, branch)
    for _ in range(count):
        turn = last_turn(connection, scope.session_id, branch)
        while turn and last_turn(connection, scope.session_id, branch) == turn:
            pop(connection, scope, branch)


def _rows(connection: sqlite3.Connection, scope: Scope, branch: str, turn: int) -> list[Row]:
    rows = connection.execute(
        f"""
        SELECT m.message_data, s.message_type, s.tool_name
        FROM message_structure AS s CROSS JOIN {scope.tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = ? AND s.branch_id = ? AND s.user_turn_number = ? ORDER BY s.sequence_number
        """,
        (scope.session_id, branch, turn),
    ).fetchall()
    if not rows:
        raise ValueError(f"Turn {turn} does not exist in branch '{branch}'")
    return [Row(*row) for row in rows]


def _name(connection: sqlite3.Connection, scope: Scope, branch: str) -> str:
    """Give a branch's title as people know it, or its ID where it has none."""
    row = connection.execute(
        "SELECT title FROM advchat_branches WHERE session_id = ? AND branch_id = ?", (scope.session_id, branch)
    ).fetchone()
    return str(row[0]) if row is not None and row[0] else branch


def _note(connection: sqlite3.Connection, scope: Scope, branch: str, note: str) -> None:
    turn = last_turn(connection, scope.session_id, branch) or 0
    message = first_message(connection, session_id=scope.session_id, branch_id=branch, turn=turn)
    connection.execute(
        "INSERT INTO advchat_turns (session_id, message_id, branch_id, turn, status, note) "
        "VALUES (?, ?, ?, ?, 'completed', ?) "
        "ON CONFLICT (session_id, message_id) DO UPDATE SET note = excluded.note",
        (scope.session_id, message, branch, turn, note),
    )
