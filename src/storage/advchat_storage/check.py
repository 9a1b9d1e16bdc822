"""Looking for damage in a file, and mending what can be mended without losing a word.

Owns the findings and their mending. Everything is looked at again inside the transaction that mends it, and
a backup comes first. Damaged pages are beyond mending in place: what can be read goes to a new file
(``salvage``).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from advchat_storage import search_index
from advchat_storage.backup import backup
from advchat_storage.database import Database, settled
from advchat_storage.errors import CorruptDatabaseError, ReadOnlyError
from advchat_storage.journal_rows import entries, is_shown, remove_entry
from advchat_storage.models import CheckReport
from advchat_storage.opening import MEMORY
from advchat_storage.ownership import Tables, owner_of
from advchat_storage.salvage import salvage

_INDEX_FAULTS = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


@dataclass(frozen=True, slots=True)
class _Rule:
    """One kind of fault: how many there are, what that is called, and how it is mended."""

    finding: str
    count: Callable[[sqlite3.Connection, Tables], int]
    mend: Callable[[sqlite3.Connection, Tables], object]


async def check(database: Database, *, repair: bool) -> CheckReport:
    """Look at everything; with ``repair`` mend what was found. ``ok`` tells whether all is well afterwards."""
    try:
        damage = await _bare(database, _page_damage)
    except CorruptDatabaseError as error:
        return await _damaged(database, [error.problem], repair=repair)
    if damage and not all(any(fault in line for fault in _INDEX_FAULTS) for line in damage):
        return await _damaged(database, damage, repair=repair)
    findings = list(damage) + await database.read(_findings)
    findings += await _index_findings(database)
    if not findings or not repair:
        return CheckReport(database.path, not findings, tuple(findings))
    repaired = []
    if database.path != MEMORY:
        copy = await database.read(
            lambda connection: backup(connection, source=database.path, target=_beside(database.path, "backup"))
        )
        repaired.append(f"backed up to {copy}")
    if damage:
        await database.write(lambda connection: connection.execute("REINDEX"))
        repaired.append("indexes made anew")
    repaired += await database.write(_mend)
    left = await _bare(database, _page_damage) + await database.read(_findings)
    return CheckReport(database.path, not left, tuple(findings), tuple(repaired))


async def _bare(database: Database, look: Callable[[sqlite3.Connection], list[str]]) -> list[str]:
    """Look outside a transaction: on a damaged file not even a reading one can be ended."""
    return await settled(database.submit_bare(look))


async def _damaged(database: Database, damage: list[str], *, repair: bool) -> CheckReport:
    if not repair:
        way_out = "repairing writes what can still be read to a new file beside it"
        return CheckReport(database.path, ok=False, findings=(*damage, way_out))
    target = _beside(database.path, "salvaged")
    try:
        lost = await asyncio.to_thread(salvage, database.path, target=target)
    except sqlite3.DatabaseError as error:
        target.unlink(missing_ok=True)
        unreadable = f"nothing of it can be read ({error}): go back to a backup"
        return CheckReport(database.path, ok=False, findings=(*damage, unreadable))
    saved = f"what could be read was written to {target}: open that file instead"
    return CheckReport(database.path, ok=False, findings=(*damage, *lost), repaired=(saved,))


async def _index_findings(database: Database) -> list[str]:
    """Ask the full-text tables for faults; asking is a write to SQLite, so a read-only file is not asked."""
    try:
        problem = await database.write(search_index.problem)
    except ReadOnlyError:
        return []
    return [] if problem is None else [f"the search index is damaged ({problem})"]


def _page_damage(connection: sqlite3.Connection) -> list[str]:
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    lines = [line for row in rows for line in str(row[0]).splitlines()]
    return [] if lines == ["ok"] else lines


def _findings(connection: sqlite3.Connection) -> list[str]:
    tables = owner_of(connection) or Tables()
    counted = ((rule.count(connection, tables), rule) for rule in _RULES)
    return [f"{count} {rule.finding}" for count, rule in counted if count]


def _mend(connection: sqlite3.Connection) -> list[str]:
    tables = owner_of(connection) or Tables()
    mended = []
    for rule in _RULES:
        count = rule.count(connection, tables)
        if count:
            rule.mend(connection, tables)
            mended.append(f"mended {count} {rule.finding}")
    if search_index.problem(connection) is not None:
        search_index.rebuild(connection)
        mended.append("the search index is made anew in the background")
    return mended


def _beside(path: str, kind: str) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    target = Path(f"{path}.{moment}.{kind}")
    number = 1
    while target.exists():
        number += 1
        target = Path(f"{path}.{moment}-{number}.{kind}")
    return target


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

_RULES: tuple[_Rule, ...] = (
    _Rule(
        "messages without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM {{messages}} AS t WHERE {_NO_SESSION}"),
        _running(
            "INSERT INTO {sessions} (session_id) SELECT DISTINCT t.session_id FROM {messages} AS t "
            f"WHERE {_NO_SESSION}"
        ),
    ),
    _Rule(
        "places on branches whose message is gone",
        _counting(f"SELECT COUNT(*) FROM message_structure AS t WHERE {_NO_MESSAGE}"),
        _running(
            "DELETE FROM message_structure WHERE id IN "
            f"(SELECT t.id FROM message_structure AS t WHERE {_NO_MESSAGE})"
        ),
    ),
    _Rule(
        "places on branches without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM message_structure AS t WHERE {_NO_SESSION}"),
        _running(
            "INSERT INTO {sessions} (session_id) SELECT DISTINCT t.session_id FROM message_structure AS t "
            f"WHERE {_NO_SESSION}"
        ),
    ),
    _Rule(
        "usage rows without their conversation's row",
        _counting(f"SELECT COUNT(*) FROM turn_usage AS t WHERE {_NO_SESSION}"),
        _running(f"DELETE FROM turn_usage WHERE id IN (SELECT t.id FROM turn_usage AS t WHERE {_NO_SESSION})"),
    ),
    _Rule(
        "sequence numbers used twice on a branch",
        _counting(f"SELECT COUNT(*) FROM ({_DOUBLED}) AS d"),
        _renumber,
    ),
    _Rule(
        "turn states whose turn is gone",
        _counting(f"SELECT COUNT(*) FROM advchat_turns AS t WHERE {_NO_MESSAGE}"),
        _running(
            "DELETE FROM advchat_turns WHERE message_id IN "
            f"(SELECT t.message_id FROM advchat_turns AS t WHERE {_NO_MESSAGE})"
        ),
    ),
    _Rule(
        "turns marked as running that no process answers",
        _counting(f"SELECT COUNT(*) FROM advchat_turns AS t WHERE {_NOT_RUNNING}"),
        _running(f"UPDATE advchat_turns AS t SET status = 'interrupted' WHERE {_NOT_RUNNING}"),
    ),
    _Rule(
        "journal entries of turns that are gone",
        lambda connection, _: len(_lost_for_good(connection)),
        _forget_lost,
    ),
    _Rule(
        "conversations whose current branch is gone",
        _counting(f"SELECT COUNT(*) FROM advchat_conversations AS t WHERE {_NO_BRANCH}"),
        _running(f"UPDATE advchat_conversations AS t SET current_branch = 'main' WHERE {_NO_BRANCH}"),
    ),
)
