"""What a file holds after a fault, read without the store.

Owns the plain reading of the tables and the rules that hold for every sound file, whatever happened to it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

Item = dict[str, Any]

HISTORY = """
    SELECT s.branch_id, m.message_data FROM message_structure s JOIN agent_messages m ON m.id = s.message_id
    WHERE s.session_id = ? ORDER BY s.branch_id, s.sequence_number
"""


@contextmanager
def plain(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file as any program would; commit at the end."""
    with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
        yield connection


def has_tables(path: Path) -> bool:
    """Tell whether a session has ever been opened on the file."""
    with plain(path) as connection:
        return (
            connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'advchat_migrations'").fetchone()
            is not None
        )


def history(path: Path, session_id: str = "c") -> dict[str, list[Item]]:
    """Give the items of every branch that has some, oldest first."""
    found: dict[str, list[Item]] = {}
    with plain(path) as connection:
        for branch, data in connection.execute(HISTORY, (session_id,)):
            found.setdefault(branch, []).append(json.loads(data))
    return found


def contents(path: Path, session_id: str = "c") -> dict[str, list[Any]]:
    """Give the contents of every branch's messages."""
    found = history(path, session_id)
    return {
        branch: [item.get("content", item.get("type")) for item in items] for branch, items in found.items()
    }


def kinds(path: Path, session_id: str = "c") -> dict[str, list[str]]:
    """Give role or type of every branch's items."""
    found = history(path, session_id)
    return {branch: [item.get("role") or item["type"] for item in items] for branch, items in found.items()}


def ledger(path: Path, session_id: str = "c") -> dict[str, tuple[int, int]]:
    """Give input and output tokens of every request in the ledger by its ID."""
    statement = "SELECT request_id, input_tokens, output_tokens FROM advchat_requests WHERE session_id = ?"
    with plain(path) as connection:
        return {row[0]: (row[1], row[2]) for row in connection.execute(statement, (session_id,))}


def usage(path: Path, session_id: str = "c") -> dict[tuple[str, int], tuple[int, int, int]]:
    """Give requests, input and output tokens of every (branch, turn)."""
    statement = """SELECT branch_id, user_turn_number, requests, input_tokens, output_tokens
                   FROM turn_usage WHERE session_id = ?"""
    with plain(path) as connection:
        return {(row[0], row[1]): row[2:] for row in connection.execute(statement, (session_id,))}


def assert_sound(path: Path) -> None:
    """Fail unless the file is whole: pages, keys, and every message in its place exactly once."""
    with plain(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        shown_nowhere = """SELECT id FROM agent_messages
                           WHERE id NOT IN (SELECT message_id FROM message_structure)"""
        assert connection.execute(shown_nowhere).fetchall() == []
        counts = """SELECT session_id, branch_id, count(*), count(DISTINCT sequence_number),
                    count(DISTINCT message_id)
                    FROM message_structure GROUP BY session_id, branch_id"""
        for row in connection.execute(counts):
            assert row[2] == row[3] == row[4], f"twins in {row}"
        unreserved = """SELECT DISTINCT session_id, branch_id FROM message_structure
                        EXCEPT SELECT session_id, branch_id FROM branch_reservations"""
        assert [row for row in connection.execute(unreserved) if row[1] != "main"] == []
