"""The ledger: one row per model request, kept whatever becomes of its turn or branch.

Owns the writing and the reading of single rows. Sums are made by ``usage_sums``. A row knows its turn by
the row of the turn's first message, which every branch that shares the turn shares. Knows no price.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from advchat_storage.clock import normal, seconds_between
from advchat_storage.models import RequestRecord
from advchat_storage.usage_sums import UsageScope
from advchat_storage.wording import storable

_TEXTS = (
    "request_id",
    "run_id",
    "branch_id",
    "agent",
    "model_asked",
    "model",
    "provider",
    "api",
    "status",
    "price_source",
    "price_version",
    "price_note",
    "error",
)
_TIMES = ("started_at", "first_token_at", "finished_at")
_NUMBERS = (
    "turn",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
    "estimated_input_tokens",
    "estimated_output_tokens",
    "cost_nano",
    "requests",
)
_FIELDS = (*_TEXTS, *_TIMES, *_NUMBERS)
_WRITTEN = (*_FIELDS, "tools", "session_id", "message_id", "generation_seconds", "first_token_seconds")

_INSERT = (
    f"INSERT INTO advchat_requests ({', '.join(_WRITTEN)}) "
    f"VALUES ({', '.join(f':{name}' for name in _WRITTEN)}) "
    "ON CONFLICT (request_id) DO NOTHING"
)


class PriceChange(NamedTuple):
    """The new price of one request; ``cost_nano`` is None where it is not known."""

    request_id: str
    cost_nano: int | None
    price_source: str | None
    price_version: str | None
    price_note: str | None


def record(connection: sqlite3.Connection, *, session_id: str, request: RequestRecord) -> bool:
    """Write a request's row; False when that ``request_id`` is there already. Unknown counts stay NULL."""
    values: dict[str, Any] = {name: getattr(request, name) for name in _FIELDS}
    for name in _TEXTS:
        values[name] = storable(values[name]) if values[name] is not None else None
    for name in _TIMES:
        values[name] = normal(values[name]) if values[name] is not None else None
    if values["total_tokens"] is None and None not in (values["input_tokens"], values["output_tokens"]):
        values["total_tokens"] = values["input_tokens"] + values["output_tokens"]
    values["tools"] = json.dumps(list(request.tools))
    values["session_id"] = storable(session_id)
    values["message_id"] = first_message(
        connection, session_id=values["session_id"], branch_id=values["branch_id"], turn=request.turn
    )
    known = request.output_tokens is not None
    begun = request.first_token_at or request.started_at
    values["generation_seconds"] = seconds_between(begun, request.finished_at) if known else None
    values["first_token_seconds"] = seconds_between(request.started_at, request.first_token_at)
    return connection.execute(_INSERT, values).rowcount == 1


def first_message(connection: sqlite3.Connection, *, session_id: str, branch_id: str, turn: int) -> int | None:
    """Give the row of a turn's first message on a branch, by which the turn is known; None without turn."""
    row = connection.execute(
        "SELECT MIN(message_id) FROM message_structure "
        "WHERE session_id = ? AND branch_id = ? AND user_turn_number = ?",
        (session_id, branch_id, turn),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def settle_usage(connection: sqlite3.Connection, *, session_id: str, branch_id: str, turn: int) -> None:
    """Let the requests recorded one by one stand for the ``turn_usage`` row written just now.

    Call in the transaction that wrote the row, right after it. A trigger has put the row into the ledger;
    what recorded requests of that turn cover is taken off it, so that nothing counts twice, and what they
    leave over (a nested agent's requests, or all of it where nobody records) stays.
    """
    place = (session_id, branch_id, turn)
    copy = connection.execute(
        "SELECT r.id, r.requests, r.input_tokens, r.output_tokens FROM advchat_requests AS r "
        "JOIN turn_usage AS u ON u.session_id = r.session_id AND u.branch_id = r.branch_id "
        "AND u.user_turn_number = r.turn AND (u.requests > 0 OR u.total_tokens > 0) "
        "WHERE r.session_id = ? AND r.branch_id = ? AND r.turn = ? AND r.origin = 'sdk' "
        "ORDER BY r.id DESC LIMIT 1",
        place,
    ).fetchone()
    recorded = connection.execute(
        "SELECT COALESCE(SUM(CASE WHEN status = 'completed' OR total_tokens IS NOT NULL "
        "THEN requests END), 0), COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0) "
        f"FROM advchat_requests WHERE {_UNSETTLED}",
        place,
    ).fetchone()
    settled = connection.execute(f"UPDATE advchat_requests SET settled = 1 WHERE {_UNSETTLED}", place)
    if copy is None or settled.rowcount == 0:
        return
    left = [max(0, (whole or 0) - part) for whole, part in zip(copy[1:], recorded, strict=True)]
    if left[0] == 0 or left[1] + left[2] == 0:
        connection.execute("DELETE FROM advchat_requests WHERE id = ?", (copy[0],))
        return
    connection.execute(
        "UPDATE advchat_requests SET requests = ?, input_tokens = ?, output_tokens = ?, total_tokens = ?, "
        "cached_tokens = NULL, cache_write_tokens = NULL, reasoning_tokens = NULL WHERE id = ?",
        (*left, left[1] + left[2], copy[0]),
    )


def has_unsettled(connection: sqlite3.Connection, *, session_id: str, branch_id: str, turn: int) -> bool:
    """Tell whether requests of a turn were recorded since its usage was stored last."""
    query = f"SELECT 1 FROM advchat_requests WHERE {_UNSETTLED} LIMIT 1"
    return connection.execute(query, (session_id, branch_id, turn)).fetchone() is not None


_UNSETTLED = "session_id = ? AND branch_id = ? AND turn = ? AND origin = 'advchat' AND settled = 0"


def requests(
    connection: sqlite3.Connection, *, scope: UsageScope, limit: int | None = None
) -> list[RequestRecord]:
    """Give rows in the order they were written, the newest ``limit`` of them when given."""
    where, values = scope.condition(connection)
    newest = "" if limit is None else " LIMIT :limit"
    rows = connection.execute(
        f"SELECT {', '.join(f'r.{name}' for name in _FIELDS)}, r.tools, r.session_id "
        f"FROM advchat_requests AS r WHERE {where} ORDER BY r.id DESC{newest}",
        {**values, "limit": limit},
    ).fetchall()
    return [_as_record(row) for row in reversed(rows)]


def reprice(connection: sqlite3.Connection, *, changes: Sequence[PriceChange | tuple[Any, ...]]) -> int:
    """Set the cost of requests anew; gives how many rows there were for them."""
    before = connection.total_changes
    connection.executemany(
        "UPDATE advchat_requests SET cost_nano = ?, price_source = ?, price_version = ?, price_note = ? "
        "WHERE request_id = ?",
        [(*change[1:5], change[0]) for change in changes],
    )
    return connection.total_changes - before


def _as_record(row: Sequence[Any]) -> RequestRecord:
    values = dict(zip(_FIELDS, row, strict=False))
    tools = json.loads(row[len(_FIELDS)] or "[]")
    return RequestRecord(**values, tools=tuple(map(str, tools)), conversation_id=row[len(_FIELDS) + 1])
