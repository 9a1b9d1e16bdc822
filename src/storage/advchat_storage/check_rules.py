"""The kinds of faults that a file may have, and how each is mended without losing a word.

Owns the rules, in the order in which they are mended. Functions take the plain connection and run inside a
transaction of the caller. Damaged pages are not their subject.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from advchat_storage.adopt import looked_through
from advchat_storage.clock import now
from advchat_storage.items import opens_turn
from advchat_storage.journal_rows import entries, is_shown, remove_entry
from advchat_storage.ownership import Tables

FOUND_AGAIN = "found_again"
"""The branch for messages that were on none; with a number where the ID was used."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault: how many there are, what that is called, and how it is mended."""

    finding: str
    count: Callable[[sqlite3.Connection, Tables], int]
    mend: Callable[[sqlite3.Connection, Tables], object]


def _counting(statement: str) -> Callable[[sqlite3.Connection, Tables], int]:
    def count(connection: sqlite3.Connection, tables: Tables) -> int:
        return int(connection.execute(_named(statement, tables)).fetchone()[0])

    return count


def _running(statement: str) -> Callable[[sqlite3.Connection, Tables], object]:
    def mend(connection: sqlite3.Connection, tables: Tables) -> object:
        return connection.execute(_named(statement, tables))

    return mend


def _named(statement: str, tables: Tables) -> str:
    return statement.replace("{sessions}", tables.sessions).replace("{messages}", tables.messages)


def _renumber(connection: sqlite3.Connection, _: Tables) -> None:
    """Give the rows of branches with doubled sequence numbers new ones, in the order they are read in."""
    branches = connection.execute(
        f"SELECT DISTINCT session_id, branch_id FROM ({_DOUBLED}) AS doubled"
    ).fetchall()
    for session, branch in branches:
        top = connection.execute(
            "SELECT MAX(sequence_number) FROM message_structure WHERE session_id = ?", (session,)
        ).fetchone()[0]
        rows = connection.execute(
            "SELECT id FROM message_structure WHERE session_id = ? AND branch_id = ? "
            "ORDER BY sequence_number, id",
            (session, branch),
        ).fetchall()
        connection.executemany(
            "UPDATE message_structure SET sequence_number = ? WHERE id = ?",
            [(top + place, row[0]) for place, row in enumerate(rows, start=1)],
        )


def _count_unplaced(connection: sqlite3.Connection, tables: Tables) -> int:
    return sum(len(found) for found in _unplaced(connection, tables).values())


def _unplaced(connection: sqlite3.Connection, tables: Tables) -> dict[str, list[tuple[int, str]]]:
    """Give messages on no branch, of those that were looked through: newer ones may be on their way."""
    rows = connection.execute(
        f"SELECT t.session_id, t.id, json_extract(t.message_data, '$.role') FROM {tables.messages} AS t "
        "WHERE t.id <= ? AND json_valid(t.message_data) AND NOT EXISTS "
        "(SELECT 1 FROM message_structure AS s WHERE s.message_id = t.id) ORDER BY t.id",
        (looked_through(connection),),
    )
    found: dict[str, list[tuple[int, str]]] = {}
    for session, message, role in rows:
        found.setdefault(session, []).append((message, role if role in ("user", "assistant") else "other"))
    return found


def _place_anew(connection: sqlite3.Connection, tables: Tables) -> None:
    """Show messages that are on no branch on one of their own, so that no other history changes."""
    for session, messages in _unplaced(connection, tables).items():
        branch = _unused_branch(connection, session)
        sequence = connection.execute(
            "SELECT COALESCE(MAX(sequence_number), 0) FROM message_structure WHERE session_id = ?", (session,)
        ).fetchone()[0]
        turn = 0
        for number, (message, kind) in enumerate(messages, sequence + 1):
            turn += opens_turn(kind)
            connection.execute(
                "INSERT INTO message_structure (session_id, message_id, branch_id, message_type, "
                "sequence_number, user_turn_number, branch_turn_number) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (session, message, branch, kind, number, turn, turn),
            )
        connection.execute(
            "INSERT INTO advchat_branches (session_id, branch_id, fork_kind, created_at, last_used_at) "
            "VALUES (?, ?, 'derived', ?, ?)",
            (session, branch, now(), now()),
        )


