"""Usage per turn, as the SDK's class keeps it, and its way into the ledger.

Owns ``turn_usage``. Functions take the plain connection first and run inside a transaction of the caller;
``measured`` is pure. A second result in one turn replaces the row, as in the SDK; the ledger adds.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from advchat_storage.clock import now
from advchat_storage.history import last_turn
from advchat_storage.items import Json
from advchat_storage.ledger import has_unsettled, record, settle_usage
from advchat_storage.models import RequestRecord
from advchat_storage.place import Scope


class HasUsage(Protocol):
    """A run's result, or whatever carries the usage of a run that has none."""

    @property
    def context_wrapper(self) -> Json:
        """Holds ``usage``, the SDK's ``Usage``."""


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a run; None where the provider told nothing."""

    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run has used, taken at the moment of the call: the SDK goes on adding to its own object."""

    requests: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_details: str | None
    output_details: str | None
    parts: tuple[Part, ...] = ()
    """The run's requests one by one, where the SDK kept them."""
    agent: str | None = None


def measured(result: HasUsage) -> Measured | None:
    """Read the usage of a run's result; None when it has none. Raises ``AttributeError`` for other objects."""
    usage = result.context_wrapper.usage
    if usage is None:
        return None
    return Measured(
        requests=int(usage.requests or 0),
        input_tokens=int(usage.input_tokens or 0),
        output_tokens=int(usage.output_tokens or 0),
        total_tokens=int(usage.total_tokens or 0),
        input_details=_details(getattr(usage, "input_tokens_details", None)),
        output_details=_details(getattr(usage, "output_tokens_details", None)),
        parts=tuple(map(_part, getattr(usage, "request_usage_entries", None) or ())),
        agent=getattr(getattr(result, "last_agent", None), "name", None),
    )


def store(connection: sqlite3.Connection, scope: Scope, branch: str, usage: Measured) -> None:
    """Keep a run's usage on the branch's newest turn; an empty branch has none to keep it on."""
    turn = last_turn(connection, scope.session_id, branch)
    if turn is None:
        return
    connection.execute(
        "INSERT OR REPLACE INTO turn_usage (session_id, branch_id, user_turn_number, requests, input_tokens, "
        "output_tokens, total_tokens, input_tokens_details, output_tokens_details) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            scope.session_id,
            branch,
            turn,
            usage.requests,
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.input_details,
            usage.output_details,
        ),
    )
    if len(usage.parts) > 1:
        _record_parts(connection, scope, branch, turn, usage)
    settle_usage(connection, session_id=scope.session_id, branch_id=branch, turn=turn)


def _record_parts(
    connection: sqlite3.Connection, scope: Scope, branch: str, turn: int, usage: Measured
) -> None:
    """Give the ledger a row per request, unless they were recorded as their responses arrived."""
    if has_unsettled(connection, session_id=scope.session_id, branch_id=branch, turn=turn):
        return
    moment, run_id = now(), f"run-{uuid.uuid4().hex}"
    for part in usage.parts:
        request = RequestRecord(
            request_id=f"request-{uuid.uuid4().hex}",
            run_id=run_id,
            branch_id=branch,
            turn=turn,
            agent=usage.agent,
            model_asked=None,
            model=None,
            provider=None,
            api=None,
            started_at=moment,
            first_token_at=None,
            finished_at=moment,
            status="completed",
            input_tokens=part.input_tokens,
            cached_tokens=part.cached_tokens,
            cache_write_tokens=part.cache_write_tokens,
            output_tokens=part.output_tokens,
            reasoning_tokens=part.reasoning_tokens,
        )
        record(connection, session_id=scope.session_id, request=request)


def session_usage(connection: sqlite3.Connection, scope: Scope, branch: str | None) -> dict[str, int] | None:
    """Sum the usage of a branch, or of all branches where none is named; None when there is none."""
    condition = " AND branch_id = :branch" if branch else ""
    row = connection.execute(
        "SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), "
        f"COALESCE(SUM(total_tokens), 0), COUNT(*) FROM turn_usage WHERE session_id = :session{condition}",
        {"session": scope.session_id, "branch": branch},
    ).fetchone()
    return dict(zip((*_COUNTS, "total_turns"), row, strict=True)) if row[4] else None


def turn_usage(
    connection: sqlite3.Connection, scope: Scope, branch: str, turn: int | None
) -> list[dict[str, Any]] | dict[str, Any]:
    """Give the usage of every turn of a branch, or of one turn (``{}`` when it has none)."""
    condition = "" if turn is None else " AND user_turn_number = :turn"
    rows = connection.execute(
        f"SELECT user_turn_number, {', '.join(_COUNTS)}, input_tokens_details, output_tokens_details "
        f"FROM turn_usage WHERE session_id = :session AND branch_id = :branch{condition} "
        "ORDER BY user_turn_number",
        {"session": scope.session_id, "branch": branch, "turn": turn},
    ).fetchall()
    usages = [
        {
            "user_turn_number": number,
            "requests": requests,
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "total_tokens": total_tokens,
            "input_tokens_details": _parsed(input_details) if input_details else None,
            "output_tokens_details": _parsed(output_details) if output_details else None,
        }
        for number, requests, input_tokens, output_tokens, total_tokens, input_details, output_details in rows
    ]
    if turn is None:
        return usages
    if not usages:
        return {}
    del usages[0]["user_turn_number"]
    return usages[0]


_COUNTS = ("requests", "input_tokens", "output_tokens", "total_tokens")


def _parsed(details: str) -> Json:
    try:
        return json.loads(details)
    except (ValueError, TypeError):
        return None


def _part(entry: Json) -> Part:
    told = bool(entry.input_tokens or entry.output_tokens or entry.total_tokens)
    inputs, outputs = entry.input_tokens_details, entry.output_tokens_details
    return Part(
        input_tokens=entry.input_tokens if told else None,
        cached_tokens=getattr(inputs, "cached_tokens", None) if told else None,
        cache_write_tokens=getattr(inputs, "cache_write_tokens", None) if told else None,
        output_tokens=entry.output_tokens if told else None,
        reasoning_tokens=getattr(outputs, "reasoning_tokens", None) if told else None,
    )


def _details(details: Json) -> str | None:
    """Give a usage object's details as JSON, whichever type the SDK or a caller used for them."""
    if details is None:
        return None
    if isinstance(details, Mapping):
        return json.dumps(dict(details))
    dump = getattr(details, "model_dump", None)
    return json.dumps(dump() if dump is not None else vars(details))
