"""Messages that are on no branch, in any conversation of the file: found, and put onto ``main``.

The plain SQLite session writes such messages. A session takes over its own conversation's; a store shows all
conversations, so it takes over all of them when it opens the file. Owns how far the file was looked through.
"""

from __future__ import annotations

import sqlite3

from advchat_storage.adopt import LOOKED_THROUGH, adopt, looked_through
from advchat_storage.ownership import Tables
from advchat_storage.place import Scope


def stray_conversations(connection: sqlite3.Connection, *, tables: Tables) -> list[str]:
    """Give the conversations with messages on no branch, above what was looked through before."""
    rows = connection.execute(
        f"SELECT DISTINCT m.session_id FROM {tables.messages} AS m WHERE m.id > :mark AND NOT EXISTS "
        "(SELECT 1 FROM message_structure AS s WHERE s.message_id = m.id)",
        {"mark": looked_through(connection)},
    )
    return [row[0] for row in rows]


def take_over(connection: sqlite3.Connection, *, tables: Tables) -> list[str]:
    """Put messages that are on no branch onto their conversation's ``main``; gives those conversations."""
    found = stray_conversations(connection, tables=tables)
    for session_id in found:
        adopt(connection, Scope(session_id, tables))
    connection.execute(
        "INSERT INTO advchat_search_state (name, value) "
        f"SELECT :name, COALESCE(MAX(id), 0) FROM {tables.messages} WHERE 1 = 1 "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        {"name": LOOKED_THROUGH},
    )
    return found


def worth_looking(connection: sqlite3.Connection, *, tables: Tables) -> bool:
    """Tell whether there are messages that were not looked through."""
    row = connection.execute(f"SELECT MAX(id) FROM {tables.messages}").fetchone()
    return int(row[0] or 0) > looked_through(connection)
