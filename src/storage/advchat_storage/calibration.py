"""What the provider's own counts say of a branch: the ground for telling what the next prompt will take.

Owns the comparison of a request's tokens with the characters it spoke of. Knows no price.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from advchat_storage.ownership import Tables

_TURNS = 50
"""Turns back in which a request of known usage still tells of the context."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The newest request of known usage that a branch shows, and what it covered."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int | None
    characters: int
    """Of the branch's stored items up to the end of that request's turn, as JSON."""
    model: str | None
    provider: str | None


def calibration(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str, tables: Tables
) -> Calibration | None:
    """Give the newest request of known usage of the branch's turns; None when there is none."""
    place = {"session": session_id, "branch": branch_id, "turns": _TURNS}
    row = connection.execute(
        """SELECT r.input_tokens, r.output_tokens, r.cached_tokens, r.turn,
            COALESCE(r.model, r.model_asked), r.provider
        FROM advchat_requests AS r
        WHERE r.session_id = :session AND r.input_tokens IS NOT NULL AND r.output_tokens IS NOT NULL
            AND r.message_id IN (SELECT message_id FROM message_structure
                WHERE session_id = :session AND branch_id = :branch AND message_type = 'user'
                ORDER BY sequence_number DESC LIMIT :turns)
        ORDER BY r.turn DESC, r.id DESC LIMIT 1""",
        place,
    ).fetchone()
    if row is None:
        return None
    characters = connection.execute(
        f"""SELECT COALESCE(SUM(LENGTH(m.message_data)), 0)
        FROM message_structure AS s JOIN {tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = :session AND s.branch_id = :branch AND s.user_turn_number <= :turn""",
        {**place, "turn": row[3]},
    ).fetchone()[0]
    return Calibration(
        input_tokens=row[0],
        output_tokens=row[1],
        cached_tokens=row[2],
        characters=characters,
        model=row[4],
        provider=row[5],
    )
