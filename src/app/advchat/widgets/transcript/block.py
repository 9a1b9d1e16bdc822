"""A stretch of a turn that is rendered as one.

Owns when rows are made, kept and dropped, and what is known of their number. What is drawn is the renderers'
affair. Knows no turn and no widget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rich.style import Style

from advchat.widgets.transcript.cards import MARGIN, PlainRows
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.prose import led_row
from advchat.widgets.transcript.rows import Row, Run

NO_PART = -1
"""The part of what stands in no source."""


class Renderer(Protocol):
    """Makes the rows of one block, again and again while its source grows."""

    rows: list[Row]

    def update(self, source: str) -> int:
        """Render ``source``, which extends the last one; return the first changed row."""


Make = Callable[[Palette, int], Renderer]


class Block:
    """A stretch of a turn that is rendered as one.

    ``part`` and ``start`` say where ``source`` stands in the turn. ``identity`` tells blocks apart that draw
    differently: equal ones draw the same.
    """

    def __init__(
        self,
        kind: str,
        source: str,
        make: Make,
        *,
        part: int = NO_PART,
        start: int = 0,
        margin: int = 1,
        extra: object = None,
    ) -> None:
        self.kind = kind
        self.source = source
        self.part = part
        self.start = start
        self.margin = margin
        """Empty rows above it."""
        self.extra = extra
        self.references = 0
        """How many link definitions were known when it was made, if that can make a difference."""
        self.open = False
        """Whether its source may still grow: its renderer is then kept."""
        self._make = make
        self._renderer: Renderer | None = None
        self._rows: list[Row] | None = None
        self._palette: Palette | None = None
        self._measured = (0, 0)
        """The width it was rendered at, and the rows it took; kept when the rows are dropped."""

    @property
    def identity(self) -> tuple[str, str, object, int]:
        """What an equal block has the same of."""
        return (self.kind, self.source, self.extra, self.references)

    def height(self, width: int) -> int:
        """Return its rows without the margin, estimated unless it was rendered at that width."""
        if self._measured[0] == width:
            return self._measured[1]
        room = max(8, width - MARGIN)
        return 1 + len(self.source) // room + self.source.count("\n")

    def measured(self, width: int) -> bool:
        """Whether ``height`` is exact."""
        return self._measured[0] == width

    def ready(self, palette: Palette, width: int) -> bool:
        """Whether its rows need no rendering."""
        return self._rows is not None and self._measured[0] == width and self._palette is palette

    def render(self, palette: Palette, width: int) -> list[Row]:
        """Return its rows, rendered now if they are not ready."""
        if self._rows is None or not self.ready(palette, width):
            self._palette = palette
            self._renderer = self._make(palette, width)
            self._rows = []
            self._update(self._rows, width)
        return self._rows

    def grow(self, source: str) -> None:
        """Replace the source by one that extends it."""
        self.source = source
        if self._rows is not None and self._renderer is not None:
            self._update(self._rows, self._measured[0])
        else:
            self._rows = None
            self._measured = (0, 0)

    def _update(self, rows: list[Row], width: int) -> None:
        if self._renderer is None:
            return
        try:
            changed = min(self._renderer.update(self.source), len(rows))
        except Exception:  # a parser or lexer that gives up on somebody's text must not take the program along
            self._renderer = PlainRows(Style(), width - MARGIN)
            changed = self._renderer.update(self.source)
        lead = [Run(" " * MARGIN, Style())] if self.kind in _INDENTED else []
        rows[changed:] = [led_row(lead, row) for row in self._renderer.rows[changed:]]
        self._measured = (width, len(rows))
        if not self.open:
            self._renderer = None

    def close(self) -> None:
        """Say that the source will not grow any more."""
        self.open = False
        self._renderer = None

    def drop(self, *, height: bool = False) -> None:
        """Forget the rows, to save memory, and with ``height`` how many they were."""
        self._rows = self._renderer = None
        if height:
            self._measured = (0, 0)

    def adopt(self, other: Block) -> None:
        """Take over what an equal block has rendered."""
        if self._rows is not None or other._rows is None:
            return
        self._rows, self._measured, self._palette = list(other._rows), other._measured, other._palette
        if self.open and other.open:
            self._renderer = other._renderer


_INDENTED = frozenset({"paragraph", "prose", "code", "table", "reasoning", "tool", "notice", "end", "wait"})
