"""The turns of a branch, read by window of position: headers for a list, or turns with their items.

Owns what a reader of one branch sees. What it reads grows with the window, not with the branch, and only
turns of the window are parsed. Knows no screen. Positions count the branch's turns from 0, whatever number
the first one has (0 where items came before the first user message).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advchat_storage.clock import normal
from advchat_storage.models import Item, Turn, TurnHeader, UsageSum
from advchat_storage.ownership import Tables
from advchat_storage.parsing import INVALID, parse
from advchat_storage.rows import for_each_of
from advchat_storage.siblings import siblings
from advchat_storage.turn_states import UNKNOWN, turn_states
from advchat_storage.usage_sums import COLUMNS, as_sum
from advchat_storage.wording import one_line, spoken

PREVIEW = 200
_HEAD = 4096
"""Characters of a long prompt that are read for its preview."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One branch of one conversation of a file."""

    session_id: str
    branch_id: str
    tables: Tables


@dataclass(slots=True)
class _Items:
    items: list[Item]
    ids: list[int]
    times: list[str]


def turn_count(connection: sqlite3.Connection, *, session_id: str, branch_id: str) -> int:
    """Give how many turns the branch has, turn 0 included when it exists."""
    row = connection.execute(
        "SELECT COUNT(DISTINCT user_turn_number) FROM message_structure WHERE session_id = ? AND branch_id = ?",
        (session_id, branch_id),
    ).fetchone()
    return int(row[0])


def turn_headers(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str, start: int, stop: int, tables: Tables
) -> list[TurnHeader]:
    """Give the headers of the turns at positions ``[start, stop)``."""
    place = _Place(session_id, branch_id, tables)
    firsts = _first_messages(connection, place, start, stop)
    messages = [message for _, message in firsts]
    prompts = _prompts(connection, tables, messages)
    origins = _origins(connection, messages)
    states = turn_states(connection, session_id=session_id, messages=messages)
    usages = _usages(connection, session_id, messages)
    headers = []
    for turn, message in firsts:
        preview, created = prompts.get(message, ("", ""))
        state = states.get(message, UNKNOWN)
        headers.append(
            TurnHeader(
                turn=turn,
                message_id=message,
                preview=preview,
                created_at=created,
                inherited=origins.get(message, branch_id) != branch_id,
                status=state.status,
                usage=usages.get(message, UsageSum()),
                height_hint=state.height,
                height_width=state.height_width,
            )
        )
    return headers


def turns(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str, start: int, stop: int, tables: Tables
) -> list[Turn]:
    """Give the turns at positions ``[start, stop)`` with their items; rows that are no JSON are passed over."""
    place = _Place(session_id, branch_id, tables)
    firsts = _first_messages(connection, place, start, stop)
    messages = [message for _, message in firsts]
    contents = _contents(connection, place, [turn for turn, _ in firsts])
    origins = _origins(connection, messages)
    states = turn_states(connection, session_id=session_id, messages=messages)
    parted = siblings(connection, session_id=session_id, branch_id=branch_id, firsts=firsts)
    found = []
    for turn, message in firsts:
        content = contents.get(turn, _Items([], [], []))
        state = states.get(message, UNKNOWN)
        origin = origins.get(message, branch_id)
        found.append(
            Turn(
                turn=turn,
                message_id=message,
                created_at=content.times[0] if content.times else "",
                items=tuple(content.items),
                item_ids=tuple(content.ids),
                item_times=tuple(content.times),
                origin_branch=origin,
                inherited=origin != branch_id,
                status=state.status,
                error=state.error,
                siblings=parted.get(turn, ()),
                note=state.note,
            )
        )
    return found


def turn(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str, number: int, tables: Tables
) -> Turn | None:
    """Give the turn of that number with its items; None when the branch has no such turn."""
    row = connection.execute(
        "SELECT COUNT(DISTINCT user_turn_number) FROM message_structure "
        "WHERE session_id = ? AND branch_id = ? AND user_turn_number < ?",
        (session_id, branch_id, number),
    ).fetchone()
    place = int(row[0])
    found = turns(
        connection, session_id=session_id, branch_id=branch_id, start=place, stop=place + 1, tables=tables
    )
    return found[0] if found and found[0].turn == number else None


