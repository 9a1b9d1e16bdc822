"""Where an operation happens: the conversation, its tables, and the branch that a session stands on.

Owns the reading of a conversation's clear generation and of which branches exist. Functions take the plain
connection and run inside a transaction of the caller.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from advchat_storage.ownership import Tables

MAIN = "main"
STAYS, REMOVED, BY_ITS_ROWS = 0, 1, 2
"""What ``gone`` says of a branch without rows: it is there all the same, for we made or popped it empty; we
have removed it; or it is no more, for only the SDK's class can have taken its rows."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One conversation of one file."""

    session_id: str
    tables: Tables


@dataclass(frozen=True, slots=True)
class Position:
    """The branch a session stands on, as of a clear generation; None where it is not known yet."""

    branch: str | None
    generation: int | None
    bound: bool = False


def resolve(connection: sqlite3.Connection, scope: Scope, position: Position) -> Position:
    """Give the position as the file has it: after a clear by anybody, it is ``main``.

    Raises ``ValueError`` when a bound session's branch is no more.
    """
    generation = clear_generation(connection, scope.session_id)
    if position.bound:
        require_branch(connection, scope.session_id, position.branch or MAIN)
        return position
    branch = position.branch
    if branch is None:
        branch = remembered_branch(connection, scope.session_id)
    elif position.generation not in (None, generation):
        branch = MAIN
    return Position(branch, generation)


def clear_generation(connection: sqlite3.Connection, session_id: str) -> int:
    """Give how often the conversation was cleared."""
    query = "SELECT generation FROM session_clear_generations WHERE session_id = ?"
    try:
        row = connection.execute(query, (session_id,)).fetchone()
    except sqlite3.OperationalError:
        return 0  # A file of an older SDK that could not be written has no such table.
    return int(row[0]) if row else 0


def remembered_branch(connection: sqlite3.Connection, session_id: str) -> str:
    """Give the branch that was current last, in whichever process; ``main`` when it is no more."""
    query = "SELECT current_branch FROM advchat_conversations WHERE session_id = ?"
    row = connection.execute(query, (session_id,)).fetchone()
    if row is None or not branch_exists(connection, session_id, row[0]):
        return MAIN
    return str(row[0])


def branch_exists(connection: sqlite3.Connection, session_id: str, branch_id: str) -> bool:
    """Tell whether the branch is there: ``main`` always, others with items, or made empty by us."""
    if branch_id == MAIN:
        return True
    query = """
        SELECT EXISTS (SELECT 1 FROM message_structure WHERE session_id = :session AND branch_id = :branch)
            OR EXISTS (
                SELECT 1 FROM advchat_branches
                WHERE session_id = :session AND branch_id = :branch AND gone = :stays
            )
    """
    row = connection.execute(query, {"session": session_id, "branch": branch_id, "stays": STAYS}).fetchone()
    return bool(row[0])


def require_branch(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Raise ``ValueError`` when the branch is not there."""
    if not branch_exists(connection, session_id, branch_id):
        raise ValueError(f"Branch '{branch_id}' does not exist")


def require_not_removed(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Raise ``ValueError`` when we have removed the branch; what the SDK's class emptied may be refilled."""
    removed = connection.execute(
        "SELECT 1 FROM advchat_branches WHERE session_id = ? AND branch_id = ? AND gone = ?",
        (session_id, branch_id, REMOVED),
    ).fetchone()
    if removed is not None:
        require_branch(connection, session_id, branch_id)
