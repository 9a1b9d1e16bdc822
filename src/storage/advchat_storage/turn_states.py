"""What we know of a turn beyond its items: how its newest run ended, a note, a height on the screen.

Owns the rows of ``advchat_turns``. A turn is known by the row of its first message, so its state is the
same on every branch that shares it. Knows no items.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from advchat_storage.journal_rows import running_messages
from advchat_storage.models import RunStatus
from advchat_storage.rows import for_each_of
from advchat_storage.wording import storable

_STATUSES = get_args(RunStatus)


@dataclass(frozen=True, slots=True)
class TurnState:
    """What is kept of one turn."""

    status: RunStatus = "completed"
    error: str | None = None
    note: str | None = None
    height: int | None = None
    height_width: int | None = None


UNKNOWN = TurnState()
"""Of a turn that nothing was kept of, such as one the SDK's own class wrote."""


def set_turn_status(
    connection: sqlite3.Connection,
    *,
    session_id: str,
    message_id: int,
    status: RunStatus,
    error: str | None = None,
) -> None:
    """Keep how the turn's newest run ended. Raises ``ValueError`` for what is no status."""
    if status not in _STATUSES:
        raise ValueError(f"No status '{status}': choose {', '.join(_STATUSES)}")
    _ensure(connection, session_id=session_id, messages=[message_id])
    connection.execute(
        "UPDATE advchat_turns SET status = ?, error = ? WHERE session_id = ? AND message_id = ?",
        (status, None if error is None else storable(error), session_id, message_id),
    )


def set_turn_note(
    connection: sqlite3.Connection, *, session_id: str, message_id: int, note: str | None
) -> None:
    """Keep where a carried turn came from."""
    _ensure(connection, session_id=session_id, messages=[message_id])
    connection.execute(
        "UPDATE advchat_turns SET note = ? WHERE session_id = ? AND message_id = ?",
        (None if note is None else storable(note), session_id, message_id),
    )


def remember_heights(
    connection: sqlite3.Connection, *, session_id: str, width: int, heights: Mapping[int, int]
) -> None:
    """Keep how many rows turns took, by message row, at ``width`` columns; unknown turns are passed over."""
    _ensure(connection, session_id=session_id, messages=list(heights))
    connection.executemany(
        "UPDATE advchat_turns SET height = ?, height_width = ? WHERE session_id = ? AND message_id = ?",
        [(height, width, session_id, message) for message, height in heights.items()],
    )


def turn_states(
    connection: sqlite3.Connection, *, session_id: str, messages: Sequence[int]
) -> dict[int, TurnState]:
    """Give what is kept of turns; a run whose process is gone reads *interrupted*."""
    rows = for_each_of(
        connection,
        "SELECT message_id, status, error, note, height, height_width FROM advchat_turns "
        "WHERE session_id = :session AND message_id IN ({wanted})",
        messages,
        {"session": session_id},
    )
    states = {row[0]: TurnState(*row[1:]) for row in rows}
    running = {message for message, state in states.items() if state.status == "running"}
    if not running:
        return states
    for message in running - running_messages(connection, session_id=session_id):
        lost = states[message]
        states[message] = TurnState("interrupted", lost.error, lost.note, lost.height, lost.height_width)
    return states


def _ensure(connection: sqlite3.Connection, *, session_id: str, messages: Sequence[int]) -> None:
    """Make rows for turns that have none, each with the place where the turn was made."""
    origins = for_each_of(
        connection,
        "SELECT s.message_id, s.branch_id, s.user_turn_number FROM message_structure AS s "
        "WHERE s.session_id = :session AND s.message_id IN ({wanted}) ORDER BY s.id DESC",
        messages,
        {"session": session_id},
    )
    places = {message: (branch, turn) for message, branch, turn in origins}
    connection.executemany(
        "INSERT INTO advchat_turns (session_id, message_id, branch_id, turn, status) "
        "VALUES (?, ?, ?, ?, 'completed') ON CONFLICT (session_id, message_id) DO NOTHING",
        [(session_id, message, branch, turn or 0) for message, (branch, turn) in places.items()],
    )
