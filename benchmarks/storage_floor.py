"""What SQLite alone takes for a fork's rows: the floor that no class of these tables gets below.

Owns the two bare statements, run on the SDK's tables as the SDK made them, without a class, a check of keys or
a table of ours.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

from benchmarks.storage_files import CONVERSATION

_INSERT = """
INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number,
    user_turn_number, branch_turn_number, tool_name)
SELECT session_id, message_id, 'branch_from_turn_1_1700000000', message_type, sequence_number + :messages,
    user_turn_number, user_turn_number, tool_name
FROM message_structure WHERE session_id = :session AND branch_id = 'main' AND user_turn_number < :turn
ORDER BY sequence_number
"""
_DELETE = (
    "DELETE FROM message_structure WHERE session_id = :session AND branch_id = 'branch_from_turn_1_1700000000'"
)
REPETITIONS = 5


def bare_fork_and_delete(path: Path, messages: int) -> tuple[float, float]:
    """Give the median seconds of inserting a fork's rows and of deleting them, each committed to the disk."""
    values: dict[str, str | int] = {"session": CONVERSATION, "messages": messages, "turn": messages // 2}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        times = [
            (_timed(connection, _INSERT, values), _timed(connection, _DELETE, values))
            for _ in range(REPETITIONS)
        ]
    return statistics.median(fork for fork, _ in times), statistics.median(delete for _, delete in times)


def _timed(connection: sqlite3.Connection, statement: str, values: dict[str, str | int]) -> float:
    begun = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(statement, values)
    connection.execute("COMMIT")
    return time.perf_counter() - begun
