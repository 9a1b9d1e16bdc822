"""The branches of a conversation as a graph.

Owns how a branch's line is drawn and what can be asked of it by key and mouse: folding, filtering, colouring,
a mark. The order, the depths and the rails come ready-made in the snapshot's rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType

from advchat.bindings import bindings
from advchat.naming import branch_label
from advchat.text import one_line, pad
from advchat.widgets.branch_rows import COLOURINGS, Colouring, Line, heat, last_column, seen
from advchat.widgets.numbers import count
from advchat.widgets.rows import Cell, RowList

if TYPE_CHECKING:
    from advchat.state import BranchRow

_LAST = 8
_MODEL = 15
_TURNS = 5
_STATE = 2
_NODE = 2


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
    """Switch, rename, delete, undo, mark, pin, fold, filter, colour."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._all: tuple[BranchRow, ...] = ()
        self._lines: tuple[Line, ...] = ()
        self._folded: set[str] = set()
        self._heat: dict[str, str] = {}
        self.term = ""
        """What the titles shown hold; empty shows all."""
        self.colouring: Colouring = ""
        """What the branches are coloured by; empty for nothing."""
        self.marked: str | None = None
        """The branch that is marked for comparison."""

    @property
    def empty(self) -> str:  # type: ignore[override] # what is said depends on why there is nothing
        """What is said in place of rows."""
        return f"No branch holds “{self.term}”." if self.term else "No branches yet: send a prompt."

    def show(self, rows: tuple[BranchRow, ...]) -> None:
        """Show these branches; the cursor stays on its branch, or follows to a new current one."""
        if rows == self._all:
            return
        chosen, current = self.chosen, self._current(self._all)
        self._all = rows
        now = self._current(rows)
        known = {row.branch.branch_id for row in rows}
        self._folded &= known
        if self.marked not in known:
            self.marked = None
        self._lay(now if now != current or chosen is None else chosen.branch.branch_id)

    def _lay(self, wanted: str | None) -> None:
        """Work out the lines, and put the cursor on a branch if it is among them."""
        self._lines = seen(self._all, self._folded, self.term)
        self._heat = heat(self._all, self.colouring) if self.colouring else {}
        self.count = len(self._lines)
        places = {line.row.branch.branch_id: place for place, line in enumerate(self._lines)}
        if wanted is not None:
            self.cursor = places.get(wanted, self.cursor)
        self.refresh()

    @property
    def chosen(self) -> BranchRow | None:
        """The branch under the cursor."""
        return self._lines[self.cursor].row if self.cursor < len(self._lines) else None

    def branch_at(self, index: int) -> BranchRow:
        """Tell the branch at a position."""
        return self._lines[index].row

    @staticmethod
    def _current(rows: tuple[BranchRow, ...]) -> str | None:
        return next((row.branch.branch_id for row in rows if row.branch.is_current), None)

    # Folding, filtering, colouring, marking

    def fold(self, branch_id: str, *, folded: bool | None = None) -> None:
        """Fold away what was forked from a branch, or unfold it; None changes between the two."""
        fold = branch_id not in self._folded if folded is None else folded
        self._folded = self._folded | {branch_id} if fold else self._folded - {branch_id}
        chosen = self.chosen
        self._lay(branch_id if folded is None else chosen.branch.branch_id if chosen is not None else None)

    def filter(self, term: str) -> None:
        """Show only branches whose titles hold the term; empty shows all."""
        chosen = self.chosen
        self.term = term.strip()
        self._lay(chosen.branch.branch_id if chosen is not None else None)

    def next_colouring(self) -> Colouring:
        """Colour by the next thing, and tell by which."""
        self.colouring = COLOURINGS[(COLOURINGS.index(self.colouring) + 1) % len(COLOURINGS)]
        self._lay(None)
        return self.colouring

    def mark(self, branch_id: str | None) -> None:
        """Mark a branch for comparison, or none."""
        self.marked = branch_id
        self.refresh()

    # Drawing

    def zone(self, index: int, x: int, width: int) -> str:
        """Name the node of a branch that something was forked from: a click there folds."""
        row = self._lines[index].row
        start = 1 + cell_len(rails(row, width))
        return "fold" if row.children and start <= x < start + _NODE else ""

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Draw rails, node, title, state, turns and own cost, or what the branches are coloured by."""
        line = self._lines[index]
        row, branch = line.row, line.row.branch
        lead = rails(row, width)
        last = (_MODEL if self.colouring == "model" and width >= 40 else _LAST) if width >= 32 else 0
        hidden = f" ▸{line.hidden}" if line.hidden else ""
        marks = f"{'★ ' if branch.pinned else ''}{'◆ ' if branch.branch_id == self.marked else ''}"
        tail = _STATE + _TURNS + last + cell_len(hidden) + cell_len(marks)
        room = max(4, width - cell_len(lead) - 1 - _NODE - tail)
        title = one_line(branch_label(branch.branch_id, branch.title), room)
        gap = " " * max(0, width - cell_len(lead) - 1 - _NODE - tail - cell_len(title))
        told = last_column(row, self.colouring, last - 1, datetime.now(UTC)) if last else ""
        style = self._heat.get(branch.branch_id, "quiet")
        return (
            (f" {lead}", "accent" if row.on_path and row.depth else "rule"),
            ("◉ " if branch.is_current else "○ ", "accent" if row.on_path else "quiet"),
            (marks, "warn"),
            (title, "strong" if branch.is_current else "" if row.on_path else "quiet"),
            (hidden, "accent"),
            (gap, ""),
            _state(row),
            (f"{count(branch.user_turns, 4):>{_TURNS - 1}} ", "quiet"),
            (f"{pad(told, last - 1, 'right')} " if last else "", style),
        )


def _state(row: BranchRow) -> Cell:
    if row.running:
        return " ⟳", "warn"
    return (" ●", "accent") if row.branch.unread else ("  ", "")