def _unused_branch(connection: sqlite3.Connection, session_id: str) -> str:
    name, number = FOUND_AGAIN, 1
    while True:
        taken = connection.execute(
            "INSERT INTO branch_reservations (session_id, branch_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (session_id, name),
        )
        if taken.rowcount == 1:
            return name
        number += 1
        name = f"{FOUND_AGAIN}_{number}"


def _lost_for_good(connection: sqlite3.Connection) -> list[str]:
    """Give the runs of lost processes whose turn is gone, so that nothing can be offered for them."""
    left = (entry for entry in entries(connection) if not entry.alive)
    return [entry.run_id for entry in left if not is_shown(connection, entry)]


def _forget_lost(connection: sqlite3.Connection, _: Tables) -> None:
    for run_id in _lost_for_good(connection):
        remove_entry(connection, run_id=run_id)


_NO_SESSION = "NOT EXISTS (SELECT 1 FROM {sessions} AS s WHERE s.session_id = t.session_id)"
_NO_MESSAGE = "NOT EXISTS (SELECT 1 FROM {messages} AS m WHERE m.id = t.message_id)"
_DOUBLED = (
    "SELECT session_id, branch_id, sequence_number FROM message_structure "
    "GROUP BY session_id, branch_id, sequence_number HAVING COUNT(*) > 1"
)
_NOT_RUNNING = (
    "status = 'running' AND NOT EXISTS (SELECT 1 FROM advchat_journal AS j "
    "WHERE j.session_id = t.session_id AND j.message_id = t.message_id)"
)
_NO_BRANCH = (
    "t.current_branch <> 'main' AND NOT EXISTS (SELECT 1 FROM message_structure AS s "
    "WHERE s.session_id = t.session_id AND s.branch_id = t.current_branch) "
    "AND NOT EXISTS (SELECT 1 FROM advchat_branches AS b "
    "WHERE b.session_id = t.session_id AND b.branch_id = t.current_branch AND b.gone = 0)"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "messages without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM {{messages}} AS t WHERE {_NO_SESSION}"),
        _running(
            "INSERT INTO {sessions} (session_id) SELECT DISTINCT t.session_id FROM {messages} AS t "
            f"WHERE {_NO_SESSION}"
        ),
    ),
    Rule(
        "places on branches whose message is gone",
        _counting(f"SELECT COUNT(*) FROM message_structure AS t WHERE {_NO_MESSAGE}"),
        _running(
            "DELETE FROM message_structure WHERE id IN "
            f"(SELECT t.id FROM message_structure AS t WHERE {_NO_MESSAGE})"
        ),
    ),
    Rule(
        "places on branches without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM message_structure AS t WHERE {_NO_SESSION}"),
        _running(
            "INSERT INTO {sessions} (session_id) SELECT DISTINCT t.session_id FROM message_structure AS t "
            f"WHERE {_NO_SESSION}"
        ),
    ),
    Rule("messages on no branch", _count_unplaced, _place_anew),
    Rule(
        "usage rows without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM turn_usage AS t WHERE {_NO_SESSION}"),
        _running(f"DELETE FROM turn_usage WHERE id IN (SELECT t.id FROM turn_usage AS t WHERE {_NO_SESSION})"),
    ),
    Rule(
        "sequence numbers used twice on a branch",
        _counting(f"SELECT COUNT(*) FROM ({_DOUBLED}) AS d"),
        _renumber,
    ),
    Rule(
        "turn states whose turn is gone",
        _counting(f"SELECT COUNT(*) FROM advchat_turns AS t WHERE {_NO_MESSAGE}"),
        _running(
            "DELETE FROM advchat_turns WHERE message_id IN "
            f"(SELECT t.message_id FROM advchat_turns AS t WHERE {_NO_MESSAGE})"
        ),
    ),
    Rule(
        "turns marked as running that no process answers",
        _counting(f"SELECT COUNT(*) FROM advchat_turns AS t WHERE {_NOT_RUNNING}"),
        _running(f"UPDATE advchat_turns AS t SET status = 'interrupted' WHERE {_NOT_RUNNING}"),
    ),
    Rule(
        "journal entries of turns that are gone",
        lambda connection, _: len(_lost_for_good(connection)),
        _forget_lost,
    ),
    Rule(
        "conversations whose current branch is gone",
        _counting(f"SELECT COUNT(*) FROM advchat_conversations AS t WHERE {_NO_BRANCH}"),
        _running(f"UPDATE advchat_conversations AS t SET current_branch = 'main' WHERE {_NO_BRANCH}"),
    ),
)
