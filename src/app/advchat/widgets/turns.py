"""The turns of the shown branch, as a list.

Owns the window of rows that is held, the asking for more as they come into view, and the ⑂ button on each
turn. Where rows come from is the screen's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message

from advchat.bindings import bindings
from advchat.text import one_line
from advchat.widgets.numbers import count, money
from advchat.widgets.rows import Cell, RowList

if TYPE_CHECKING:
    from advchat.state import TurnRow

_PAGE = 64
_FORK = 3
_MARKS: dict[str, Cell] = {
    "running": ("⟳ ", "warn"),
    "stopped": ("■ ", "quiet"),
    "failed": ("! ", "bad"),
    "refused": ("! ", "bad"),
    "interrupted": ("! ", "warn"),
}


class TurnList(RowList):
    """Number, first words, tokens, cost and a fork button of each turn; rows are read as they are seen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("turn"),
        Binding("enter", "choose", "Show", show=False),
    ]
    """What can be done with a turn; Enter shows it in the transcript."""

    empty = "No turns yet."

    class RowsWanted(Message):
        """Rows have come into view that are not held or may be untrue."""

        def __init__(self, generation: int, first: int, end: int) -> None:
            self.generation = generation
            self.first = first
            self.end = end
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._rows: dict[int, TurnRow] = {}
        self._asked: set[int] = set()
        self._branch: object = None
        self._version = -1
        self._generation = 0

    def show(self, branch: object, turn_count: int, version: int) -> None:
        """Show that many turns; a new ``branch`` drops the rows held, a new ``version`` has them read again."""
        moved = branch != self._branch
        following = moved or self.cursor >= self.count - 1
        if moved:
            self._rows.clear()
            self._generation += 1
        if moved or version != self._version:
            self._asked.clear()
        self._branch, self._version = branch, version
        self.count = turn_count
        if following:
            self.action_last()
        self.refresh()

    def put_rows(self, generation: int, start: int, rows: Sequence[TurnRow]) -> None:
        """Take rows that were asked for; rows of a branch no longer shown are dropped."""
        if generation == self._generation:
            self._rows.update(enumerate(rows, start))
            self.refresh()

    def forget_request(self, generation: int, start: int) -> None:
        """Ask again when these rows are next drawn, because reading them failed."""
        if generation == self._generation:
            self._asked.discard(start // _PAGE)

    @property
    def chosen(self) -> TurnRow | None:
        """The turn under the cursor, once its row is held."""
        return self._rows.get(self.cursor)

    @property
    def chosen_turn(self) -> int | None:
        """The number of the turn under the cursor, also before its row is held; None without turns."""
        if not self.count:
            return None
        first = self._rows.get(0)
        return self.chosen.turn if self.chosen is not None else self.cursor + (first.turn if first else 1)

    def row_at(self, index: int) -> TurnRow | None:
        """Tell the turn at a position, once its row is held."""
        return self._rows.get(index)

    def show_turn(self, turn: int) -> None:
        """Put the cursor on the turn with that number, if its row is held or follows from its neighbours."""
        first = self._rows.get(0)
        self.cursor = turn - (first.turn if first else 1)

    def zone(self, index: int, x: int, width: int) -> str:
        """Tell a click on the fork button."""
        row = self._rows.get(index)
        return "fork" if row is not None and row.turn > 0 and x >= width - _FORK else ""

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Draw number, words, tokens, cost and button."""
        self._want(index)
        row = self._rows.get(index)
        if row is None:
            return ((f"{index + 1:>4} …", "quiet"),)
        digits = max(3, len(str(self.count)))
        number = f" {row.turn or '':>{digits}} "
        tokens = f"{count(row.tokens, 5):>6}"
        cost = f"{money(row.cost_nano, 7, at_least=row.at_least):>8}" if width >= 32 else ""
        mark = _MARKS.get(row.status, ("", ""))
        room = max(1, width - len(number) - len(mark[0]) - len(tokens) - len(cost) - _FORK)
        words = one_line(row.preview, room)
        return (
            (number, "quiet" if row.inherited else "accent"),
            mark,
            (words + " " * (room - cell_len(words)), "quiet" if row.inherited else ""),
            (tokens + cost, "quiet"),
            (" ⑂ " if row.turn > 0 else "   ", "accent" if index in {self.cursor, self.hover} else "quiet"),
        )

    def action_choose(self) -> None:
        """Show the turn in the transcript."""
        self.choose()

    def _want(self, index: int) -> None:
        page = index // _PAGE
        if page not in self._asked:
            self._asked.add(page)
            # Not from within drawing: the screen would count as the sender, and messages never go to theirs.
            self.call_later(self._ask, self._generation, page * _PAGE)

    def _ask(self, generation: int, first: int) -> None:
        if generation == self._generation:
            self.post_message(self.RowsWanted(generation, first, min(first + _PAGE, self.count)))
