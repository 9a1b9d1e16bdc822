"""Branches: forked, switched, listed, deleted, binned, named.

Functions take the plain connection first and run inside a transaction of the caller. A fork copies
structure rows in one statement; messages are shared. Knows neither sessions nor the tree.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from dataclasses import dataclass
from typing import Any, Literal

from advchat_storage import clock
from advchat_storage.branch_rows import NEVER, add_missing, creation_order
from advchat_storage.place import BY_ITS_ROWS, MAIN, REMOVED, STAYS, Scope, require_branch
from advchat_storage.remembering import remembered

ForkPoint = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Fork:
    """A branch to be made: where it parts from its source, and what it is called."""

    source: str
    turn: int
    kind: ForkPoint = "before"
    branch_id: str | None = None
    """None generates an ID; one that was given must never have been used."""
    title: str = ""
    title_source: str = "none"


def require_name(branch_id: str | None) -> None:
    """Raise ``ValueError`` for a name without a visible character."""
    if branch_id is not None and not branch_id.strip():
        raise ValueError("Branch name cannot be empty")


def fork(connection: sqlite3.Connection, scope: Scope, wanted: Fork) -> str:
    """Make a branch that holds what came before (or up to and with) a user turn; gives its ID.

    Raises ``ValueError`` when the source has no user message at that turn, or the ID was ever used.
    """
    session = scope.session_id
    _require_user_turn(connection, session, wanted.source, wanted.turn)
    branch_id = _reserve(connection, session, wanted)
    moment = clock.now()
    for branch in (wanted.source, MAIN):
        add_missing(connection, session, branch, moment)
    last = wanted.turn - 1 if wanted.kind == "before" else wanted.turn
    copied = _copy(connection, session, wanted.source, branch_id, last)
    connection.execute(
        "INSERT INTO advchat_branches (session_id, branch_id, parent, fork_turn, fork_kind, title, "
        "title_source, created_at, last_used_at, gone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            branch_id,
            wanted.source,
            last + 1,
            wanted.kind,
            wanted.title,
            wanted.title_source,
            moment,
            moment,
            BY_ITS_ROWS if copied else STAYS,
        ),
    )
    return branch_id


def remember_current(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Keep which branch is current, for sessions that resume it."""
    moment = clock.now()
    connection.execute(
        "INSERT INTO advchat_conversations (session_id, created_at, updated_at, current_branch) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET current_branch = excluded.current_branch",
        (session_id, moment, moment, branch_id),
    )


