"""The journal's rows: runs in progress, and those that a lost process left behind.

Owns the reading and the changing of ``advchat_journal``, and telling the living from the lost. Knows no
items and no turn states.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from advchat_storage.clock import now
from advchat_storage.models import JournalEntry
from advchat_storage.processes import Process, alive, this_process
from advchat_storage.wording import storable

_COLUMNS = (
    "run_id, session_id, branch_id, turn, message_id, prompt, partial, reasoning, started_at, updated_at, "
    "pid, host, process_started"
)


def add_entry(
    connection: sqlite3.Connection,
    *,
    run_id: str,
    session_id: str,
    branch_id: str,
    turn: int,
    message_id: int | None,
    prompt: str,
) -> None:
    """Note that this process answers ``prompt``. Raises ``sqlite3.IntegrityError`` for a known ``run_id``."""
    mine, moment = this_process(), now()
    connection.execute(
        f"INSERT INTO advchat_journal ({_COLUMNS}) VALUES (:run, :session, :branch, :turn, :message, :prompt, "
        "'', '', :moment, :moment, :pid, :host, :started)",
        {
            "run": run_id,
            "session": session_id,
            "branch": branch_id,
            "turn": turn,
            "message": message_id,
            "prompt": storable(prompt),
            "moment": moment,
            "pid": mine.pid,
            "host": mine.host,
            "started": mine.started,
        },
    )


def write_partial(connection: sqlite3.Connection, *, run_id: str, partial: str, reasoning: str = "") -> bool:
    """Keep the answer so far; False when the run is over already."""
    written = connection.execute(
        "UPDATE advchat_journal SET partial = ?, reasoning = ?, updated_at = ? WHERE run_id = ?",
        (storable(partial), storable(reasoning), now(), run_id),
    )
    return written.rowcount == 1


def remove_entry(connection: sqlite3.Connection, *, run_id: str) -> None:
    """Forget a run that is over."""
    connection.execute("DELETE FROM advchat_journal WHERE run_id = ?", (run_id,))


def entry(connection: sqlite3.Connection, *, run_id: str) -> JournalEntry | None:
    """Give one run's entry; None when there is none."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM advchat_journal WHERE run_id = ?", (run_id,)).fetchone()
    return None if found is None else _as_entry(found)


def entries(
    connection: sqlite3.Connection, *, session_id: str | None = None, branch_id: str | None = None
) -> list[JournalEntry]:
    """Give the entries, oldest first, of one conversation or branch when asked for one."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM advchat_journal WHERE (:session IS NULL OR session_id = :session) "
        "AND (:branch IS NULL OR branch_id = :branch) ORDER BY started_at, run_id",
        {"session": session_id, "branch": branch_id},
    )
    return [_as_entry(row) for row in rows]


def lost_entries(connection: sqlite3.Connection, *, session_id: str | None = None) -> list[JournalEntry]:
    """Give the entries whose process is gone and whose turn its branch still shows."""
    return [
        found
        for found in entries(connection, session_id=session_id)
        if not found.alive and is_shown(connection, found)
    ]


def running_messages(connection: sqlite3.Connection, *, session_id: str) -> set[int]:
    """Give the first messages of the turns that a living process answers."""
    living = (found for found in entries(connection, session_id=session_id) if found.alive)
    return {found.message_id for found in living if found.message_id is not None}


def is_shown(connection: sqlite3.Connection, found: JournalEntry) -> bool:
    """Tell whether the run's branch still shows the turn it answers."""
    row = connection.execute(
        "SELECT 1 FROM message_structure WHERE session_id = ? AND branch_id = ? AND user_turn_number = ? "
        "AND message_id = ?",
        (found.conversation_id, found.branch_id, found.turn, found.message_id),
    ).fetchone()
    return row is not None


def _as_entry(row: tuple[Any, ...]) -> JournalEntry:
    run, session, branch, turn, message, prompt, partial, reasoning, started, updated, pid, host, begun = row
    return JournalEntry(
        run_id=run,
        conversation_id=session,
        branch_id=branch,
        turn=turn,
        message_id=message,
        prompt=prompt,
        partial=partial,
        reasoning=reasoning,
        started_at=started,
        updated_at=updated,
        pid=pid,
        alive=alive(Process(pid, host, begun), last_sign=updated),
    )
