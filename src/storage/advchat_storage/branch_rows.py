"""Our row of a branch: made where the SDK's class made none, and marked as used.

Functions take the plain connection first and run inside a transaction of the caller. Knows no items.
"""

from __future__ import annotations

import sqlite3

from advchat_storage import clock
from advchat_storage.place import BY_ITS_ROWS, MAIN, STAYS

NEVER = 1 << 62
"""The place in the order of creation of a branch that nobody has reserved."""


def touch(
    connection: sqlite3.Connection, session_id: str, branch_id: str, moment: str, last_message: int
) -> None:
    """Mark a branch and its conversation as used, making their rows where they are missing.

    ``last_message`` is the newest message row: up to it, every message is on a branch.
    """
    connection.execute(
        "INSERT INTO advchat_conversations (session_id, created_at, updated_at, adopted) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (session_id) DO UPDATE SET updated_at = excluded.updated_at, adopted = excluded.adopted",
        (session_id, moment, moment, last_message),
    )
    updated = connection.execute(
        "UPDATE advchat_branches SET last_used_at = ?, gone = ? WHERE session_id = ? AND branch_id = ?",
        (moment, BY_ITS_ROWS, session_id, branch_id),
    )
    if updated.rowcount == 0:
        add_missing(connection, session_id, branch_id, moment)


def add_missing(connection: sqlite3.Connection, session_id: str, branch_id: str, moment: str) -> None:
    """Make the row of a branch that has none: ``main``, or a branch that the SDK's class made."""
    connection.execute(
        "INSERT OR IGNORE INTO branch_reservations (session_id, branch_id) VALUES (?, ?)",
        (session_id, branch_id),
    )
    first = connection.execute(
        "SELECT created_at FROM message_structure WHERE session_id = ? AND branch_id = ? "
        "ORDER BY sequence_number LIMIT 1",
        (session_id, branch_id),
    ).fetchone()
    created = moment if first is None or not first[0] else str(first[0]).replace(" ", "T") + ".000000+00:00"
    connection.execute(
        "INSERT OR IGNORE INTO advchat_branches "
        "(session_id, branch_id, fork_kind, created_at, last_used_at, gone) VALUES (?, ?, ?, ?, ?, ?)",
        (
            session_id,
            branch_id,
            "root" if branch_id == MAIN else "derived",
            created,
            moment,
            STAYS if first is None else BY_ITS_ROWS,
        ),
    )


def creation_order(connection: sqlite3.Connection, session_id: str) -> dict[str, int]:
    """Give each branch's number in the order of creation.

    Both classes reserve an ID in the transaction that makes the branch, and reservations are never removed.
    """
    rows = connection.execute(
        "SELECT branch_id, rowid FROM branch_reservations WHERE session_id = ?", (session_id,)
    )
    return dict(rows.fetchall())


def keep_emptied(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Keep a branch whose last item was popped: it is empty, not deleted."""
    rest = connection.execute(
        "SELECT 1 FROM message_structure WHERE session_id = ? AND branch_id = ? LIMIT 1",
        (session_id, branch_id),
    ).fetchone()
    if rest is None:
        add_missing(connection, session_id, branch_id, clock.now())
        connection.execute(
            "UPDATE advchat_branches SET gone = ? WHERE session_id = ? AND branch_id = ?",
            (STAYS, session_id, branch_id),
        )
