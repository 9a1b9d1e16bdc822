"""The store's typed refusals.

Owns every error the store raises on its own behalf. Each names the file and the way out, so that a
caller can show ``str(error)`` to a person as it is. Knows no SQL and no caller.
"""

from __future__ import annotations

from pathlib import Path


class StorageError(Exception):
    """A refusal of the store: what happened to which file, and what to do about it."""

    def __init__(self, path: str | Path, problem: str, way_out: str) -> None:
        self.path = str(path)
        self.problem = problem
        self.way_out = way_out
        super().__init__(f"{self.path}: {problem}. {way_out}")


class NotADatabaseError(StorageError):
    """The file is no SQLite database."""


class CorruptDatabaseError(StorageError):
    """SQLite found the file damaged."""


class NewerSchemaError(StorageError):
    """A newer advchat has written this file."""


class ForeignSchemaError(StorageError, ValueError):
    """The tables belong to another pair of base tables, or to another program."""


class ReadOnlyError(StorageError):
    """The file or its folder cannot be written."""


class DiskFullError(StorageError):
    """No space was left for a change; the history is as it was before."""


class LockedError(StorageError):
    """Another process held the file's lock longer than we wait."""


class CannotOpenError(StorageError):
    """The file could not be opened or created at all."""


class BranchBusyError(StorageError):
    """Another process is answering on this branch."""
