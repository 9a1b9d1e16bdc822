"""Sums over ledger rows, each row counted once whatever the branches do.

Owns which rows belong to a question (``UsageScope``) and how they add up: over what is known, and *at least*
where something is not. Knows no price and no presentation.

A row is *in place* while its branch still shows its turn. What is not, because the branch or the turn is
gone, and what lies on a binned branch, is binned spend: own spend of the other branches and binned spend
together are the total.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from advchat_storage.clock import normal
from advchat_storage.models import BranchUsage, UsageSum
from advchat_storage.wording import storable

_TOTAL = "COALESCE(r.total_tokens, r.input_tokens + r.output_tokens)"

_MAY_BE_UNKNOWN = {
    "input_tokens": "r.input_tokens",
    "cached_tokens": "r.cached_tokens",
    "cache_write_tokens": "r.cache_write_tokens",
    "output_tokens": "r.output_tokens",
    "reasoning_tokens": "r.reasoning_tokens",
    "total_tokens": _TOTAL,
    "cost_nano": "r.cost_nano",
}
"""Fields of the sums, and what a row knows of each."""

COLUMNS = f"""
    COALESCE(SUM(r.requests), 0), SUM(r.input_tokens), SUM(r.cached_tokens), SUM(r.cache_write_tokens),
    SUM(r.output_tokens), SUM(r.reasoning_tokens),
    SUM({_TOTAL}), SUM(r.cost_nano),
    SUM(CASE WHEN r.output_tokens IS NULL THEN r.estimated_output_tokens END),
    SUM(r.generation_seconds), SUM(r.first_token_seconds), COUNT(r.first_token_seconds),
    {", ".join(f"COUNT(*) - COUNT({known})" for known in _MAY_BE_UNKNOWN.values())}
