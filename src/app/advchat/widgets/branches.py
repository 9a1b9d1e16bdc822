"""The branches of a conversation as a graph.

Owns how a branch's line is drawn and what can be asked of it by key and mouse. The order, the depths and
the rails come ready-made in the snapshot's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType

from advchat.bindings import bindings
from advchat.text import one_line
from advchat.widgets.numbers import count, money
from advchat.widgets.rows import Cell, RowList

if TYPE_CHECKING:
    from advchat.state import BranchRow

_COST = 8
_TURNS = 5
_STATE = 2


def rails(row: BranchRow, width: int) -> str:
    """Draw what leads to a branch; a depth that would leave no room for the title is cut from the left."""
    if not row.depth:
        return ""
    lines = "".join("│ " if rail else "  " for rail in row.rails[1:]) + ("└─" if row.last else "├─")
    room = max(4, width // 3)
    return lines if len(lines) <= room else "⋯ " + lines[-(room - room % 2 - 2) :]


class BranchTree(RowList):
    """A git-log-like graph: current branch, titles, turns, own cost, running ⟳ and unread ●."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("branch")
    """Switch, rename, delete, undo."""

    empty = "No branches yet: send a prompt."

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._rows: tuple[BranchRow, ...] = ()

    def show(self, rows: tuple[BranchRow, ...]) -> None:
        """Show these branches; the cursor stays on its branch, or follows to a new current one."""
        if rows == self._rows:
            return
        chosen, current = self.chosen, self._current(self._rows)
        self._rows = rows
        self.count = len(rows)
        now = self._current(rows)
        wanted = now if now != current or chosen is None else chosen.branch.branch_id
        places = {row.branch.branch_id: place for place, row in enumerate(rows)}
        if wanted is not None:
            self.cursor = places.get(wanted, self.cursor)
        self.refresh()

    @property
    def chosen(self) -> BranchRow | None:
        """The branch under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def branch_at(self, index: int) -> BranchRow:
        """Tell the branch at a position."""
        return self._rows[index]

    @staticmethod
    def _current(rows: tuple[BranchRow, ...]) -> str | None:
        return next((row.branch.branch_id for row in rows if row.branch.is_current), None)

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Draw rails, node, title, state, turns and own cost."""
        row = self._rows[index]
        branch = row.branch
        lead = rails(row, width)
        wide = width >= 32
        tail = _STATE + _TURNS + (_COST if wide else 0)
        room = max(4, width - cell_len(lead) - 3 - tail)
        title = one_line(branch.title or branch.branch_id, room)
        gap = " " * max(0, width - cell_len(lead) - 3 - tail - cell_len(title))
        current = branch.is_current
        cost = money(branch.own_cost_nano, 7, at_least=branch.own_cost_at_least)
        return (
            (f" {lead}", "accent" if row.on_path and row.depth else "rule"),
            ("◉ " if current else "○ ", "accent" if row.on_path else "quiet"),
            (title, "strong" if current else "" if row.on_path else "quiet"),
            (gap, ""),
            _state(row),
            (f"{count(branch.user_turns, 4):>{_TURNS - 1}} ", "quiet"),
            (f"{cost:>{_COST - 1}} " if wide else "", "quiet"),
        )


def _state(row: BranchRow) -> Cell:
    if row.running:
        return " ⟳", "warn"
    return (" ●", "accent") if row.branch.unread else ("  ", "")
