"""How a file is opened: created for its owner alone, in WAL where that works, else readable at least.

Owns pragmas and the fall-backs. Knows no tables.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from advchat_storage.errors import CannotOpenError, ReadOnlyError
from advchat_storage.remembering import RememberingConnection

MEMORY = ":memory:"
BUSY_SECONDS = 60.0
"""How long a statement waits for a lock that another process holds: longer than any honest hold, since
what waits may be an answer that was paid for."""
RETRY_SECONDS = 0.02
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_WAL = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)


def open_writer(path: str) -> sqlite3.Connection:
    """Open ``path``, creating it (0600) and its folders where missing; a read-only file opens for reading."""
    if path == MEMORY:
        return _connect(path)
    _create(path)
    return _open(path, _as_it_is)


def open_reader(path: str) -> sqlite3.Connection:
    """Open a file that ``open_writer`` has opened before, to read only."""
    return _open(path, _only_read)


def open_to_look(path: str) -> sqlite3.Connection:
    """Open a file that is there, to read it without waiting for a lock; ``settle_in`` makes it a reader."""
    target = f"file:{quote(str(Path(path).resolve()))}?mode=rw"
    return _connect(target, _only_read, uri=True, patience=0)


def settle_in(connection: sqlite3.Connection) -> None:
    """Let a connection that was opened to look wait for locks, as a reader does."""
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _open(path: str, settle: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Connect and settle; where the file's folder lets no lock be made, open it as it stands."""
    try:
        return _connect(path, settle)
    except sqlite3.OperationalError as error:
        if _primary(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    return _open_frozen(path)


def _connect(
    target: str,
    settle: Callable[[sqlite3.Connection], None] | None = None,
    *,
    uri: bool = False,
    patience: float | None = None,
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        target,
        timeout=BUSY_SECONDS if patience is None else patience,
        isolation_level=None,
        check_same_thread=False,
        factory=RememberingConnection,
        uri=uri,
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        if settle is not None:
            settle(connection)
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _as_it_is(connection: sqlite3.Connection) -> None:
    """Change nothing: whose file it is must be known first."""


def _only_read(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")


def _create(path: str) -> None:
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise CannotOpenError(
            path, f"the file cannot be created ({error.strerror})", "Check the folder and its rights"
        ) from error


def choose_journal(connection: sqlite3.Connection) -> None:
    """Switch to WAL where the file system can do it.

    Switching needs the file for itself for a moment, and SQLite does not wait for that moment.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if _primary(error) in _NO_WAL:
                return
            if _primary(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _open_frozen(path: str) -> sqlite3.Connection:
    """Open a file in a folder that cannot be written, where not even a lock can be made."""
    journal = Path(path + "-wal")
    if not os.access(path, os.R_OK) or (journal.exists() and journal.stat().st_size > 0):
        raise ReadOnlyError(
            path, "the file or its folder cannot be written", "Make both writable, or copy the file elsewhere"
        )
    return _connect(f"file:{quote(path)}?immutable=1", uri=True)


def _primary(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