"""

_KNOWN = 12
"""How many of the columns are sums; a count of rows without it follows for each field that may be unknown."""

IN_PLACE = """(CASE WHEN r.message_id IS NOT NULL
    THEN EXISTS (SELECT 1 FROM message_structure AS s WHERE s.session_id = r.session_id
        AND s.branch_id = r.branch_id AND s.user_turn_number = r.turn AND s.message_id = r.message_id)
    ELSE r.turn = 0 AND (r.branch_id = 'main'
        OR EXISTS (SELECT 1 FROM message_structure AS s
            WHERE s.session_id = r.session_id AND s.branch_id = r.branch_id)
        OR EXISTS (SELECT 1 FROM advchat_branches AS a
            WHERE a.session_id = r.session_id AND a.branch_id = r.branch_id AND a.gone = 0))
    END)"""

ON_BINNED_BRANCH = """EXISTS (SELECT 1 FROM advchat_branches AS b WHERE b.session_id = r.session_id
    AND b.branch_id = r.branch_id AND b.binned_at IS NOT NULL)"""

LIVE = f"({IN_PLACE} AND NOT {ON_BINNED_BRANCH})"


@dataclass(frozen=True, slots=True)
class UsageScope:
    """Which ledger rows a question is about; None leaves a side open."""

    conversation_id: str | None = None
    branch_id: str | None = None
    """The branch on which the request was made."""
    turn: int | None = None
    """With a conversation and a branch: the turn as that branch shows it, wherever its requests were made."""
    run_id: str | None = None
    since: str | None = None
    """Requests that ended at or after this time."""
    until: str | None = None
    """Requests that ended before this time."""
    binned: bool | None = None

    def condition(self, connection: sqlite3.Connection) -> tuple[str, dict[str, Any]]:
        """Write the condition on ``advchat_requests AS r`` and the values of its parameters."""
        values: dict[str, Any] = {"session": _text(self.conversation_id), "run": _text(self.run_id)}
        terms = ["r.session_id = :session"] if self.conversation_id is not None else []
        terms += self._place(connection, values)
        if self.run_id is not None:
            terms.append("r.run_id = :run")
        for name, comparison in (("since", ">="), ("until", "<")):
            moment = getattr(self, name)
            if moment is not None:
                terms.append(f"r.finished_at {comparison} :{name}")
                values[name] = normal(moment)
        if self.binned is not None:
            terms.append(f"NOT {LIVE}" if self.binned else LIVE)
        return " AND ".join(terms) or "1 = 1", values

    def _place(self, connection: sqlite3.Connection, values: dict[str, Any]) -> list[str]:
        values.update(branch=_text(self.branch_id), turn=self.turn)
        message = self._turn_message(connection)
        if message is not None:
            values["message"] = message
            return ["r.message_id = :message"]
        terms = ["r.branch_id = :branch"] if self.branch_id is not None else []
        return [*terms, "r.turn = :turn"] if self.turn is not None else terms

    def _turn_message(self, connection: sqlite3.Connection) -> int | None:
        if self.turn is None or self.branch_id is None or self.conversation_id is None:
            return None
        row = connection.execute(
            "SELECT MIN(message_id) FROM message_structure "
            "WHERE session_id = ? AND branch_id = ? AND user_turn_number = ?",
            (_text(self.conversation_id), _text(self.branch_id), self.turn),
        ).fetchone()
        return None if row[0] is None else int(row[0])


def _text(name: str | None) -> str | None:
    return None if name is None else storable(name)


class Tally:
    """Sums that grow by rows of ``COLUMNS``."""

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums: list[Any] = [None] * (_KNOWN + len(_MAY_BE_UNKNOWN))

    def add(self, row: Sequence[Any]) -> None:
        """Add one row of ``COLUMNS``; unknown plus known is known."""
        for index, value in enumerate(row):
            if value is not None:
                known = self._sums[index]
                self._sums[index] = value if known is None else known + value

    def sum(self) -> UsageSum:
        """Give what was added."""
        known = self._sums
        missing = zip(_MAY_BE_UNKNOWN, known[_KNOWN:], strict=True)
        unknown = frozenset(name for name, count in missing if count)
        return UsageSum(
            requests=known[0] or 0,
            input_tokens=known[1],
            cached_tokens=known[2],
            cache_write_tokens=known[3],
            output_tokens=known[4],
            reasoning_tokens=known[5],
            total_tokens=known[6],
            cost_nano=known[7],
            estimated_output_tokens=known[8],
            seconds=known[9],
            first_token_seconds=known[10] / known[11] if known[11] else None,
            at_least=bool(unknown & {"input_tokens", "output_tokens", "cost_nano"}),
            unknown=unknown,
        )


def as_sum(row: Sequence[Any]) -> UsageSum:
    """Give the sums of one row of ``COLUMNS``."""
    tally = Tally()
    tally.add(row)
    return tally.sum()


def usage(connection: sqlite3.Connection, *, scope: UsageScope) -> UsageSum:
    """Give the sums over the rows of ``scope``."""
    where, values = scope.condition(connection)
    row = connection.execute(f"SELECT {COLUMNS} FROM advchat_requests AS r WHERE {where}", values).fetchone()
    return as_sum(row)


def branch_usage(connection: sqlite3.Connection, *, session_id: str, branch_id: str) -> BranchUsage:
    """Tell a branch's own spend on the turns it shows from what the turns it inherited have cost, once."""
    place = {"session": session_id, "branch": branch_id}
    own = connection.execute(
        f"SELECT {COLUMNS} FROM advchat_requests AS r "
        f"WHERE r.session_id = :session AND r.branch_id = :branch AND {IN_PLACE}",
        place,
    ).fetchone()
    inherited = connection.execute(
        f"""SELECT {COLUMNS} FROM advchat_requests AS r
        WHERE r.session_id = :session AND r.branch_id <> :branch AND r.message_id IN (
            SELECT message_id FROM message_structure WHERE session_id = :session AND branch_id = :branch)""",
        place,
    ).fetchone()
    return BranchUsage(own=as_sum(own), inherited=as_sum(inherited))


def own_costs(
    connection: sqlite3.Connection, *, session_id: str, branch_id: str | None = None
) -> dict[str, tuple[int | None, bool]]:
    """Give, for each branch that spent anything, its own cost and whether some of it is unknown."""
    one = "" if branch_id is None else "AND r.branch_id = :branch"
    rows = connection.execute(
        "SELECT r.branch_id, SUM(r.cost_nano), COUNT(*) - COUNT(r.cost_nano) FROM advchat_requests AS r "
        f"WHERE r.session_id = :session {one} AND {IN_PLACE} GROUP BY r.branch_id",
        {"session": session_id, "branch": branch_id},
    )
    return {branch: (cost, unknown > 0) for branch, cost, unknown in rows}
