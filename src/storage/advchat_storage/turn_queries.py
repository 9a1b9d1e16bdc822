"""Questions about a branch's turns: their words, their items, their tools.

Functions take the plain connection first, run inside a transaction of the caller and change nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from advchat_storage.items import CALLS, TOOL_SEARCH, Json, ascii_folded, content_preview, cut, says
from advchat_storage.parsing import parse
from advchat_storage.place import Scope
from advchat_storage.turn_search import user_rows
from advchat_storage.wording import storable


def conversation_turns(connection: sqlite3.Connection, scope: Scope, branch: str) -> list[dict[str, Any]]:
    """Give the branch's user turns with the first words of each."""
    turns = []
    for number, item, moment in _user_turns(connection, scope, branch):
        content = item.get("content", "")
        turns.append(_turn(number, cut(content_preview(content)), content, moment))
    return turns


def turns_saying(connection: sqlite3.Connection, scope: Scope, branch: str, term: str) -> list[dict[str, Any]]:
    """Give the user turns whose words hold ``term`` to the letter, ASCII letters in either case."""
    if not isinstance(term, str):
        raise TypeError(f"a search term is a string, not {type(term).__name__}")
    wanted = ascii_folded(storable(term))
    turns = []
    for number, item, moment in _user_turns(connection, scope, branch, wanted):
        content = item.get("content", "")
        if says(content, wanted):
            turns.append(_turn(number, content_preview(content), content, moment))
    return turns


def items_by_turn(
    connection: sqlite3.Connection, scope: Scope, branch: str
) -> dict[int, list[dict[str, str | None]]]:
    """Give the kinds of the items of each turn, in order."""
    turns: dict[int, list[dict[str, str | None]]] = {}
    rows = connection.execute(
        "SELECT user_turn_number, message_type, tool_name FROM message_structure "
        "WHERE session_id = ? AND branch_id = ? ORDER BY sequence_number",
        (scope.session_id, branch),
    )
    for turn, message_type, tool_name in rows:
        if turn not in turns:
            turns[turn] = []
        turns[turn].append({"type": message_type, "tool_name": tool_name})
    return turns


def tool_usage(connection: sqlite3.Connection, scope: Scope, branch: str) -> list[tuple[str | None, int, int]]:
    """Give how often each tool was called in each turn: ``(tool_name, count, turn)``."""
    marks = ", ".join("?" * len(CALLS))
    rows = connection.execute(
        f"SELECT message_type, tool_name, user_turn_number, COUNT(*) FROM message_structure "
        f"WHERE session_id = ? AND branch_id = ? AND message_type IN ({marks}) "
        "GROUP BY message_type, tool_name, user_turn_number",
        (scope.session_id, branch, *CALLS),
    )
    counts: dict[tuple[int, str | None], int] = {}
    searches: dict[int, dict[str, int]] = {}
    for message_type, tool_name, turn, count in rows:
        if message_type in TOOL_SEARCH:
            kinds = searches.setdefault(turn, {})
            kinds[message_type] = kinds.get(message_type, 0) + count
        else:
            # Early files have no name for these calls, which are named after their type.
            name = tool_name if tool_name is not None else _LEGACY_NAMES.get(message_type)
            counts[turn, name] = counts.get((turn, name), 0) + count
    for turn, kinds in searches.items():
        # A search that the provider ran itself leaves only its output.
        counts[turn, "tool_search"] = kinds.get("tool_search_call") or kinds.get("tool_search_output", 0)
    order = sorted(counts, key=lambda key: (key[0], key[1] is not None, key[1] or ""))
    return [(name, counts[turn, name], turn) for turn, name in order]


def first_words(connection: sqlite3.Connection, scope: Scope, branch: str, turn: int) -> str:
    """Give the first words of a user turn; empty when they cannot be read."""
    row = connection.execute(
        f"SELECT CAST(m.message_data AS BLOB) FROM message_structure AS s "
        f"JOIN {scope.tables.messages} AS m ON m.id = s.message_id WHERE s.session_id = ? "
        "AND s.branch_id = ? AND s.user_turn_number = ? AND s.message_type = 'user' LIMIT 1",
        (scope.session_id, branch, turn),
    ).fetchone()
    item = parse(row[0]) if row else None
    return cut(content_preview(item.get("content", ""))) if isinstance(item, Mapping) else ""


_LEGACY_NAMES = {"shell_call": "shell_call", "apply_patch_call": "apply_patch_call"}


def _turn(number: int, content: str, full_content: Json, moment: str) -> dict[str, Any]:
    return {
        "turn": number,
        "content": content,
        "full_content": full_content,
        "timestamp": moment,
        "can_branch": True,
    }


def _user_turns(
    connection: sqlite3.Connection, scope: Scope, branch: str, term: str = ""
) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    """Yield turn, item and time of the branch's user messages; with a term, of those that may hold it."""
    for number, data, moment, _ in user_rows(connection, scope, branch, term):
        item = parse(data)
        if isinstance(item, Mapping):
            yield number, item, moment
