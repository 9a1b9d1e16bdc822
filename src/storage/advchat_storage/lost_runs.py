"""What a lost process was asking when it went: a request that nobody recorded.

Owns the ledger row for it: what it cost is unknown, so that every sum that it belongs to is a lower bound.
A run that had its last answer on record was asking nothing. Knows no items and no turn states.
"""

from __future__ import annotations

import sqlite3

from advchat_storage.journal_rows import entries
from advchat_storage.ledger import record
from advchat_storage.models import JournalEntry, RequestRecord

_CHARACTERS_PER_TOKEN = 4
_WHY = "the program was ended before the answer's end"


def unrecorded(connection: sqlite3.Connection) -> list[JournalEntry]:
    """Give the runs of lost processes that may have been asking a request, each until it has a row for it."""
    return [found for found in entries(connection) if not found.alive and _was_asking(connection, found.run_id)]


def record_lost(connection: sqlite3.Connection) -> int:
    """Write a row of unknown cost for each of them; gives how many there were."""
    lost = unrecorded(connection)
    for found in lost:
        record_lost_run(connection, found)
    return len(lost)


def record_lost_run(connection: sqlite3.Connection, lost: JournalEntry) -> None:
    """Write the row of one lost run, unless it was asking nothing or has its row."""
    if not _was_asking(connection, lost.run_id):
        return
    before = connection.execute(
        "SELECT model_asked, provider, agent, api FROM advchat_requests WHERE run_id = ? "
        "ORDER BY id DESC LIMIT 1",
        (lost.run_id,),
    ).fetchone()
    model, provider, agent, api = before or (None, None, None, None)
    came = len(lost.partial) + len(lost.reasoning)
    request = RequestRecord(
        request_id=_request_id(lost.run_id),
        run_id=lost.run_id,
        branch_id=lost.branch_id,
        turn=lost.turn,
        agent=agent,
        model_asked=model,
        model=None,
        provider=provider,
        api=api,
        started_at=lost.started_at,
        first_token_at=None,
        finished_at=lost.updated_at,
        status="stopped",
        # Of a run of several requests the journal does not tell what came of the last one.
        estimated_output_tokens=-(-came // _CHARACTERS_PER_TOKEN) if before is None else None,
        error=_WHY,
        price_note="its usage is not known",
    )
    record(connection, session_id=lost.conversation_id, request=request)


def _was_asking(connection: sqlite3.Connection, run_id: str) -> bool:
    rows = connection.execute(
        "SELECT status, tools, agent FROM advchat_requests WHERE run_id = ? ORDER BY id", (run_id,)
    ).fetchall()
    if not rows:
        return True
    (_, _, first_agent), (status, tools, agent) = rows[0], rows[-1]
    # Another request follows a failed one that is tried again, tool calls, and an agent that another one asked.
    return bool(status == "failed" or (status == "completed" and (tools != "[]" or agent != first_agent)))


def _request_id(run_id: str) -> str:
    return f"{run_id}-lost"
