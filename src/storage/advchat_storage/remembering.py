"""Answers kept for as long as nothing in the file changes.

Owns a connection that remembers, and the proof that its file is the same: SQLite's ``data_version`` counts
the changes by others, ``total_changes`` those by the connection itself. Knows no table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")
MOST = 8
"""Answers kept by one connection."""


class RememberingConnection(sqlite3.Connection):
    """A connection with room for answers."""

    def __init__(self, *args: Any, **keywords: Any) -> None:  # noqa: ANN401  # As sqlite3.connect passes them.
        super().__init__(*args, **keywords)
        self.answers: dict[Hashable, tuple[tuple[int, int], object]] = {}


def remembered(connection: sqlite3.Connection, question: Hashable, ask: Callable[[], T]) -> T:
    """Give what ``ask`` answers, from memory where the file has not changed since it was asked last.

    Only within a reading, never among changes that may be rolled back. The answer must not be changed.
    """
    if not isinstance(connection, RememberingConnection):
        return ask()
    version = connection.execute("PRAGMA data_version").fetchone()[0]
    state = (version, connection.total_changes)
    known = connection.answers.get(question)
    if known is not None and known[0] == state:
        return cast("T", known[1])
    if len(connection.answers) >= MOST:
        connection.answers.clear()
    answer = ask()
    connection.answers[question] = (state, answer)
    return answer