def leave(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Let ``main`` be the kept current branch where ``branch_id`` was."""
    connection.execute(
        "UPDATE advchat_conversations SET current_branch = 'main' WHERE session_id = ? AND current_branch = ?",
        (session_id, branch_id),
    )


def delete(connection: sqlite3.Connection, scope: Scope, branch_id: str) -> None:
    """Remove a branch for good; messages that other branches show stay, and so does what was paid."""
    place = {"session": scope.session_id, "branch": branch_id}
    only_here = _only_here(connection, place)
    for table in ("message_structure", "turn_usage", "advchat_drafts"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = :session AND branch_id = :branch", place)
    connection.executemany(f"DELETE FROM {scope.tables.messages} WHERE id = ?", only_here)
    connection.executemany(
        "DELETE FROM advchat_turns WHERE session_id = ? AND message_id = ?",
        [(scope.session_id, message) for (message,) in only_here],
    )
    connection.execute(
        "UPDATE advchat_branches SET gone = :gone WHERE session_id = :session AND branch_id = :branch",
        {**place, "gone": REMOVED},
    )


def _copy(connection: sqlite3.Connection, session: str, source: str, branch_id: str, last: int) -> int:
    """Give the new branch a row for each of the source's items up to turn ``last``; tells how many."""
    place = {"session": session, "source": source, "last": last}
    count, first, until, newest = connection.execute(_EXTENT, place).fetchone()
    if not count:
        return 0
    # Few gaps may be copied, which is quicker; many would double the numbers with each fork.
    few_gaps = until - first < 2 * count
    connection.execute(
        _SHIFTED if few_gaps else _NUMBERED,
        {**place, "branch": branch_id, "until": until, "shift": newest + 1 - first if few_gaps else newest},
    )
    return int(count)


def _only_here(connection: sqlite3.Connection, place: dict[str, str]) -> list[tuple[int]]:
    """Give the messages that no other branch shows.

    Branches share what stands before a message that they share, so the first shared one from the end is
    the end of the search.
    """
    rows = connection.execute(_BACKWARDS, place)
    only_here = [(message,) for message, _ in itertools.takewhile(lambda row: not row[1], rows)]
    rows.close()
    return only_here


def listing(connection: sqlite3.Connection, session_id: str, current: str) -> list[dict[str, Any]]:
    """Give the branches in order of creation, the bin left out, as the SDK's class shows them."""
    listed = remembered(connection, ("listing", session_id), lambda: _listed(connection, session_id))
    return [
        {
            "branch_id": branch_id,
            "message_count": messages,
            "user_turns": turns,
            "is_current": branch_id == current,
            "created_at": created,
        }
        for branch_id, messages, turns, created in listed
    ]


def _listed(connection: sqlite3.Connection, session_id: str) -> list[tuple[str, int, int, str]]:
    recorded = {row[0]: row for row in connection.execute(_RECORDED, (session_id,))}
    order = creation_order(connection, session_id)
    listed: list[tuple[str, int, int, str]] = []
    for branch_id, messages, turns, created in connection.execute(_FILLED, {"session": session_id}):
        known = recorded.pop(branch_id, None)
        if known is None or known[1] is None or branch_id == MAIN:
            listed.append((branch_id, messages, turns or 0, created))
    for branch_id, binned_at, gone, created in recorded.values():
        if gone == STAYS and binned_at is None:
            listed.append((branch_id, 0, 0, created.replace("T", " ")[:19]))
    return sorted(listed, key=lambda row: (row[0] != MAIN, order.get(row[0], NEVER)))


def move_to_bin(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Put a branch into the bin: kept whole, left out of lists."""
    if branch_id == MAIN:
        raise ValueError("Cannot delete the 'main' branch")
    _change(connection, session_id, branch_id, "binned_at = COALESCE(binned_at, :value)", clock.now())


def restore(connection: sqlite3.Connection, session_id: str, branch_id: str) -> None:
    """Take a branch out of the bin."""
    _change(connection, session_id, branch_id, "binned_at = :value", None)


def rename(connection: sqlite3.Connection, session_id: str, branch_id: str, title: str, source: str) -> bool:
    """Give a branch a title; False where an automatic title met one that somebody gave.

    ``none`` gives an untitled branch its state back.
    """
    condition = " AND title_source <> 'manual'" if source == "auto" else ""
    return _change(
        connection,
        session_id,
        branch_id,
        "title = :value, title_source = :source",
        title,
        source=source,
        condition=condition,
    )


def set_pinned(connection: sqlite3.Connection, session_id: str, branch_id: str, pinned: bool) -> None:
    """Pin a branch, or let it go."""
    _change(connection, session_id, branch_id, "pinned = :value", int(pinned))


def set_budget(connection: sqlite3.Connection, session_id: str, branch_id: str, nano: int | None) -> None:
    """Limit a branch's own spend, in nano-dollars, or lift the limit."""
    _change(connection, session_id, branch_id, "budget_nano = :value", nano)


def set_unread(connection: sqlite3.Connection, session_id: str, branch_id: str, unread: bool) -> None:
    """Mark that a branch has news nobody has seen, or that it was seen."""
    _change(connection, session_id, branch_id, "unread = :value", int(unread))


_EXTENT = """
SELECT COUNT(*), MIN(sequence_number), MAX(sequence_number),
    (SELECT MAX(sequence_number) FROM message_structure WHERE session_id = :session)
FROM message_structure
WHERE session_id = :session AND branch_id = :source AND sequence_number < COALESCE(
    (SELECT MIN(sequence_number) FROM message_structure
        WHERE session_id = :session AND branch_id = :source AND user_turn_number = :last + 1),
    9223372036854775807)
"""

_COPY = """
INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number,
    user_turn_number, branch_turn_number, tool_name)
SELECT session_id, message_id, :branch, message_type, {sequence},
    user_turn_number, user_turn_number, tool_name
FROM message_structure
WHERE session_id = :session AND branch_id = :source AND sequence_number <= :until
ORDER BY sequence_number
"""
_SHIFTED = _COPY.format(sequence="sequence_number + :shift")
_NUMBERED = _COPY.format(sequence=":shift + ROW_NUMBER() OVER (ORDER BY sequence_number)")

# Row numbers are in every index, so that a message's other rows are found without reading them.
_BACKWARDS = """
SELECT here.message_id, EXISTS (
    SELECT 1 FROM message_structure AS other WHERE other.message_id = here.message_id AND other.id <> here.id
)
FROM message_structure AS here WHERE here.session_id = :session AND here.branch_id = :branch
ORDER BY here.sequence_number DESC
"""

# From one branch to the next by the index; the narrowest index is counted, and what else is told of a branch
# is at an end of another one.
_FILLED = """
WITH RECURSIVE filled (branch_id) AS (
    SELECT MIN(branch_id) FROM message_structure WHERE session_id = :session
    UNION ALL
    SELECT (
        SELECT MIN(branch_id) FROM message_structure
        WHERE session_id = :session AND branch_id > filled.branch_id
    ) FROM filled WHERE branch_id IS NOT NULL
)
SELECT branch_id,
    (SELECT COUNT(*) FROM message_structure INDEXED BY idx_structure_branch
        WHERE session_id = :session AND branch_id = filled.branch_id),
    (SELECT MAX(user_turn_number) FROM message_structure
        WHERE session_id = :session AND branch_id = filled.branch_id),
    (SELECT created_at FROM message_structure WHERE session_id = :session AND branch_id = filled.branch_id
        ORDER BY sequence_number LIMIT 1)
FROM filled WHERE branch_id IS NOT NULL
"""

_RECORDED = """
SELECT branch_id, binned_at, gone, created_at FROM advchat_branches WHERE session_id = ?
"""


def _require_user_turn(connection: sqlite3.Connection, session_id: str, branch_id: str, turn: int) -> None:
    row = connection.execute(
        "SELECT 1 FROM message_structure WHERE session_id = ? AND branch_id = ? AND user_turn_number = ? "
        "AND message_type = 'user' LIMIT 1",
        (session_id, branch_id, turn),
    ).fetchone()
    if row is None:
        raise ValueError(f"Turn {turn} does not contain a user message in branch '{branch_id}'")


def _reserve(connection: sqlite3.Connection, session_id: str, wanted: Fork) -> str:
    if wanted.branch_id is not None:
        if not _take(connection, session_id, wanted.branch_id):
            raise ValueError(f"Branch ID '{wanted.branch_id}' has already been used. Choose a new branch ID.")
        return wanted.branch_id
    stem = f"branch_{'from' if wanted.kind == 'before' else 'after'}_turn_{wanted.turn}_{int(time.time())}"
    candidates = itertools.chain([stem], (f"{stem}_{number}" for number in itertools.count(2)))
    return next(name for name in candidates if _take(connection, session_id, name))


def _take(connection: sqlite3.Connection, session_id: str, branch_id: str) -> bool:
    if branch_id == MAIN:
        return False
    cursor = connection.execute(
        "INSERT OR IGNORE INTO branch_reservations (session_id, branch_id) VALUES (?, ?)",
        (session_id, branch_id),
    )
    return cursor.rowcount == 1


def _change(
    connection: sqlite3.Connection,
    session_id: str,
    branch_id: str,
    assignment: str,
    value: str | int | None,
    *,
    source: str | None = None,
    condition: str = "",
) -> bool:
    require_branch(connection, session_id, branch_id)
    add_missing(connection, session_id, branch_id, clock.now())
    cursor = connection.execute(
        f"UPDATE advchat_branches SET {assignment} "
        f"WHERE session_id = :session AND branch_id = :branch{condition}",
        {"session": session_id, "branch": branch_id, "value": value, "source": source},
    )
    return cursor.rowcount == 1
