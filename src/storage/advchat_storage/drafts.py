"""Composer text per branch, kept until it is sent.

Owns the drafts' table. Knows no composer.
"""

from __future__ import annotations

import sqlite3

from advchat_storage.clock import now
from advchat_storage.wording import storable


def save_draft(connection: sqlite3.Connection, *, session_id: str, branch_id: str, text: str) -> None:
    """Keep ``text`` as the branch's draft; an empty text forgets it."""
    if not text:
        forget_draft(connection, session_id=session_id, branch_id=branch_id)
        return
    connection.execute(
        "INSERT INTO advchat_drafts (session_id, branch_id, draft, updated_at) "
        "VALUES (:session, :branch, :draft, :moment) ON CONFLICT (session_id, branch_id) "
        "DO UPDATE SET draft = excluded.draft, updated_at = excluded.updated_at",
        {"session": session_id, "branch": branch_id, "draft": storable(text), "moment": now()},
    )


def forget_draft(connection: sqlite3.Connection, *, session_id: str, branch_id: str) -> None:
    """Remove the branch's draft, if any."""
    connection.execute(
        "DELETE FROM advchat_drafts WHERE session_id = ? AND branch_id = ?", (session_id, branch_id)
    )


def draft(connection: sqlite3.Connection, *, session_id: str, branch_id: str) -> str:
    """Give the branch's draft; empty when there is none."""
    row = connection.execute(
        "SELECT draft FROM advchat_drafts WHERE session_id = ? AND branch_id = ?", (session_id, branch_id)
    ).fetchone()
    return "" if row is None else str(row[0])
