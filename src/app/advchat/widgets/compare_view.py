"""Two branches side by side from their fork point.

Owns the view of a comparison: scrolling both sides together, the differences that are worked out while they
are looked at, and the lines above the sides. Costs what is seen, however long the branches are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from advchat.naming import branch_label
from advchat.text import one_line
from advchat.widgets.compare_rows import MARKS, ComparedDoc, column
from advchat.widgets.ink import ink
from advchat.widgets.numbers import count, money
from advchat.widgets.transcript.document import TurnDoc
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.view import TranscriptView
from advchat.widgets.transcript.viewport import Viewport

if TYPE_CHECKING:
    from advchat.state import ComparedSide, Comparison

BESIDE = 100
"""Columns from which the sides stand beside each other by themselves."""


class CompareViewport(Viewport):
    """A viewport on pairs of turns, all of which are there from the beginning."""

    def __init__(self, palette: Palette, docs: Sequence[ComparedDoc]) -> None:
        super().__init__(palette)
        self.docs = docs
        """The pairs, in order."""
        self.follow = False
        self.reset(len(docs))

    def doc(self, position: int) -> TurnDoc | None:
        """Return a pair."""
        return self.docs[position] if 0 <= position < len(self.docs) else None

    def anew(self) -> None:
        """Take up all heights after every pair has changed, and stay at the pair that is on top."""
        top = self.anchor.position
        self._rebuild(len(self.docs))
        self.jump_to(top)


class CompareView(TranscriptView):
    """The turns of two branches, words that only one of them has lit."""

    class Moved(Message):
        """Other rows are in view."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self._stacked: bool | None = None
        """Whether the user wants the sides one below the other; None leaves it to the width."""
        self.docs = [
            ComparedDoc(position, compared, stacked=False) for position, compared in enumerate(comparison.turns)
        ]
        self.viewport = CompareViewport(self.palette, self.docs)
        self._lighting = False

    @property
    def stacked(self) -> bool:
        """Whether the sides stand one below the other."""
        return self._stacked if self._stacked is not None else 0 < self.size.width < BESIDE

    def change_layout(self) -> None:
        """Put the sides beside each other or one below the other."""
        self._stacked = not self.stacked
        self._arrange()

    def _arrange(self) -> None:
        for doc in self.docs:
            doc.stack(stacked=self.stacked)
        if isinstance(self.viewport, CompareViewport):
            self.viewport.anew()
        self.sync(repaint=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        for doc in self.docs:
            doc.stack(stacked=self.stacked)

    def step(self, direction: int) -> bool:
        """Bring the next (1) or previous (-1) pair that differs to the top; False where there is none."""
        at = self.viewport.anchor.position
        begins = self.viewport.anchor.block == 0 and self.viewport.anchor.row == 0
        places = range(at + 1, len(self.docs)) if direction > 0 else range(at - begins, -1, -1)
        found = next((place for place in places if self.docs[place].differs()), None)
        if found is None:
            return False
        self.viewport.jump_to(found)
        self.sync()
        self.note_place()
        return True

    def synced(self) -> None:
        """Work out the differences of what has come into view."""
        self.post_message(self.Moved())
        if not self._lighting and self._unlit() is not None:
            self._lighting = True
            self.run_worker(self._light(), group="differences", exit_on_error=False)

    def _unlit(self) -> int | None:
        seen = dict.fromkeys(line.position for line in self.viewport.lines)
        return next((position for position in seen if self.docs[position].lit is None), None)

    async def _light(self) -> None:
        try:
            while (position := self._unlit()) is not None:
                doc = self.docs[position]
                # In a thread: the differences of long texts take a while, in which keys are to be heard.
                doc.light(await asyncio.to_thread(doc.differences))
                self.viewport.measure(position)
                self.sync()
        finally:
            self._lighting = False

    @property
    def lit(self) -> bool:
        """Whether the differences of everything in view are lit."""
        return self._unlit() is None

    def blank_line(self, y: int, width: int, base: Style) -> Strip:
        """Say where there is nothing to compare."""
        if self.docs or y != 1:
            return super().blank_line(y, width, base)
        text = one_line("  The branches hold the same turns: neither has gone on from the fork point.", width)
        return Strip([Segment(f"  {text}", base + self.palette.muted)]).adjust_cell_length(width, base)


class SidesHeading(Widget):
    """What stands above the sides: title, model, tokens, cost."""

    DEFAULT_CSS = """
    SidesHeading { height: 2; background: $surface; color: $foreground; }
    """

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self._sides = (comparison.left, comparison.right)
        self._turns = tuple(
            sum(turn is not None for turn in turns)
            for turns in zip(*((row.left, row.right) for row in comparison.turns), strict=True)
        ) or (0, 0)
        self._stacked = False

    def stack(self, *, stacked: bool) -> None:
        """Stand beside each other, or one below the other."""
        if stacked != self._stacked:
            self._stacked = stacked
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the titles over the numbers, or one side per line."""
        width = self.size.width
        base, inks = self.rich_style, ink(self)
        if self._stacked:
            title = self._title(y, width // 2)
            rest = one_line(self._numbers(y), max(0, width - cell_len(title) - 5))
            parts = [
                Segment(f" {title}", base + inks["key"]),
                Segment(f"  {rest}", base + inks["quiet"]),
            ]
            return Strip(parts).adjust_cell_length(width, base)
        room = column(width)
        segments: list[Segment] = []
        for side in (0, 1):
            text = self._title(side, room - 1) if y == 0 else one_line(self._numbers(side), room - 2)
            style = inks["key"] if y == 0 else inks["quiet"]
            text = f" {text}" if y == 0 else f"  {text}"
            segments.append(Segment(text + " " * max(0, room - cell_len(text)), base + style))
            if not side:
                segments.append(Segment(" │ ", base + inks["rule"]))
        return Strip(segments).adjust_cell_length(width, base)

    def _title(self, side: int, room: int) -> str:
        branch = self._sides[side]
        return f"{MARKS[side]} {one_line(branch_label(branch.branch_id, branch.title), max(1, room - 2))}"

    def _numbers(self, side: int) -> str:
        return side_numbers(self._sides[side], self._turns[side])


def side_numbers(side: ComparedSide, turns: int) -> str:
    """Tell model, turns, tokens and cost of one side, from the fork point on."""
    usage = side.usage
    told = [side.model or "", f"{turns} turn{'' if turns == 1 else 's'}"]
    if usage.requests:
        mark = "≥" if usage.at_least and usage.total_tokens is not None else ""
        told.append(f"{mark}{count(usage.total_tokens, 9)} tokens")
        told.append(money(usage.cost_nano, 10, at_least=usage.at_least))
    return " · ".join(part for part in told if part)
