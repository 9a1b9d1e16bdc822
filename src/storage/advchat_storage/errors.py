"""The store's typed refusals.

Owns every error the store raises on its own behalf. Each names the file and the way out, so that a
caller can show ``str(error)`` to a person as it is. What SQLite has refused is also an error of the kind
that ``sqlite3`` raises for it, so that callers written for the plain library catch it. Knows no caller.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path


class StorageError(Exception):
    """A refusal of the store: what happened to which file, and what to do about it."""

    def __init__(self, path: str | Path, problem: str, way_out: str) -> None:
        self.path = str(path)
        self.problem = problem
        self.way_out = way_out
        super().__init__(f"{self.path}: {problem}. {way_out}")


class NotADatabaseError(StorageError, sqlite3.DatabaseError):
    """The file is no SQLite database."""


class CorruptDatabaseError(StorageError, sqlite3.DatabaseError):
    """SQLite found the file damaged."""


class NewerSchemaError(StorageError):
    """A newer advchat has written this file."""


class ForeignSchemaError(StorageError, ValueError):
    """The tables belong to another pair of base tables, or to another program."""


class ReadOnlyError(StorageError, sqlite3.OperationalError):
    """The file or its folder cannot be written."""


class DiskFullError(StorageError, sqlite3.OperationalError):
    """No space was left for a change; the history is as it was before."""


class DiskError(StorageError, sqlite3.OperationalError):
    """The disk failed at reading or writing; the history is as it was before."""


class LockedError(StorageError, sqlite3.OperationalError):
    """Another process held the file's lock longer than we wait."""


class CannotOpenError(StorageError, sqlite3.OperationalError):
    """The file could not be opened or created at all."""


class BranchBusyError(StorageError):
    """Another process is answering on this branch."""
