"""The tree of a conversation's branches.

Owns where each branch hangs and in which order. A place is read from the rows that branches share, never
from clocks, so it is the same after a restart and after the SDK's own class has worked on the file:
a branch hangs under the one on which its newest inherited turn was made, and a branch that shares nothing
parts from ``main`` at turn 1. A parent that is gone or binned leaves its children to the next branch that
shares their turns.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from advchat_storage.branch_rows import NEVER, creation_order
from advchat_storage.clock import normal
from advchat_storage.models import Branch, ForkKind
from advchat_storage.place import MAIN
from advchat_storage.places import Place, PlaceFinder
from advchat_storage.rows import for_each_of
from advchat_storage.usage_sums import own_costs

_RECORDED = (
    "title",
    "title_source",
    "fork_kind",
    "fork_turn",
    "created_at",
    "last_used_at",
    "binned_at",
    "model",
    "pinned",
    "unread",
    "budget_nano",
    "gone",
)


@dataclass(frozen=True, slots=True)
class Extent:
    """What the structure rows say of one branch."""

    messages: int = 0
    first_turn: int = 0
    turns: int = 0
    first_row: int | None = None
    last_row: int | None = None

    @property
    def span(self) -> range:
        """The numbers of its turns."""
        return range(self.first_turn, self.turns + 1) if self.messages else range(0)


def branch_tree(
    connection: sqlite3.Connection, *, session_id: str, current_branch: str | None = None, binned: bool = False
) -> list[Branch]:
    """Give the branches, parents before children, otherwise in order of creation.

    ``current_branch`` defaults to the one kept for the conversation. ``binned`` includes the bin's branches.
    """
    extents = _extents(connection, session_id)
    recorded = _recorded(connection, session_id)
    hidden = set() if binned else {name for name, row in recorded.items() if row["binned_at"] is not None}
    hidden.discard(MAIN)
    alive = {name for name, row in recorded.items() if not row["gone"]} | extents.keys() | {MAIN}
    order = creation_order(connection, session_id)
    names = sorted(alive - hidden, key=lambda name: (name != MAIN, order.get(name, NEVER), name))
    finder = PlaceFinder(connection, session_id, hidden)
    hints = {name: recorded.get(name, {}).get("fork_turn") for name in names}
    times = _row_times(connection, [extents[name] for name in names if name in extents])
    costs = own_costs(connection, session_id=session_id)
    models = _models(connection, session_id)
    current = current_branch or kept_branch(connection, session_id=session_id)
    return [
        _branch(
            name,
            extent=extents.get(name, Extent()),
            row=recorded.get(name, {}),
            place=finder.place(name, extents.get(name, Extent()).span, hints[name]),
            times=times,
            cost=costs.get(name, (None, False)),
            model=models.get(name),
            current=current,
        )
        for name in names
    ]


def binned_branches(connection: sqlite3.Connection, *, session_id: str) -> list[Branch]:
    """Give the branches in the bin, in order of creation, placed as if the bin were part of the tree."""
    tree = branch_tree(connection, session_id=session_id, binned=True)
    return [branch for branch in tree if branch.binned_at is not None]


def kept_branch(connection: sqlite3.Connection, *, session_id: str) -> str:
    """Give the current branch that the file keeps for a conversation."""
    row = connection.execute(
        "SELECT current_branch FROM advchat_conversations WHERE session_id = ?", (session_id,)
    ).fetchone()
    return str(row[0]) if row is not None else MAIN


def _branch(
    name: str,
    *,
    extent: Extent,
    row: dict[str, Any],
    place: Place,
    times: dict[int, str],
    cost: tuple[int | None, bool],
    model: str | None,
    current: str,
) -> Branch:
    created = row.get("created_at") or times.get(extent.first_row or 0, "")
    last_row = times.get(extent.last_row or 0, "")
    return Branch(
        branch_id=name,
        title=row.get("title", ""),
        title_source=row.get("title_source", "none"),
        parent=place.parent,
        fork_turn=place.fork_turn,
        fork_kind="root" if name == MAIN else _kind(row),
        user_turns=extent.turns,
        message_count=extent.messages,
        is_current=name == current,
        created_at=created,
        last_used_at=max(row.get("last_used_at") or "", last_row, created),
        binned_at=row.get("binned_at") if name != MAIN else None,
        model=row.get("model") or model,
        pinned=bool(row.get("pinned", 0)),
        unread=bool(row.get("unread", 0)),
        budget_nano=row.get("budget_nano"),
        own_cost_nano=cost[0],
        own_cost_at_least=cost[1],
    )


def _kind(row: dict[str, Any]) -> ForkKind:
    kind = row.get("fork_kind")
    if kind == "before":
        return "before"
    return "after" if kind == "after" else "derived"


def _extents(connection: sqlite3.Connection, session_id: str) -> dict[str, Extent]:
    rows = connection.execute(
        "SELECT branch_id, COUNT(*), MIN(user_turn_number), MAX(user_turn_number), MIN(id), MAX(id) "
        "FROM message_structure "
        "WHERE session_id = ? GROUP BY branch_id",
        (session_id,),
    )
    return {
        name: Extent(count, first_turn or 0, turns or 0, first, last)
        for name, count, first_turn, turns, first, last in rows
    }


def _recorded(connection: sqlite3.Connection, session_id: str) -> dict[str, dict[str, Any]]:
    rows = connection.execute(
        f"SELECT branch_id, {', '.join(_RECORDED)} FROM advchat_branches WHERE session_id = ?",
        (session_id,),
    )
    return {row[0]: dict(zip(_RECORDED, row[1:], strict=True)) for row in rows}


def _models(connection: sqlite3.Connection, session_id: str) -> dict[str, str | None]:
    """Give the model that answered last on each branch that was answered."""
    rows = connection.execute(
        "SELECT request.branch_id, COALESCE(request.model, request.model_asked) FROM ("
        "SELECT MAX(id) AS id FROM advchat_requests WHERE session_id = ? GROUP BY branch_id"
        ") AS newest JOIN advchat_requests AS request ON request.id = newest.id",
        (session_id,),
    )
    return dict(rows.fetchall())


def _row_times(connection: sqlite3.Connection, extents: list[Extent]) -> dict[int, str]:
    wanted = {row for extent in extents for row in (extent.first_row, extent.last_row) if row is not None}
    rows = for_each_of(
        connection,
        "SELECT id, created_at FROM message_structure WHERE id IN ({wanted})",
        sorted(wanted),
    )
    return {row: normal(moment) for row, moment in rows if moment}
