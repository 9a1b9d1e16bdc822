"""Runs as the file sees them: begun, journaled, ended, or left behind by a lost process.

Owns the transactions that keep prompt, journal, turn state and draft in step. Knows no model.
"""

from __future__ import annotations

import sqlite3

from advchat_storage.conversations import ensure_conversation, name_after_first_prompt
from advchat_storage.drafts import forget_draft
from advchat_storage.errors import BranchBusyError
from advchat_storage.history import append, last_turn, rows_of
from advchat_storage.journal_rows import add_entry, entries, entry, remove_entry
from advchat_storage.ledger import first_message
from advchat_storage.lost_runs import record_lost_run
from advchat_storage.models import Item, JournalEntry, RunStatus
from advchat_storage.ownership import Tables
from advchat_storage.place import Scope, require_branch
from advchat_storage.processes import this_process
from advchat_storage.turn_states import set_turn_status


def begin_run(
    connection: sqlite3.Connection,
    *,
    scope: Scope,
    path: str,
    run_id: str,
    branch_id: str,
    prompt: str,
    item: Item | None,
) -> tuple[int, int]:
    """Put a prompt on its branch and note that it is being answered; gives its turn and message row.

    ``item`` is the user message as the model will see it, ``prompt`` its words; None answers the branch's
    newest turn again, whose prompt stands there. A partial answer that a lost run left at the end of the branch
    is kept as an item first. Raises ``ValueError`` for an unknown branch, and ``BranchBusyError``, which names
    the file at ``path``, while another process answers on it.
    """
    session = scope.session_id
    require_branch(connection, session, branch_id)
    for other in entries(connection, session_id=session, branch_id=branch_id):
        if not other.alive:
            _resolve(connection, scope, other, keep=True)
        elif other.pid != this_process().pid:
            raise BranchBusyError(
                path,
                f"another advchat (process {other.pid}) is answering on branch '{branch_id}'",
                "Wait for it, or fork",
            )
    if item is None:
        turn, message = _newest_turn(connection, session, branch_id)
    else:
        turn, message = append(connection, scope, branch_id, rows_of([item]))
    ensure_conversation(connection, session_id=session)
    name_after_first_prompt(connection, tables=scope.tables, session_id=session)
    add_entry(
        connection,
        run_id=run_id,
        session_id=session,
        branch_id=branch_id,
        turn=turn,
        message_id=message,
        prompt=prompt,
    )
    set_turn_status(connection, session_id=session, message_id=message, status="running")
    forget_draft(connection, session_id=session, branch_id=branch_id)
    return turn, message


def _newest_turn(connection: sqlite3.Connection, session_id: str, branch_id: str) -> tuple[int, int]:
    turn = last_turn(connection, session_id, branch_id)
    message = None
    if turn:
        message = first_message(connection, session_id=session_id, branch_id=branch_id, turn=turn)
    if turn is None or message is None:
        raise ValueError(f"Branch '{branch_id}' has no turn to answer")
    return turn, message


def end_run(
    connection: sqlite3.Connection, *, run_id: str, status: RunStatus, error: str | None = None
) -> bool:
    """Keep how a run ended and forget its journal; False when the run is over already."""
    ended = entry(connection, run_id=run_id)
    if ended is None:
        return False
    if ended.message_id is not None:
        set_turn_status(
            connection,
            session_id=ended.conversation_id,
            message_id=ended.message_id,
            status=status,
            error=error,
        )
    remove_entry(connection, run_id=run_id)
    return True


def resolve_interrupted(connection: sqlite3.Connection, *, tables: Tables, run_id: str, keep: bool) -> bool:
    """Keep a lost run's partial answer as an item of its branch, or discard it; the turn stays interrupted.

    It is kept only while its turn is the newest of the branch: history is never changed in the middle. False
    when there is no such run, or it is still alive.
    """
    lost = entry(connection, run_id=run_id)
    if lost is None or lost.alive:
        return False
    _resolve(connection, Scope(lost.conversation_id, tables), lost, keep=keep)
    return True


def _resolve(connection: sqlite3.Connection, scope: Scope, lost: JournalEntry, *, keep: bool) -> None:
    record_lost_run(connection, lost)
    if keep and lost.partial.strip() and _awaits_answer(connection, lost):
        answer = {"role": "assistant", "content": lost.partial}
        append(connection, scope, lost.branch_id, rows_of([answer]))
    end_run(connection, run_id=lost.run_id, status="interrupted")


def _awaits_answer(connection: sqlite3.Connection, lost: JournalEntry) -> bool:
    """Tell whether the run's turn is still the newest of its branch."""
    row = connection.execute(
        "SELECT MAX(user_turn_number) FROM message_structure WHERE session_id = ? AND branch_id = ?",
        (lost.conversation_id, lost.branch_id),
    ).fetchone()
    if row[0] != lost.turn:
        return False
    first = first_message(connection, session_id=lost.conversation_id, branch_id=lost.branch_id, turn=lost.turn)
    return first == lost.message_id
