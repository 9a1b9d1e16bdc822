"""SQLite's errors told as the store's own.

Owns the one place where a ``sqlite3`` error becomes a typed refusal that names the file and the way
out. Knows no SQL.
"""

from __future__ import annotations

import sqlite3

from advchat_storage.errors import (
    CannotOpenError,
    CorruptDatabaseError,
    DiskError,
    DiskFullError,
    LockedError,
    NotADatabaseError,
    ReadOnlyError,
    StorageError,
)

_KINDS: dict[int, tuple[type[StorageError], str, str]] = {
    sqlite3.SQLITE_NOTADB: (NotADatabaseError, "this is no SQLite database", "Choose another file with --db"),
    sqlite3.SQLITE_CORRUPT: (CorruptDatabaseError, "the file is damaged", "Run `advchat check` on it"),
    sqlite3.SQLITE_READONLY: (ReadOnlyError, "the file cannot be written", "Make it and its folder writable"),
    sqlite3.SQLITE_FULL: (DiskFullError, "the disk is full", "Free some space and try again"),
    sqlite3.SQLITE_IOERR_WRITE: (DiskFullError, "the disk takes no more", "Free some space and try again"),
    sqlite3.SQLITE_IOERR: (DiskError, "the disk reports an error", "Check the disk, then try again"),
    sqlite3.SQLITE_BUSY: (LockedError, "another program holds the file's lock", "Close it and try again"),
    sqlite3.SQLITE_CANTOPEN: (
        CannotOpenError,
        "the file cannot be opened",
        "Check the folder and its rights",
    ),
}


def translate(error: BaseException, path: str) -> BaseException:
    """Give the typed refusal for a ``sqlite3`` error that has one, else the error itself."""
    if not isinstance(error, sqlite3.Error) or isinstance(error, StorageError):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    kind = (_KINDS.get(code) or _KINDS.get(code & 0xFF)) if isinstance(code, int) else None
    if kind is None:
        return error
    typed = kind[0](path, kind[1], kind[2])
    typed.__cause__ = error
    return typed
