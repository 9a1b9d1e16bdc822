"""A list to pick from.

Owns rows with a title, a detail and a tag, for the palette, conversations, search, the bin and slash
completion. What the rows stand for is known to whoever put them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from advchat.text import clean, one_line
from advchat.widgets.rows import Cell, RowList

_ALIGNED = 200


@dataclass(frozen=True, slots=True)
class Pick:
    """One thing to pick."""

    key: str
    """What it stands for."""
    title: str
    detail: str = ""
    """Beside the title, quiet."""
    tag: str = ""
    """At the right edge."""
    match: tuple[int, int] | None = None
    """Part of the detail to light."""


class PickList(RowList):
    """Rows of picks; the field above it keeps the focus and moves its cursor."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.can_focus = False
        self.empty = empty
        self._picks: Sequence[Pick] = ()
        self._title_cells = 0

    @property
    def chosen(self) -> Pick | None:
        """The pick under the cursor."""
        return self._picks[self.cursor] if self.cursor < len(self._picks) else None

    def show(self, picks: Sequence[Pick], *, keep: bool = False) -> None:
        """Show these; the cursor goes to the first one unless it is to be kept."""
        self._picks = picks
        # Details are aligned; a few long titles do not push all of them to the edge.
        self._title_cells = max((cell_len(pick.title) for pick in picks[:_ALIGNED]), default=0)
        self.count = len(picks)
        if not keep:
            self.cursor = 0
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.refresh()

    def pick_at(self, index: int) -> Pick:
        """Tell the pick at a position."""
        return self._picks[index]

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Draw title, detail and tag."""
        pick = self._picks[index]
        tag = one_line(pick.tag, max(0, width // 3))
        room = max(1, width - cell_len(tag) - 3)
        most = max(1, min(room, max(16, width * 2 // 5, 0 if pick.detail else room)))
        title = one_line(pick.title, most)
        if pick.detail:
            title += " " * (min(self._title_cells, most) - cell_len(title))
        left = max(0, room - cell_len(title) - 2)
        detail = self._detail(pick, left)
        used = cell_len(title) + sum(cell_len(text) for text, _ in detail)
        gap = " " * max(1, width - used - cell_len(tag) - 2)
        lit = "accent" if index == self.cursor else ""
        return ((" ", ""), (title, "strong" if lit else ""), *detail, (gap, ""), (tag, "quiet"), (" ", ""))

    def _detail(self, pick: Pick, room: int) -> list[Cell]:
        if not pick.detail or room < 4:
            return []
        if pick.match is None:
            return [("  ", ""), (one_line(pick.detail, room), "quiet")]
        start, end = pick.match
        before, found = (
            clean(pick.detail[:start], newlines=False),
            clean(pick.detail[start:end], newlines=False),
        )
        # The match must be seen: of what stands before it, only the end is kept.
        while before and cell_len(before) > max(4, room // 3):
            before = "…" + before[2:] if before.startswith("…") else "…" + before[1:]
        found = one_line(found, max(1, room - cell_len(before))) if found.strip() else found
        after = one_line(pick.detail[end:], max(0, room - cell_len(before) - cell_len(found)))
        space = " " if pick.detail[end : end + 1] == " " else ""
        return [("  ", ""), (before, "quiet"), (found, "accent"), (space + after, "quiet")]
