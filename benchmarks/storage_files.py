"""The files that the storage benchmark works on.

Owns their making, by plain SQL into tables that the SDK's own class has created, so that both classes take
them. Knows no timing.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agents.extensions.memory import AdvancedSQLiteSession as SdkSession

from advchat_storage.ownership import Tables
from advchat_storage.search_index import pending
from advchat_storage.store import Store

CONVERSATION = "long"
SMALL = "small"
BRANCH_LENGTH = 100
"""Messages on each branch besides ``main``."""
USAGE_TURNS = 50
NEEDLE = "needle"

_MESSAGE = "INSERT INTO agent_messages (id, session_id, message_data) VALUES (?, ?, ?)"
_STRUCTURE = """
INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number,
    user_turn_number, branch_turn_number) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_USAGE = """
INSERT INTO turn_usage (session_id, branch_id, user_turn_number, requests, input_tokens, output_tokens,
    total_tokens) VALUES (?, 'main', ?, 1, 100, 20, 120)
"""


@dataclass(frozen=True)
class Size:
    """How much one conversation holds."""

    messages: int
    """On ``main``."""
    branches: int
    """In all, each but ``main`` with ``BRANCH_LENGTH`` messages that ``main`` shows too."""

    def __str__(self) -> str:
        return f"{self.messages} x {self.branches}"


def text_of(number: int) -> str:
    """Give the words of a message; one turn in a thousand holds the needle."""
    needle = NEEDLE if number % 2000 == 1001 else "weather"
    return f"Message {number} about the {needle} in Paris, in words enough for a line or two of an answer."


def make(path: Path, size: Size) -> None:
    """Make a file of the SDK's class: the long conversation, and a small one of ten messages beside it."""
    _create(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for session in (CONVERSATION, SMALL):
            connection.execute("INSERT INTO agent_sessions (session_id) VALUES (?)", (session,))
        first_small = size.messages + 1
        connection.executemany(_MESSAGE, _messages(CONVERSATION, 1, size.messages))
        connection.executemany(_MESSAGE, _messages(SMALL, first_small, 10))
        connection.executemany(_STRUCTURE, _structure(CONVERSATION, "main", 1, size.messages, 0))
        connection.executemany(_STRUCTURE, _structure(SMALL, "main", first_small, 10, 0))
        sequence = size.messages
        for number in range(1, size.branches):
            rows = _structure(CONVERSATION, f"branch-{number}", 1, BRANCH_LENGTH, sequence)
            connection.executemany(_STRUCTURE, rows)
            sequence += BRANCH_LENGTH
        connection.execute(
            "INSERT OR IGNORE INTO branch_reservations "
            "SELECT DISTINCT session_id, branch_id FROM message_structure"
        )
        turns = min(USAGE_TURNS, size.messages // 2)
        connection.executemany(_USAGE, [(CONVERSATION, turn) for turn in range(1, turns + 1)])


def adopt(path: Path) -> None:
    """Let our store take the file, its search index included."""

    async def open_once() -> None:
        async with Store(path) as store:
            await store.search(NEEDLE)
            while _waits_for_index(path):
                await store.search(NEEDLE)

    asyncio.run(open_once())


def copy(source: Path, target: Path) -> Path:
    """Copy a file that nobody has open."""
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    target.write_bytes(source.read_bytes())
    return target


def _waits_for_index(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return pending(connection, tables=Tables())


def _create(path: Path) -> None:
    async def create() -> None:
        session = SdkSession(session_id="schema", db_path=path, create_tables=True)
        await session.get_items()
        session.close()

    asyncio.run(create())


def _messages(session: str, first: int, count: int) -> list[tuple[int, str, str]]:
    return [
        (number, session, json.dumps({"role": _role(number, first), "content": text_of(number)}))
        for number in range(first, first + count)
    ]


def _structure(
    session: str, branch: str, first: int, count: int, sequence: int
) -> list[tuple[str, int, str, str, int, int, int]]:
    rows = []
    for place in range(count):
        turn = place // 2 + 1
        number = first + place
        rows.append((session, number, branch, _role(number, first), sequence + place + 1, turn, turn))
    return rows


def _role(number: int, first: int) -> str:
    return "assistant" if (number - first) % 2 else "user"
