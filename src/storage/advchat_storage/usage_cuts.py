"""The ledger cut by turn, branch, conversation, model, day or tool.

Owns the cuts of the usage report. Whatever the cut, each request is in exactly one row, so that the sums
of the rows are the total. Knows no price and no presentation.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from advchat_storage.clock import local_day, normal
from advchat_storage.conversation_rows import conversation_titles
from advchat_storage.models import UsageCut
from advchat_storage.ownership import Tables
from advchat_storage.usage_sums import COLUMNS, Tally, UsageScope, as_sum

CutName = Literal["turn", "branch", "conversation", "model", "day", "tool"]
Keys = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Columns to group by, and how a group's values become its keys; equal identities become one row."""

    columns: tuple[str, ...]
    keys: Callable[..., Keys]
    identity: Callable[[Keys], tuple[Any, ...]]


def _turn_keys(session: str, branch: str, turn: int, message: int | None) -> Keys:
    return {"conversation_id": session, "branch_id": branch, "turn": turn, "message_id": message}


def _turn_identity(keys: Keys) -> tuple[Any, ...]:
    if keys["message_id"] is not None:
        return keys["conversation_id"], keys["message_id"]
    return keys["conversation_id"], keys["branch_id"], keys["turn"], None


def _tool_keys(tools: str) -> Keys:
    names = json.loads(tools or "[]")
    return {"tool": str(names[0]) if names else None}


def _all_keys(keys: Keys) -> tuple[Any, ...]:
    return tuple(keys.values())


_CUTS: dict[CutName, _Cut] = {
    "turn": _Cut(("r.session_id", "r.branch_id", "r.turn", "r.message_id"), _turn_keys, _turn_identity),
    "branch": _Cut(
        ("r.session_id", "r.branch_id"),
        lambda session, branch: {"conversation_id": session, "branch_id": branch},
        _all_keys,
    ),
    "conversation": _Cut(("r.session_id",), lambda session: {"conversation_id": session}, _all_keys),
    "model": _Cut(("r.model",), lambda model: {"model": model}, _all_keys),
    "day": _Cut(
        ("substr(r.finished_at, 1, 16)",), lambda minute: {"day": local_day(normal(minute))}, _all_keys
    ),
    "tool": _Cut(("r.tools",), _tool_keys, _all_keys),
}


def usage_by(
    connection: sqlite3.Connection, *, cut: CutName, scope: UsageScope, tables: Tables
) -> list[UsageCut]:
    """Give a row per value of ``cut``, in the order of their first requests.

    Keys: ``turn``: ``conversation_id``, ``branch_id`` (where it was first paid for), ``turn``,
    ``message_id``; ``branch``: ``conversation_id``, ``branch_id``, ``title``, ``binned`` (in the bin, or
    gone); ``conversation``: ``conversation_id``, ``title`` (None when deleted); ``model`` (as answered, None
    when unknown); ``day`` (this machine's calendar); ``tool`` (the first tool the response called, None when
    it called none: a request is never counted for two tools). Raises ``ValueError`` for another cut.
    """
    if cut not in _CUTS:
        raise ValueError(f"No cut '{cut}': choose {', '.join(_CUTS)}")
    plan = _CUTS[cut]
    where, values = scope.condition(connection)
    columns = ", ".join(plan.columns)
    rows = connection.execute(
        f"SELECT {columns}, {COLUMNS} FROM advchat_requests AS r WHERE {where} GROUP BY {columns} "
        "ORDER BY MIN(r.id)",
        values,
    )
    cuts = _merged(rows, plan)
    if cut == "day":
        cuts.sort(key=lambda row: str(row.keys["day"]))
    if cut == "conversation":
        return _with_titles(connection, tables, cuts)
    return _with_branches(connection, cuts) if cut == "branch" else cuts


def turn_usages(connection: sqlite3.Connection, *, session_id: str, branch_id: str) -> list[UsageCut]:
    """Give the sums of each turn that the branch shows and that has cost anything, inherited ones too."""
    rows = connection.execute(
        f"""SELECT r.turn, r.message_id, {COLUMNS} FROM advchat_requests AS r
        JOIN message_structure AS s ON s.session_id = r.session_id AND s.branch_id = :branch
            AND s.user_turn_number = r.turn AND s.message_id = r.message_id
        WHERE r.session_id = :session GROUP BY r.turn, r.message_id ORDER BY r.turn""",
        {"session": session_id, "branch": branch_id},
    )
    return [UsageCut({"turn": row[0], "message_id": row[1]}, as_sum(row[2:])) for row in rows]


def _with_titles(connection: sqlite3.Connection, tables: Tables, cuts: Sequence[UsageCut]) -> list[UsageCut]:
    names = [cut.keys["conversation_id"] for cut in cuts]
    titles = conversation_titles(connection, tables=tables, session_ids=names)
    return [UsageCut({**cut.keys, "title": titles.get(cut.keys["conversation_id"])}, cut.usage) for cut in cuts]


def _with_branches(connection: sqlite3.Connection, cuts: Sequence[UsageCut]) -> list[UsageCut]:
    found = []
    for cut in cuts:
        place = (cut.keys["conversation_id"], cut.keys["branch_id"])
        title, alive, binned = connection.execute(_BRANCH, {"session": place[0], "branch": place[1]}).fetchone()
        keys = {**cut.keys, "title": title or "", "binned": bool(binned or not alive)}
        found.append(UsageCut(keys, cut.usage))
    return found


_BRANCH = """
SELECT b.title,
    :branch = 'main' OR COALESCE(b.gone = 0, 0)
        OR EXISTS (SELECT 1 FROM message_structure WHERE session_id = :session AND branch_id = :branch),
    b.binned_at IS NOT NULL AND :branch <> 'main'
FROM (SELECT 1) AS one
LEFT JOIN advchat_branches AS b ON b.session_id = :session AND b.branch_id = :branch
"""


def _merged(rows: sqlite3.Cursor, plan: _Cut) -> list[UsageCut]:
    width = len(plan.columns)
    found: dict[tuple[Any, ...], tuple[Mapping[str, Any], Tally]] = {}
    for row in rows:
        keys = plan.keys(*row[:width])
        _, tally = found.setdefault(plan.identity(keys), (keys, Tally()))
        tally.add(row[width:])
    return [UsageCut(keys, tally.sum()) for keys, tally in found.values()]
