"""Copies of a whole file, made while it is in use. SQLite alone.

Owns the writing of a copy, complete or not at all, readable by its owner only. Knows no table.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from advchat_storage.errors import CannotOpenError

PAGES_AT_ONCE = 2_000


def backup(connection: sqlite3.Connection, *, source: str, target: str | Path) -> Path:
    """Copy the database of ``connection`` to ``target``, a new file; gives its path.

    Raises ``CannotOpenError`` when the target exists or cannot be made, and what SQLite raises.
    """
    final = Path(target).expanduser()
    if final.exists():
        raise CannotOpenError(final, "the backup's file exists already", "Name a new file")
    part = final.with_name(f"{final.name}.{os.getpid()}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with contextlib.closing(sqlite3.connect(part)) as copy:
            connection.backup(copy, pages=PAGES_AT_ONCE, sleep=0)
            copy.execute("PRAGMA journal_mode = DELETE")
        part.rename(final)
    except OSError as error:
        raise CannotOpenError(
            final, f"the backup of {source} cannot be written ({error.strerror})", "Choose another folder"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return final
