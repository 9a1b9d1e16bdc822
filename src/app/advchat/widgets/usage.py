"""The usage panel: sums, context gauge, a bar per turn.

Owns the scrolling view over the lines that ``usage_lines`` and ``usage_bars`` make, and moving along the
bars. The numbers come ready-made in the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advchat.bindings import bindings
from advchat.widgets import usage_bars
from advchat.widgets.ink import ink
from advchat.widgets.numbers import count, money
from advchat.widgets.usage_lines import Line, lines

if TYPE_CHECKING:
    from advchat.state import TurnBar, UsageView

_CHART = 6
"""Rows of the chart."""


class UsagePanel(ScrollView, can_focus=True):
    """What the turn, the branch and everything cost; left and right move along the bars."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("usage"),
        Binding("home", "bar(0)", "First", show=False),
        Binding("end", "bar(-1)", "Last", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
    ]
    """Moving along the bars and scrolling."""

    DEFAULT_CSS = """
    UsagePanel {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 0 1;
        scrollbar-gutter: stable;
    }
    """

    bar: reactive[int] = reactive(-1)
    """Position of the bar that is spoken of; -1 follows the newest."""

    class TurnPicked(Message):
        """The user moved to another turn's bar."""

        def __init__(self, turn: int) -> None:
            self.turn = turn
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._view: UsageView | None = None
        self._bars: tuple[TurnBar, ...] = ()
        self._lines: list[list[Segment]] = []

    def show(self, view: UsageView) -> None:
        """Show these numbers."""
        if view != self._view or not self._lines:
            self._view, self._bars = view, view.bars
            if self.bar >= len(view.bars):
                self.bar = -1
            self._lay_out()

    def on_resize(self) -> None:
        """Lay out anew for the width."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Lay out anew in the new theme's colours."""
        super().notify_style_update()
        if self.is_mounted:
            self._lay_out()

    def watch_bar(self) -> None:
        """Light the bar."""
        self._lay_out()

    def step(self, by: int) -> None:
        """Move along the bars and tell which turn that is."""
        total = len(self._bars)
        if total:
            self.bar = max(0, min(total - 1, self._place + by))
            self.post_message(self.TurnPicked(self._bars[self.bar].turn))

    def action_bar(self, place: int) -> None:
        """Move to the first or the last bar."""
        self.step((0 if place == 0 else len(self._bars)) - self._place)

    @property
    def _place(self) -> int:
        return self.bar if self.bar >= 0 else len(self._bars) - 1

    def on_click(self, event: events.Click) -> None:
        """Take a click on a bar for a move to it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + round(self.scroll_y)
        first, stop = self._window()
        place = first + (offset.x - 1) // self._unit()
        if line < _CHART + 2 and first <= place < stop:
            self.step(place - self._place)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the window."""
        width = self.scrollable_content_region.width
        line = y + round(self.scroll_y)
        if line >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        return Strip(self._lines[line]).adjust_cell_length(width, self.rich_style)

    def _unit(self) -> int:
        return usage_bars.unit(len(self._bars), self.scrollable_content_region.width - 2)

    def _window(self) -> tuple[int, int]:
        columns = max(1, (self.scrollable_content_region.width - 2) // self._unit())
        return usage_bars.window(len(self._bars), columns, self._place)

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0 or self._view is None:
            return
        words = lines(self._view, width, self._bars[self.bar] if self.bar >= 0 else None)
        self._lines = [*self._chart(width), *(self._segments(line) for line in words)]
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _segments(self, line: Line) -> list[Segment]:
        base, inks = self.rich_style, ink(self)
        return [Segment(text, base + inks[name] if name else base) for text, name in line]

    def _chart(self, width: int) -> list[list[Segment]]:
        bars = self._bars
        if not bars:
            return []
        first, stop = self._window()
        rows = usage_bars.chart(bars[first:stop], _CHART)
        base = self.rich_style
        unit = self._unit()
        drawn = [[Segment(" ", base), *self._drawn(row, unit)] for row in rows]
        lit = (self._place - first) * unit + max(0, unit - 2) // 2
        marker = [(" " * (lit + 1), ""), ("▲", "accent")]
        return [*drawn, self._segments(tuple(marker)), *map(self._segments, self._legend(width)), []]

    def _drawn(self, row: Sequence[usage_bars.ChartCell], unit: int) -> Iterator[Segment]:
        """Draw one row of the chart; a mark stands in the middle of its bar."""
        wide = max(1, unit - 1)
        for mark, name, ground in row:
            style = self._style(name, ground)
            if mark in "•?" and wide > 1:
                yield Segment(f"{' ' * ((wide - 1) // 2)}{mark}{' ' * (wide // 2)}", style)
            else:
                yield Segment(mark * wide, style)
            if unit > 1:
                yield Segment(" ", self.rich_style)

    def _style(self, name: str, ground: str) -> Style:
        inks = ink(self)
        style = self.rich_style + inks[name] if name else self.rich_style
        return style + Style(bgcolor=inks[ground].color) if ground else style

    def _legend(self, width: int) -> Sequence[Line]:
        bar = self._bars[self._place]
        cost = money(bar.cost_nano, 9, at_least="cost_nano" in bar.usage.unknown)
        told = f"{count(bar.input_tokens, 9)} in, {count(bar.output_tokens, 9)} out" if bar.known else "unknown"
        if not bar.known and bar.usage.estimated_output_tokens:
            told = f"≈{count(bar.usage.estimated_output_tokens, 8)} out, not counted"
        legend = (
            (" ", ""),
            ("■", "cached"),
            (" cached ", "quiet"),
            ("■", "input"),
            (" input ", "quiet"),
            ("■", "output"),
            (" output ", "quiet"),
            ("•", "cost"),
            (" cost", "quiet"),
        )
        return (
            ((f" turn {bar.turn}: ", "accent"), (told, ""), (f" · {cost}", "quiet")),
            legend if width >= 34 else (),
        )
