"""How long tool calls took: what the SDK's items do not say.

Owns the times' table. A time is known by its call, wherever the call's item is shown. Knows no tool.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from advchat_storage.rows import for_each_of
from advchat_storage.wording import storable


def keep_tool_times(connection: sqlite3.Connection, *, session_id: str, seconds: Mapping[str, float]) -> None:
    """Keep the wall time of calls, by call ID; a later time of the same call replaces the earlier."""
    connection.executemany(
        "INSERT INTO advchat_tool_times (session_id, call_id, seconds) VALUES (?, ?, ?) "
        "ON CONFLICT (session_id, call_id) DO UPDATE SET seconds = excluded.seconds",
        [(session_id, storable(call), time) for call, time in seconds.items()],
    )


def tool_times(connection: sqlite3.Connection, *, session_id: str, calls: Sequence[str]) -> dict[str, float]:
    """Give the seconds of those of the calls whose time is known."""
    return dict(
        for_each_of(
            connection,
            "SELECT call_id, seconds FROM advchat_tool_times "
            "WHERE session_id = :session AND call_id IN ({wanted})",
            [storable(call) for call in calls],
            {"session": session_id},
        )
    )
