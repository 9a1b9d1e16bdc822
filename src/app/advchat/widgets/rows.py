"""A list of a great many rows that costs what is seen of it.

Owns cursor, scrolling, hovering and clicking, and the drawing of the rows in view. What a row says is the
subclass's: it gets a position and a width and answers with cells. Knows nothing of conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advchat.text import one_line
from advchat.widgets.ink import ink

Cell = tuple[str, str]
"""Text that is safe to draw, and the name of its style in ``ink``; empty for plain."""


class RowList(ScrollView, can_focus=True):
    """Rows by position, one terminal row each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move_to(0)", "First", show=False),
        Binding("end", "last", "Last", show=False),
    ]
    """Moving the cursor; what to do with a row is bound by subclasses."""

    DEFAULT_CSS = """
    RowList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 0 1;
        scrollbar-gutter: stable;
    }
    """

    count: reactive[int] = reactive(0)
    """How many rows there are."""

    cursor: reactive[int] = reactive(0)
    """Position of the chosen row."""

    hover: reactive[int] = reactive(-1)
    """Position of the row under the mouse; -1 for none."""

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, rows: RowList, index: int) -> None:
            self.rows = rows
            self.index = index
            super().__init__()

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    class Chosen(Message):
        """A row was picked, by Enter or by a click; ``zone`` names the part of the row that was clicked."""

        def __init__(self, rows: RowList, index: int, zone: str) -> None:
            self.rows = rows
            self.index = index
            self.zone = zone
            super().__init__()

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    empty: str = ""
    """Said in place of rows when there are none; it tells what to do."""

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Tell what the row at the position says, ``width`` cells at most."""
        raise NotImplementedError

    def zone(self, index: int, x: int, width: int) -> str:
        """Name the part of a row at a column; empty for the row as such."""
        return ""

    @property
    def row_width(self) -> int:
        """Cells that a row may take."""
        return max(0, self.scrollable_content_region.width)

    def watch_count(self, count: int) -> None:
        """Fit the scroll range and keep the cursor on a row."""
        self.virtual_size = Size(0, count)
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor among the rows."""
        return max(0, min(cursor, self.count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the two rows concerned and bring the new one into view."""
        self.refresh_rows(old, new)
        self.show_row(new)
        self.post_message(self.Moved(self, new))

    def watch_hover(self, old: int, new: int) -> None:
        """Redraw the two rows concerned."""
        self.refresh_rows(old, new)

    def refresh_rows(self, *indexes: int) -> None:
        """Redraw rows that are in view."""
        top = round(self.scroll_y)
        width = self.size.width
        for index in indexes:
            if 0 <= index - top < self.size.height:
                self.refresh(Region(0, index - top, width, 1))

    def show_row(self, index: int) -> None:
        """Scroll as little as needed for the row to be in view."""
        height = self.scrollable_content_region.height
        top = round(self.scroll_y)
        if height and not top <= index < top + height:
            self.scroll_to(
                y=index if index < top else index - height + 1, animate=False, immediate=True, force=True
            )

    def render_line(self, y: int) -> Strip:
        """Draw one row of the window."""
        width = self.row_width
        index = y + round(self.scroll_y)
        base, inks = self.rich_style, ink(self)
        if not self.count and self.empty:
            text = one_line(self.empty, width - 2) if y == 1 else ""
            return Strip([Segment(f" {text}", base + inks["quiet"])]).adjust_cell_length(width, base)
        if index >= self.count:
            return Strip.blank(width, base)
        row = base
        if index == self.cursor:
            row += inks["cursor" if self.has_focus else "blurred"]
        elif index == self.hover:
            row += inks["hover"]
        segments = [Segment(text, row + inks[name] if name else row) for text, name in self.cells(index, width)]
        return Strip(segments).adjust_cell_length(width, row)

    def on_focus(self) -> None:
        """Show the cursor as live."""
        self.refresh_rows(self.cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self.refresh_rows(self.cursor)

    def on_resize(self) -> None:
        """Keep the cursor's row in view when the window grows or shrinks."""
        self.show_row(self.cursor)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Light the row under the mouse."""
        index = event.y + round(self.scroll_y)
        self.hover = index if index < self.count else -1

    def on_leave(self) -> None:
        """Put the light out."""
        self.hover = -1

    def on_click(self, event: events.Click) -> None:
        """Take a click for a choice of the row, or of the part of it that was hit."""
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = offset.y + round(self.scroll_y)
        if index < self.count:
            self.cursor = index
            self.post_message(self.Chosen(self, index, self.zone(index, offset.x, self.row_width)))

    def action_move(self, step: int) -> None:
        """Move the cursor by rows."""
        self.cursor += step

    def action_move_to(self, index: int) -> None:
        """Move the cursor to a row."""
        self.cursor = index

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self.cursor = self.count - 1

    def action_page(self, direction: int) -> None:
        """Move the cursor by windows."""
        self.cursor += direction * max(1, self.scrollable_content_region.height - 1)

    def choose(self) -> None:
        """Pick the row under the cursor."""
        if self.count:
            self.post_message(self.Chosen(self, self.cursor, ""))
