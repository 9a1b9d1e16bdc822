"""The search index: what is in it, and how it follows the messages. SQLite alone.

Owns the full-text tables and the documents behind them. The index follows a watermark over message rows,
whose IDs grow and are never reused, so it also takes in what the SDK's own class writes. Two structures
share the work: SQLite's trigram index finds terms of three characters and more; the distinct single and
double characters of a message are the words of a second index, for shorter terms. Where this SQLite has no
trigram index, the documents alone are kept, and a search reads through them.
"""

from __future__ import annotations

import itertools
import sqlite3

from advchat_storage.ownership import Tables
from advchat_storage.parsing import parse
from advchat_storage.wording import folded, spoken

BATCH = 100
"""Messages taken in by one transaction: some tens of milliseconds, so that no other write waits long."""
_BATCH_CHARACTERS = 60_000

_MOST_GRAMS = 24
"""Trigrams of a long term that are asked for: more would not narrow it down."""

VERSION = 1
"""Of the folding and the grams; another number in the file means that the index is made anew."""

_TABLES = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS advchat_search_long USING fts5("
    "folded, content = 'advchat_search_documents', content_rowid = 'message_id', "
    "tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS advchat_search_short USING fts5("
    "grams, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0)",
)

# Characters that separate words for SQLite's ascii tokenizer, moved to where it takes them for letters.
_LETTERS = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum()}


def candidates(term: str) -> tuple[str, str]:
    """Give table and query that find, for a folded term, all messages that hold it, and a few that may.

    The trigram index keeps no places, which makes it a third of the size: what has all trigrams of a term
    mostly has the term, and is read to be sure.
    """
    if len(term) < 3:
        return "advchat_search_short", _quoted(term.translate(_LETTERS))
    grams = sorted({term[start : start + 3] for start in range(len(term) - 2)})
    step = -(-len(grams) // _MOST_GRAMS)
    return "advchat_search_long", " AND ".join(map(_quoted, grams[::step]))


def watermark(connection: sqlite3.Connection) -> int:
    """Give the newest message row that the index has seen."""
    return _state(connection, "watermark") if _state(connection, "version") == VERSION else 0


def pending(connection: sqlite3.Connection, *, tables: Tables) -> bool:
    """Tell whether there are messages above the watermark."""
    row = connection.execute(f"SELECT MAX(id) FROM {tables.messages}").fetchone()
    return int(row[0] or 0) > watermark(connection)


def has_full_text(connection: sqlite3.Connection) -> bool:
    """Tell whether this SQLite can use, and this file has, the full-text tables."""
    return _state(connection, "full_text") == 1 and _can_full_text(connection)


def take_in(connection: sqlite3.Connection, *, tables: Tables) -> bool:
    """Index the next messages above the watermark; gives whether more are waiting."""
    _make_ready(connection)
    seen = watermark(connection)
    rows = connection.execute(
        f"SELECT id, session_id, message_data FROM {tables.messages} WHERE id > ? ORDER BY id LIMIT ?",
        (seen, BATCH),
    )
    taken = characters = 0
    full_text = has_full_text(connection)
    for message, session, data in rows.fetchall():
        said = spoken(parse(data))
        if said is not None and said[1]:
            _add(connection, message, session, said[0], folded(said[1]), full_text=full_text)
            characters += len(said[1])
        seen, taken = message, taken + 1
        if characters > _BATCH_CHARACTERS:
            break
    _set_state(connection, "watermark", seen)
    return taken > 0 and pending(connection, tables=tables)


def sweep(connection: sqlite3.Connection, *, tables: Tables) -> int:
    """Take out the documents of messages that are gone, whoever removed them; gives how many."""
    _make_ready(connection)
    rows = connection.execute(
        "SELECT d.message_id, d.folded FROM advchat_search_documents AS d WHERE NOT EXISTS "
        f"(SELECT 1 FROM {tables.messages} AS m WHERE m.id = d.message_id) LIMIT ?",
        (BATCH,),
    ).fetchall()
    full_text = has_full_text(connection)
    for message, text in rows:
        if full_text:
            connection.execute(
                "INSERT INTO advchat_search_long (advchat_search_long, rowid, folded) VALUES ('delete', ?, ?)",
                (message, text),
            )
            connection.execute(
                "INSERT INTO advchat_search_short (advchat_search_short, rowid, grams) VALUES ('delete', ?, ?)",
                (message, _grams(text)),
            )
        connection.execute("DELETE FROM advchat_search_documents WHERE message_id = ?", (message,))
    return len(rows)


def rebuild(connection: sqlite3.Connection) -> None:
    """Forget the whole index; it is made anew by ``take_in``."""
    for table in ("advchat_search_long", "advchat_search_short"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute("DELETE FROM advchat_search_documents")
    connection.execute("DELETE FROM advchat_search_state")


def problem(connection: sqlite3.Connection) -> str | None:
    """Say what is wrong with the full-text tables; None when nothing is, or there are none."""
    if not has_full_text(connection):
        return None
    try:
        for table in ("advchat_search_long", "advchat_search_short"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _add(
    connection: sqlite3.Connection, message: int, session: str, role: str, text: str, *, full_text: bool
) -> None:
    connection.execute(
        "INSERT INTO advchat_search_documents (message_id, session_id, role, folded) VALUES (?, ?, ?, ?)",
        (message, session, role, text),
    )
    if full_text:
        connection.execute("INSERT INTO advchat_search_long (rowid, folded) VALUES (?, ?)", (message, text))
        connection.execute(
            "INSERT INTO advchat_search_short (rowid, grams) VALUES (?, ?)", (message, _grams(text))
        )


def _grams(text: str) -> str:
    """Give the distinct single and double characters of a text as words."""
    moved = text.translate(_LETTERS)
    grams = set(moved)
    grams.update(map("".join, itertools.pairwise(moved)))
    return " ".join(grams)


def _make_ready(connection: sqlite3.Connection) -> None:
    version = _state(connection, "version")
    if version == VERSION:
        return
    if version:
        rebuild(connection)
    if _can_full_text(connection):
        for statement in _TABLES:
            connection.execute(statement)
        _set_state(connection, "full_text", 1)
    _set_state(connection, "version", VERSION)


def _can_full_text(connection: sqlite3.Connection) -> bool:
    if sqlite3.sqlite_version_info < (3, 34):
        return False
    row = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    return row is not None


def _state(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM advchat_search_state WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else int(row[0])


def _set_state(connection: sqlite3.Connection, name: str, value: int) -> None:
    connection.execute(
        "INSERT INTO advchat_search_state (name, value) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