def _first_messages(
    connection: sqlite3.Connection, place: _Place, start: int, stop: int
) -> list[tuple[int, int]]:
    """Give number and first message of each turn of the window; messages of a branch ascend."""
    start = max(0, start)
    values = {"session": place.session_id, "branch": place.branch_id, "skip": start, "size": stop - start}
    if stop <= start:
        return []
    rows = connection.execute(
        """SELECT s.user_turn_number, MIN(s.message_id) FROM message_structure AS s
        JOIN (SELECT DISTINCT user_turn_number AS turn FROM message_structure
            WHERE session_id = :session AND branch_id = :branch AND user_turn_number IS NOT NULL
            ORDER BY user_turn_number LIMIT :size OFFSET :skip) AS w
        ON s.session_id = :session AND s.branch_id = :branch AND s.user_turn_number = w.turn
        GROUP BY s.user_turn_number ORDER BY s.user_turn_number""",
        values,
    )
    return [(turn, message) for turn, message in rows]


def _contents(connection: sqlite3.Connection, place: _Place, numbers: Sequence[int]) -> dict[int, _Items]:
    if not numbers:
        return {}
    rows = connection.execute(
        f"""SELECT s.user_turn_number, m.id, m.created_at, CAST(m.message_data AS BLOB)
        FROM message_structure AS s JOIN {place.tables.messages} AS m ON m.id = s.message_id
        WHERE s.session_id = :session AND s.branch_id = :branch
            AND s.user_turn_number BETWEEN :first AND :last
        ORDER BY s.user_turn_number, s.sequence_number, s.id""",
        {
            "session": place.session_id,
            "branch": place.branch_id,
            "first": numbers[0],
            "last": numbers[-1],
        },
    )
    contents: dict[int, _Items] = {}
    for turn, message, created, data in rows:
        item = parse(data)
        if item is not INVALID:
            content = contents.setdefault(turn, _Items([], [], []))
            content.items.append(item)
            content.ids.append(message)
            content.times.append(normal(created or ""))
    return contents


def _origins(connection: sqlite3.Connection, messages: Sequence[int]) -> dict[int, str]:
    """Give the branch on which each message was made: of those that show it, the one that had it first."""
    rows: Iterator[tuple[int, str]] = for_each_of(
        connection,
        """SELECT s.message_id, s.branch_id FROM (
            SELECT MIN(id) AS id FROM message_structure WHERE message_id IN ({wanted}) GROUP BY message_id
        ) AS f JOIN message_structure AS s ON s.id = f.id""",
        messages,
    )
    return dict(rows)


def _usages(connection: sqlite3.Connection, session_id: str, messages: Sequence[int]) -> dict[int, UsageSum]:
    rows = for_each_of(
        connection,
        f"SELECT r.message_id, {COLUMNS} FROM advchat_requests AS r "
        "WHERE r.session_id = :session AND r.message_id IN ({wanted}) GROUP BY r.message_id",
        messages,
        {"session": session_id},
    )
    return {row[0]: as_sum(row[1:]) for row in rows}


def _prompts(
    connection: sqlite3.Connection, tables: Tables, messages: Sequence[int]
) -> dict[int, tuple[str, str]]:
    rows = for_each_of(
        connection,
        f"SELECT id, created_at, substr(message_data, 1, {_HEAD}), length(message_data) > {_HEAD} "
        f"FROM {tables.messages} WHERE id IN ({{wanted}})",
        messages,
    )
    found = {}
    for message, created, head, is_cut in rows:
        text = _head_text(head) if is_cut else None
        if text is None:
            text = _whole_text(connection, tables, message) if is_cut else _text(head)
        found[message] = (one_line(text, PREVIEW), normal(created or ""))
    return found


def _text(data: str | bytes) -> str:
    said = spoken(parse(data))
    return said[1] if said is not None else ""


def _whole_text(connection: sqlite3.Connection, tables: Tables, message: int) -> str:
    row = connection.execute(f"SELECT message_data FROM {tables.messages} WHERE id = ?", (message,)).fetchone()
    return _text(row[0])


_CONTENT = re.compile(r'"content":\s*"((?:[^"\\]|\\[^u]|\\u[0-9a-fA-F]{4})*)')


def _head_text(head: str | bytes) -> str | None:
    """Give the beginning of a string content from the beginning of its JSON; None for any other content."""
    if not isinstance(head, str):
        return None
    found = _CONTENT.search(head)
    if found is None:
        return None
    try:
        return str(json.loads(f'"{found[1]}"'))
    except ValueError:
        return None
