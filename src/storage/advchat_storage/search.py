"""Search over what users and assistants said.

Owns the question: a term is found as it is written, whatever its case, script or length, each message
once however many branches show it, newest first, and only where some branch outside the bin still shows
it. Knows how to ask the index, not how it is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from advchat_storage.clock import normal
from advchat_storage.conversation_rows import conversation_titles
from advchat_storage.models import SearchHit
from advchat_storage.ownership import Tables
from advchat_storage.parsing import parse
from advchat_storage.place import MAIN
from advchat_storage.search_index import candidates, has_full_text, watermark
from advchat_storage.wording import Role, excerpt, folded, spoken

EXCERPT = 160
MANY = 2000
"""Messages above the watermark from which taking them in first is quicker than reading them each time."""
SMALL_CONVERSATION = 3000
"""Messages of a conversation up to which reading them is quicker than asking the whole file's index."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for, and where."""

    term: str
    """Folded."""
    conversation_id: str | None = None
    branch_id: str | None = None
    limit: int = 50


def needs_index(connection: sqlite3.Connection, *, tables: Tables) -> bool:
    """Tell whether so many messages wait to be taken in that a search should not read them itself."""
    row = connection.execute(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {tables.messages} WHERE id > ? LIMIT ?) AS waiting",
        (watermark(connection), MANY),
    ).fetchone()
    return int(row[0]) == MANY


def search(
    connection: sqlite3.Connection,
    *,
    tables: Tables,
    term: str,
    conversation_id: str | None = None,
    branch_id: str | None = None,
    limit: int = 50,
) -> list[SearchHit]:
    """Give the newest ``limit`` messages that hold ``term``, in one branch, one conversation or all.

    White space around the term is no part of it; a blank term finds nothing. Messages above the index's
    watermark are read one by one, so nothing is missed.
    """
    question = Question(folded(term.strip()), conversation_id, branch_id, limit)
    if not question.term or limit <= 0:
        return []
    found: list[tuple[int, str, int]] = []
    for message in _candidates(connection, tables, question):
        place = _place(connection, message, question)
        if place is not None:
            found.append((message, *place))
            if len(found) == limit:
                break
    return _hits(connection, tables, question, found)


def _candidates(connection: sqlite3.Connection, tables: Tables, question: Question) -> Iterator[int]:
    """Yield the rows of messages that hold the term, newest first."""
    yield from _unindexed(connection, tables, question)
    if watermark(connection) == 0:
        return
    values: dict[str, Any] = {"term": question.term, "session": question.conversation_id}
    source, condition = "advchat_search_documents AS d", "instr(d.folded, :term) > 0"
    if question.conversation_id is not None:
        condition += " AND d.session_id = :session"
    if has_full_text(connection) and not _is_small(connection, question.conversation_id):
        table, values["match"] = candidates(question.term)
        source = f"{table} AS f CROSS JOIN {source} ON d.message_id = f.rowid"
        condition = f"{table} MATCH :match AND {condition}"
        order = "f.rowid"
    else:
        order = "d.message_id"
    statement = f"SELECT {order} FROM {source} WHERE {condition} ORDER BY {order} DESC"
    for row in connection.execute(statement, values):
        yield row[0]


def _unindexed(connection: sqlite3.Connection, tables: Tables, question: Question) -> Iterator[int]:
    one = "" if question.conversation_id is None else " AND session_id = :session"
    rows = connection.execute(
        f"SELECT id, message_data FROM {tables.messages} WHERE id > :seen{one} ORDER BY id DESC",
        {"seen": watermark(connection), "session": question.conversation_id},
    )
    for message, data in rows:
        said = spoken(parse(data))
        if said is not None and question.term in folded(said[1]):
            yield message


def _is_small(connection: sqlite3.Connection, session_id: str | None) -> bool:
    if session_id is None:
        return False
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM advchat_search_documents WHERE session_id = ? LIMIT ?) AS some",
        (session_id, SMALL_CONVERSATION + 1),
    ).fetchone()
    return int(row[0]) <= SMALL_CONVERSATION


def _place(connection: sqlite3.Connection, message: int, question: Question) -> tuple[str, int] | None:
    """Give branch and turn where a message is shown; None when no branch outside the bin shows it."""
    rows = connection.execute(
        """SELECT s.branch_id, s.user_turn_number, s.branch_id = COALESCE(c.current_branch, :main)
        FROM message_structure AS s
        LEFT JOIN advchat_conversations AS c ON c.session_id = s.session_id
        LEFT JOIN advchat_branches AS b ON b.session_id = s.session_id AND b.branch_id = s.branch_id
        WHERE s.message_id = :message
            AND (:branch IS NULL AND (b.binned_at IS NULL OR s.branch_id = :main) OR s.branch_id = :branch)
        ORDER BY 3 DESC, s.id LIMIT 1""",
        {"message": message, "branch": question.branch_id, "main": MAIN},
    ).fetchone()
    return None if rows is None else (rows[0], rows[1] or 0)


def _hits(
    connection: sqlite3.Connection, tables: Tables, question: Question, found: list[tuple[int, str, int]]
) -> list[SearchHit]:
    rows: dict[int, tuple[str, str, Role, str]] = {}
    for message, _, _ in found:
        session, created, data = connection.execute(
            f"SELECT session_id, created_at, message_data FROM {tables.messages} WHERE id = ?", (message,)
        ).fetchone()
        said = spoken(parse(data))
        if said is not None:
            rows[message] = (session, normal(created or ""), *said)
    titles = conversation_titles(connection, tables=tables, session_ids=list({row[0] for row in rows.values()}))
    hits = []
    for message, branch, turn in found:
        if message in rows:
            session, created, role, text = rows[message]
            shown, match = excerpt(text, question.term, EXCERPT)
            hits.append(
                SearchHit(
                    conversation_id=session,
                    conversation_title=titles.get(session, ""),
                    branch_id=branch,
                    turn=turn,
                    role=role,
                    message_id=message,
                    excerpt=shown,
                    match=match,
                    created_at=created,
                )
            )
    return hits
