"""Rows as the transcript draws and maps them.

Owns the values that renderers produce: a row is styled text together with the places in the
source that its cells came from, and the targets that can be clicked on it. Knows no widget and no turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from advchat.text import TAB_CELLS, clean, harmless_parts

TargetKind = Literal["fork", "action", "link", "copy", "copy_block", "fold"]
NOWHERE = -1
"""The source offset of what stands in no source: markers, rules, labels."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something in a row that a click or Enter sets off.

    ``value`` is the action's name, the link's URL, the text to copy, or what is folded.
    """

    kind: TargetKind
    value: str = ""


class Run(NamedTuple):
    """A stretch of text in one style. ``start`` and ``end`` are offsets into the block's source."""

    text: str
    style: Style
    start: int = NOWHERE
    end: int = NOWHERE
    target: Target | None = None


class Span(NamedTuple):
    """A run's place on a row, in cells."""

    x: int
    cells: int
    text: str
    start: int
    end: int
    target: Target | None

    def offset_at(self, x: int) -> int:
        """Return the source offset of the letter that covers cell ``x``."""
        if self.end - self.start != len(self.text):
            return self.start
        return self.start + letters_before(self.text, x - self.x)

    def cell_at(self, offset: int) -> int:
        """Return the cell at which the letter of that source offset begins."""
        if offset <= self.start:
            return self.x
        if offset >= self.end:
            return self.x + self.cells
        if self.end - self.start != len(self.text):
            return self.x
        return self.x + cell_len(self.text[: offset - self.start])


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the transcript."""

    segments: tuple[Segment, ...]
    cells: int
    """Its width."""
    spans: tuple[Span, ...] = ()
    """Only those that have a place in the source or a target."""

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(segment.text for segment in self.segments)

    def target_at(self, x: int) -> Target | None:
        """Return the target that covers cell ``x``."""
        for span in self.spans:
            if span.target is not None and span.x <= x < span.x + span.cells:
                return span.target
        return None

    def targets(self) -> list[Target]:
        """Return the row's targets from left to right."""
        return [span.target for span in self.spans if span.target is not None]


EMPTY_ROW = Row((), 0)


def letters_before(text: str, cells: int) -> int:
    """Return how many letters of ``text`` lie wholly in its first ``cells`` cells."""
    if cells <= 0:
        return 0
    if text.isascii():
        return min(cells, len(text))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cell_len(text[:middle]) <= cells:
            low = middle
        else:
            high = middle - 1
    return low


def make_row(runs: Iterable[Run], fill: int = 0, fill_style: Style | None = None) -> Row:
    """Put ``runs`` on one row. With ``fill``, pad it to that many cells in ``fill_style``."""
    segments: list[Segment] = []
    spans: list[Span] = []
    x = 0
    for run in runs:
        if not run.text:
            continue
        cells = cell_len(run.text)
        segments.append(Segment(run.text, run.style))
        if run.start != NOWHERE or run.target is not None:
            spans.append(Span(x, cells, run.text, run.start, run.end, run.target))
        x += cells
    if x < fill:
        segments.append(Segment(" " * (fill - x), fill_style))
        x = fill
    return Row(tuple(segments), x, tuple(spans))


def outside(
    text: str, style: Style, start: int = NOWHERE, target: Target | None = None, column: int = 0
) -> list[Run]:
    """Make runs of a line from outside: neutralised, and still mapped letter by letter to its source.

    ``column`` is the cell that it begins at, for tabs.
    """
    shown = clean(text)
    if shown == text:
        if not text:
            return []
        return [Run(text, style, start, start if start == NOWHERE else start + len(text), target)]
    return _pieces(text, style, start, target, column)


def _pieces(text: str, style: Style, start: int, target: Target | None, column: int) -> list[Run]:
    """Make a run of each stretch that is shown as it is, and of each letter that is not."""
    runs: list[Run] = []
    step = 0 if start == NOWHERE else 1
    for part in harmless_parts(text):
        shown = clean(part) if part != "\t" else " " * (TAB_CELLS - column % TAB_CELLS)
        runs.append(Run(shown, style, start, start + step * len(part), target))
        start += step * len(part)
        column += cell_len(shown)
    return runs
