"""Which user messages of a branch may hold a term: by the search index where that pays, else by reading them.

Owns a choice that is made for speed alone; whoever asks still looks at each message. Functions take the
plain connection first, run inside a transaction of the caller and change nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from advchat_storage.place import Scope
from advchat_storage.search_index import candidates, has_full_text, watermark
from advchat_storage.wording import folded, storable

Row = tuple[int, bytes, str, int]
"""Turn, item, time and sequence number of a user message."""

LONG = 1000
"""User turns from which asking the index is quicker than reading them."""
SHORTEST_TERM = 4
MANY = 2000
"""Messages that may hold the term, in the whole file, from which reading the branch is quicker."""

LONGEST_PATTERN = 10_000
"""Characters of a term that are asked of SQLite, which refuses patterns of more than 50 000 bytes."""


def user_rows(connection: sqlite3.Connection, scope: Scope, branch: str, term: str = "") -> Iterator[Row]:
    """Yield the branch's user messages, oldest first; of those without ``term`` some may be left out."""
    values = {"session": scope.session_id, "branch": branch}
    if not term:
        return iter(connection.execute(_query(scope), values))
    patterns = _patterns(term)
    match = _index_query(connection, scope, branch, term)
    if match is None:
        return iter(connection.execute(_query(scope, patterns), {**values, **patterns}))
    return _by_index(connection, scope, branch, patterns, match)


def _query(scope: Scope, patterns: dict[str, str] | None = None, source: str = "", condition: str = "") -> str:
    matches = " OR ".join(f"m.message_data LIKE :{name} ESCAPE '~'" for name in patterns or ())
    return f"""
        SELECT s.user_turn_number, CAST(m.message_data AS BLOB), m.created_at, s.sequence_number
        FROM {source or "message_structure AS s"} CROSS JOIN {scope.tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = :session AND s.branch_id = :branch AND s.message_type = 'user'
            {f"AND ({matches})" if matches else ""} {condition}
        ORDER BY s.sequence_number
    """


def _by_index(
    connection: sqlite3.Connection, scope: Scope, branch: str, patterns: dict[str, str], match: tuple[str, str]
) -> Iterator[Row]:
    table, wanted = match
    placed = "message_structure AS s INDEXED BY advchat_structure_message"
    values = {"session": scope.session_id, "branch": branch, **patterns}
    rows = connection.execute(
        _query(
            scope,
            patterns,
            f"{table} AS f CROSS JOIN {placed} ON s.message_id = f.rowid",
            f"AND {table} MATCH :wanted AND s.message_id <= :seen",
        ),
        {**values, "wanted": wanted, "seen": watermark(connection)},
    ).fetchall()
    rows += connection.execute(
        _query(scope, patterns, placed, "AND s.message_id > :seen"), {**values, "seen": watermark(connection)}
    ).fetchall()
    return iter(sorted(rows, key=lambda row: row[3]))


def _index_query(
    connection: sqlite3.Connection, scope: Scope, branch: str, term: str
) -> tuple[str, str] | None:
    """Give table and query of the index, where it has all that the term needs and the branch is long."""
    if len(term) < SHORTEST_TERM or not term.isascii() or not term.isprintable():
        return None
    turns = connection.execute(
        "SELECT MAX(user_turn_number) FROM message_structure WHERE session_id = ? AND branch_id = ?",
        (scope.session_id, branch),
    ).fetchone()[0]
    if (turns or 0) < LONG or not watermark(connection) or not has_full_text(connection):
        return None
    # What follows a term may compose with its last letter, and the index holds composed letters.
    table, wanted = candidates(folded(term[:-1]))
    hits = connection.execute(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?) AS hits", (wanted, MANY)
    ).fetchone()[0]
    return (table, wanted) if hits < MANY else None


def _patterns(term: str) -> dict[str, str]:
    """Give patterns of which a row's JSON matches one if its text holds the term: escaped, and as it is.

    Of a very long term, its beginning must do.
    """
    forms = {json.dumps(term, ensure_ascii=escaped)[1:-1] for escaped in (True, False)}
    storables = [form for form in sorted(forms) if form == storable(form)]
    return {f"form{number}": f"%{_literal(form[:LONGEST_PATTERN])}%" for number, form in enumerate(storables)}


def _literal(text: str) -> str:
    return text.replace("~", "~~").replace("%", "~%").replace("_", "~_")
