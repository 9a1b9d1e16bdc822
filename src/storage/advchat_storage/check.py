"""Looking for damage in a file, and mending what can be mended without losing a word.

Owns the order of looking and mending; the kinds of faults are in ``check_rules``. Everything is looked at
again inside the transaction that mends it, and a backup comes first. Damaged pages are beyond mending in
place: what can be read goes to a new file (``salvage``).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from advchat_storage import search_index
from advchat_storage.backup import backup
from advchat_storage.check_rules import RULES
from advchat_storage.database import Database, settled
from advchat_storage.errors import CorruptDatabaseError, ReadOnlyError
from advchat_storage.models import CheckReport
from advchat_storage.opening import MEMORY
from advchat_storage.ownership import Tables, owner_of
from advchat_storage.salvage import salvage

_INDEX_FAULTS = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


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
    counted = ((rule.count(connection, tables), rule) for rule in RULES)
    return [f"{count} {rule.finding}" for count, rule in counted if count]


def _mend(connection: sqlite3.Connection) -> list[str]:
    tables = owner_of(connection) or Tables()
    mended = []
    for rule in RULES:
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
