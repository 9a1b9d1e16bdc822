"""The line at the top of a screen over the main one.

Owns its drawing: a name, what it is about, and what is known at the right edge.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from advchat.text import one_line
from advchat.widgets.ink import ink


class Heading(Widget):
    """One line; the middle gives way first."""

    DEFAULT_CSS = """
    Heading { height: 1; background: $panel; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts = ("", "", "")

    def show(self, name: str, about: str, known: str = "") -> None:
        """Show these three."""
        if (name, about, known) != self._parts:
            self._parts = (name, about, known)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        base, inks = self.rich_style, ink(self)
        name, about, known = self._parts
        left = one_line(name, width - 2)
        right = one_line(known, max(0, width - cell_len(left) - 4))
        room = width - cell_len(left) - cell_len(right) - 6
        middle = one_line(about, room) if room > 6 else ""
        gap = " " * max(1, width - cell_len(left) - cell_len(middle) - cell_len(right) - 4)
        return Strip(
            [
                Segment(f" {left}  ", base + inks["key"]),
                Segment(middle, base),
                Segment(gap, base),
                Segment(right, base + inks["quiet"]),
            ]
        ).adjust_cell_length(width, base)
