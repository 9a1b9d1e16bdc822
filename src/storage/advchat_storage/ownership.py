"""Whose tables a file holds.

Owns the names of the base tables and the reading of a file's claim: the foreign keys by which
``message_structure`` and ``turn_usage`` belong to one pair of base tables. Changes nothing.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from advchat_storage.errors import ForeignSchemaError
from advchat_storage.schema import exists

SESSIONS = "agent_sessions"
MESSAGES = "agent_messages"
_OWN = "advchat_"
_SESSIONS_COLUMNS = frozenset({"session_id", "created_at", "updated_at"})
_MESSAGES_COLUMNS = frozenset({"id", "session_id", "message_data", "created_at"})


@dataclass(frozen=True, slots=True)
class Tables:
    """The pair of base tables, as plain names; the properties give them quoted for statements."""

    sessions_name: str = SESSIONS
    messages_name: str = MESSAGES

    @property
    def sessions(self) -> str:
        """The sessions table, quoted."""
        return quoted(self.sessions_name)

    @property
    def messages(self) -> str:
        """The messages table, quoted."""
        return quoted(self.messages_name)

    def same_as(self, other: Tables) -> bool:
        """Tell whether both name the same tables, as SQLite compares names."""
        mine, theirs = (self.sessions_name, self.messages_name), (other.sessions_name, other.messages_name)
        return list(map(folded, mine)) == list(map(folded, theirs))

    def fill(self, statement: str) -> str:
        """Put the names into a statement that has ``{sessions}``, ``{messages}``, ``{messages_index}``."""
        index = quoted(f"idx_{self.messages_name}_session_id")
        return statement.format(sessions=self.sessions, messages=self.messages, messages_index=index)


def quoted(identifier: str) -> str:
    """Quote an identifier for SQL."""
    return '"' + identifier.replace('"', '""') + '"'


def identifier_name(text: str) -> str:
    """Give the plain name that ``text`` means as an SQL identifier: bare, or in any of SQLite's quotes."""
    for opening, closing in (('"', '"'), ("[", "]"), ("`", "`")):
        if len(text) >= 2 and text[0] == opening and text[-1] == closing:
            inner = text[1:-1]
            return inner if opening == "[" else inner.replace(closing * 2, closing)
    return text


def owner_of(connection: sqlite3.Connection) -> Tables | None:
    """Give the pair of base tables that the file belongs to; None when it has no such tables."""
    messages = _references(connection, "message_structure")
    sessions, items = messages.get("session_id", []), messages.get("message_id", [])
    if len(sessions) != 1 or len(items) != 1:
        return None
    return Tables(sessions[0][0], items[0][0])


def owner_problem(
    connection: sqlite3.Connection, tables: Tables, *, path: str, create_tables: bool
) -> ForeignSchemaError | None:
    """Give the refusal for a file that is not, and may not become, that of ``tables``; None if all is well."""
    structure, usage = (_references(connection, name) for name in ("message_structure", "turn_usage"))
    present = [name for name in ("message_structure", "turn_usage") if exists(connection, name)]
    if len(present) < 2 and not create_tables:
        return unclaimed(path)
    wanted = {
        "message_structure": {
            "session_id": (tables.sessions_name, "session_id"),
            "message_id": (tables.messages_name, "id"),
        },
        "turn_usage": {"session_id": (tables.sessions_name, "session_id")},
    }
    for table, found in (("message_structure", structure), ("turn_usage", usage)):
        if table in present:
            problem = _column_problem(table, found, wanted[table], tables, path)
            if problem is not None:
                return problem
    if not create_tables and not all(
        exists(connection, name) for name in (tables.sessions_name, tables.messages_name)
    ):
        return ForeignSchemaError(path, "the configured base tables are missing", _CREATE)
    return None


def foreign_problem(connection: sqlite3.Connection, path: str) -> ForeignSchemaError | None:
    """Give the refusal for a file that another program has filled; None for an empty one and for ours."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    names = {folded(name) for (name,) in connection.execute(query)}
    tables = owner_of(connection) or Tables()
    base = ((tables.sessions_name, _SESSIONS_COLUMNS), (tables.messages_name, _MESSAGES_COLUMNS))
    for table, wanted in base:
        columns = {folded(row[1]) for row in connection.execute(f"PRAGMA table_info({quoted(table)})")}
        if columns and not wanted <= columns:
            return ForeignSchemaError(path, f"its table {table} is another program's", _ANOTHER)
    known = {folded(name) for name, _ in base}
    if names and not names & known and not any(name.startswith(_OWN) for name in names):
        return ForeignSchemaError(path, "this is another program's database", _ANOTHER)
    return None


def _column_problem(
    table: str,
    found: dict[str, list[tuple[str, str]]],
    wanted: dict[str, tuple[str, str]],
    tables: Tables,
    path: str,
) -> ForeignSchemaError | None:
    for column, target in wanted.items():
        targets = found.get(column, [])
        if len(targets) != 1:
            problem = f"{table}.{column} has {len(targets)} foreign keys, not exactly one owner foreign key"
            return ForeignSchemaError(path, problem, "Use a new file, or one that this class has made")
        if [folded(name) for name in targets[0]] != [folded(name) for name in target]:
            return belongs_to_others(
                path, " and ".join(".".join(name) for names in found.values() for name in names), tables
            )
    return None


def belongs_to_others(path: str, owner: str, wanted: Tables) -> ForeignSchemaError:
    """Give the refusal for a file that another pair of base tables has claimed."""
    problem = f"it already belongs to {owner}, not to {wanted.sessions_name} and {wanted.messages_name}"
    return ForeignSchemaError(path, problem, "Give each pair of base tables a file of its own")


_CREATE = "Open it once with create_tables=True"
_ANOTHER = "Choose another file"


def unclaimed(path: str) -> ForeignSchemaError:
    """Give the refusal for a file that no pair of base tables has claimed."""
    return ForeignSchemaError(
        path,
        "its tables name not exactly one owner foreign key each, for nobody has claimed it yet",
        _CREATE,
    )


def folded(identifier: str) -> str:
    """Fold a name as SQLite compares identifiers: ASCII letters only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in identifier)


def _references(connection: sqlite3.Connection, table: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        # A key that names no column means the parent's primary key.
        found.setdefault(folded(row[3]), []).append((row[2], row[4] or ""))
    return found
