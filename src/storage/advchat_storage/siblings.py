"""Which branches part from each other at a turn.

Owns the finding of alternatives to the turns of a branch: other branches with the very same items before
the turn, and another message in its place. Reads the rows that share the window's messages, not the
branches. Binned branches are no alternatives.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from advchat_storage.rows import for_each_of

_Shown = dict[int, set[str]]
"""Branches by a message that they show."""

_DISTINCT_BRANCHES = """
WITH RECURSIVE branch (branch_id) AS (
    SELECT MIN(branch_id) FROM message_structure WHERE session_id = :session
    UNION ALL
    SELECT (SELECT MIN(s.branch_id) FROM message_structure AS s
        WHERE s.session_id = :session AND s.branch_id > branch.branch_id)
    FROM branch WHERE branch.branch_id IS NOT NULL
)
"""


def siblings(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str, firsts: Sequence[tuple[int, int]]
) -> dict[int, tuple[str, ...]]:
    """Give, for turns that have alternatives, the branches to choose from, in the order of their messages.

    ``firsts`` are numbers and first messages of successive turns of ``branch_id``, which stands for its own
    alternative; of several branches that share another one, the first that had it does.
    """
    if not firsts:
        return {}
    before = _last_before(connection, session_id, branch_id, firsts)
    shown = _sharers(connection, [*before.values(), *(message for _, message in firsts)])
    wanted: list[tuple[int, str]] = []
    for turn, message in firsts:
        holders = shown.get(before[turn], set()) if turn in before else _roots(connection, session_id)
        wanted += [(turn, other) for other in holders - shown.get(message, set())]
    if not wanted:
        return {}
    binned = _binned(connection, session_id)
    own = dict(firsts)
    alternatives: dict[int, dict[int, tuple[int, str]]] = {}
    for turn, other in wanted:
        if other not in binned:
            first = _parting(connection, session_id, other, turn, before.get(turn))
            if first is not None:
                known = alternatives.setdefault(turn, {})
                known[first[0]] = min(known.get(first[0], (first[1], other)), (first[1], other))
    found = {}
    for turn, known in alternatives.items():
        known[own[turn]] = (0, branch_id)
        found[turn] = tuple(known[message][1] for message in sorted(known))
    return found


def _last_before(
    connection: sqlite3.Connection, session_id: str, branch_id: str, firsts: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Give, for each turn that has something before it, the last message of the turn before."""
    rows = connection.execute(
        "SELECT user_turn_number, MAX(message_id) FROM message_structure "
        "WHERE session_id = :session AND branch_id = :branch "
        "AND user_turn_number BETWEEN :first AND :last GROUP BY user_turn_number",
        {
            "session": session_id,
            "branch": branch_id,
            "first": firsts[0][0] - 1,
            "last": firsts[-1][0] - 1,
        },
    )
    ends = dict(rows.fetchall())
    return {turn: ends[turn - 1] for turn, _ in firsts if turn - 1 in ends}


def _sharers(connection: sqlite3.Connection, messages: Sequence[int]) -> _Shown:
    shown: _Shown = {}
    rows = for_each_of(
        connection,
        "SELECT message_id, branch_id FROM message_structure WHERE message_id IN ({wanted})",
        messages,
    )
    for message, branch in rows:
        shown.setdefault(message, set()).add(branch)
    return shown


def _roots(connection: sqlite3.Connection, session_id: str) -> set[str]:
    rows = connection.execute(
        _DISTINCT_BRANCHES + "SELECT branch_id FROM branch WHERE branch_id IS NOT NULL", {"session": session_id}
    )
    return {row[0] for row in rows}


def _binned(connection: sqlite3.Connection, session_id: str) -> set[str]:
    rows = connection.execute(
        "SELECT branch_id FROM advchat_branches WHERE session_id = ? AND binned_at IS NOT NULL", (session_id,)
    )
    return {row[0] for row in rows}


def _parting(
    connection: sqlite3.Connection, session_id: str, branch_id: str, turn: int, before: int | None
) -> tuple[int, int] | None:
    """Give a branch's first message of ``turn`` and its row, if the branch has ``before`` right before it."""
    place: dict[str, Any] = {"session": session_id, "branch": branch_id, "turn": turn}
    row = connection.execute(
        "SELECT MIN(message_id), MIN(id) FROM message_structure "
        "WHERE session_id = :session AND branch_id = :branch AND user_turn_number = :turn",
        place,
    ).fetchone()
    if row[0] is None:
        return None
    end = connection.execute(
        "SELECT MAX(message_id) FROM message_structure "
        "WHERE session_id = :session AND branch_id = :branch AND user_turn_number < :turn "
        "AND user_turn_number >= :turn - 1",
        place,
    ).fetchone()
    return (row[0], row[1]) if end[0] == before else None
