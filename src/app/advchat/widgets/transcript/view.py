"""The scrolling and painting half of the transcript.

Owns the line-API view: which rows are painted, the scrollbar, following the end, rendering ahead while idle.
Heights, virtual size and scroll position are set without Textual's layout pass, and only rows that changed
are painted again. What turns are and what clicking them means is ``Transcript``'s.
"""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from advchat.widgets.transcript.palette import (
    COMPONENTS,
    FAINT,
    PALETTE_CSS,
    Palette,
    legible,
    make_palette,
    plain_palette,
)
from advchat.widgets.transcript.viewport import Line, Viewport

_NARROWEST = 16
"""A narrower view shows rows of this width, cut off."""
_IDLE_DELAY = 0.08
_IDLE_SLICE = 0.006

Mark = tuple[int, int, Style]
"""Cells of a row, and the style to lay over them."""


class TranscriptView(ScrollView, can_focus=True):
    """Rows of a conversation, of which only the visible ones are ever rendered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Scroll up", show=False, id="transcript.up"),
        Binding("down", "scroll_down", "Scroll down", show=False, id="transcript.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="transcript.page_up"),
        Binding("pagedown,space", "page_down", "Page down", show=False, id="transcript.page_down"),
        Binding("home", "scroll_home", "To the beginning", show=False, id="transcript.home"),
        Binding("end", "scroll_end", "To the end", show=False, id="transcript.end"),
    ]
    """Scrolling."""

    DEFAULT_CSS = (
        """
TranscriptView {
    height: 1fr;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
}
"""
        + PALETTE_CSS
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own parameter name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.viewport = Viewport(plain_palette())
        self._below = 0
        """Rows below the view when the user last scrolled: going down by as many means following again, even
        if a stream has added more meanwhile."""
        self._idle_timer: Timer | None = None
        self._palette_due = False
        self._base = Style()
        """The widget's own colours, which every row is laid over."""
        self._shown: list[Line] = []
        """What was painted last."""

    @property
    def palette(self) -> Palette:
        """The styles in use."""
        return self.viewport.palette

    # Styles and size

    def on_mount(self) -> None:
        """Take the theme's styles."""
        self._update_palette()

    def notify_style_update(self) -> None:
        """Render anew when the theme has changed what styles mean."""
        super().notify_style_update()
        if self.is_running and not self._palette_due:
            # Component styles are set only after this call.
            self._palette_due = True
            self.call_later(self._update_palette)

    def _update_palette(self) -> None:
        self._palette_due = False
        palette, base = make_palette(self._resolve), self.rich_style
        if palette != self.palette or base != self._base:
            self._base = base
            self.viewport.repaint(palette)
            self.sync(repaint=True)

    def _resolve(self, name: str) -> Style:
        """Turn a component class into a Rich style, mixing what is translucent with the background."""
        styles = self.get_component_styles(name)
        background = self.background_colors[1]
        bgcolor = None
        if styles.has_rule("background") and styles.background.a:
            background = background + styles.background
            bgcolor = background.rich_color
        color: Color | None = None
        if styles.has_rule("auto_color") and styles.auto_color:
            color = background + background.get_contrast_text(styles.color.a)
        elif styles.has_rule("color"):
            color = background + styles.color
            if name not in FAINT:
                color = legible(color, background)
        return Style(color=None if color is None else color.rich_color, bgcolor=bgcolor) + styles.text_style

    def on_resize(self, _event: events.Resize) -> None:
        """Lay out what is visible for the new size."""
        self._measure()
        self.sync(repaint=True)

    def _measure(self) -> None:
        size = self.scrollable_content_region.size
        self.viewport.resize(max(_NARROWEST, size.width) if size.width else 0, size.height)

    # Keeping screen and viewport in step

    def sync(self, *, repaint: bool = False) -> None:
        """Bring the screen up to the viewport; paint only rows that differ unless told to ``repaint``."""
        if not self.is_attached:
            return
        before, lines = self._shown, self.viewport.compose()
        self._shown = lines
        self._set_scroll(self.viewport.total, self.viewport.top)
        if repaint:
            self.refresh()
        else:
            self._refresh_changed(before, lines)
        self.synced()
        self._go_idle()

    def synced(self) -> None:
        """Do what follows from other rows being in view."""

    def _refresh_changed(self, before: list[Line], lines: list[Line]) -> None:
        rows = max(len(before), len(lines))
        changed = [
            index
            for index in range(rows)
            if index >= len(before) or index >= len(lines) or before[index].row is not lines[index].row
        ]
        if changed:
            # What is below the last row may be the words of an empty branch.
            first, last = changed[0], changed[-1] if len(before) == len(lines) else self.size.height - 1
            self.refresh(Region(0, first, self.size.width, last - first + 1))

    def _set_scroll(self, total: int, top: int) -> None:
        """Set virtual size and scroll position without the layout pass that the reactives would cause."""
        total = max(total, top + self.viewport.height)
        size = Size(self.viewport.width, total)
        bar = self.vertical_scrollbar if self.show_vertical_scrollbar else None
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if bar is not None:
                bar.window_virtual_size = total
                bar.window_size = self.viewport.height
        if top != self.scroll_y or top != self.scroll_target_y:
            self.set_reactive(Widget.scroll_y, float(top))
            self.set_reactive(Widget.scroll_target_y, float(top))
        if bar is not None and bar.position != top:
            bar.position = top

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scrollbar, and whoever else scrolls by Textual's means."""
        if round(old_value) == round(new_value) or round(new_value) == self.viewport.top:
            return
        if self.scrollable_content_region.height != self.viewport.height:
            # Textual holds the position to a new size; ``on_resize`` comes next and knows better.
            return
        self.viewport.jump(round(new_value))
        self.sync()
        self.note_place()

    # Scrolling

    def move(self, rows: int) -> None:
        """Scroll by rows as the user wishes: up stops following the end, down to the end follows again."""
        viewport = self.viewport
        viewport.follow = False
        viewport.scroll(rows)
        viewport.follow = rows > 0 and (rows >= self._below or viewport.at_end())
        self.sync()
        self.note_place()

    def note_place(self) -> None:
        """Remember how far below the view the end is, as the user sees it now."""
        self._below = max(0, self.viewport.total - self.viewport.top - self.viewport.height)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.move(-max(1, round(self.app.scroll_sensitivity_y)))
        event.stop()

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.move(max(1, round(self.app.scroll_sensitivity_y)))
        event.stop()

    def action_scroll_up(self) -> None:
        """Scroll up by a row."""
        self.move(-1)

    def action_scroll_down(self) -> None:
        """Scroll down by a row."""
        self.move(1)

    def action_page_up(self) -> None:
        """Scroll up by a view, less two rows to keep the thread."""
        self.move(-max(1, self.viewport.height - 2))

    def action_page_down(self) -> None:
        """Scroll down by a view, less two rows to keep the thread."""
        self.move(max(1, self.viewport.height - 2))

    def action_scroll_home(self) -> None:
        """Go to the first turn."""
        self.viewport.jump_to(0)
        self.sync()
        self.note_place()

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self.viewport.follow = True
        self.sync()

    # Idle work

    def _go_idle(self) -> None:
        if self._idle_timer is None and self.viewport.lines:
            self._idle_timer = self.set_timer(_IDLE_DELAY, self._idle)

    def _idle(self) -> None:
        self._idle_timer = None
        deadline = monotonic() + _IDLE_SLICE
        worked = False
        while monotonic() < deadline:
            if not self.viewport.render_ahead():
                self.settled()
                break
            worked = True
        if worked:
            self.sync()

    def settled(self) -> None:
        """Do what is due once everything near the view is rendered."""

    # Painting

    def render_line(self, y: int) -> Strip:
        """Return one row of the screen."""
        base = self._base
        width = self.size.width
        lines = self.viewport.lines
        if y >= len(lines):
            return self.blank_line(y, width, base)
        row, marks = lines[y].row, self.marks(lines[y])
        strip = Strip(Segment.apply_style(row.segments, base), row.cells).adjust_cell_length(width, base)
        return marked(strip, marks) if marks else strip

    def blank_line(self, _y: int, width: int, base: Style) -> Strip:
        """Return a row below the conversation's end."""
        return Strip.blank(width, base)

    def marks(self, _line: Line) -> list[Mark]:
        """Return what is laid over a row: selection, the focused target."""
        return []


def marked(strip: Strip, marks: list[Mark]) -> Strip:
    """Lay styles over cells of a strip."""
    for start, stop, style in marks:
        head, middle, tail = strip.crop(0, start), strip.crop(start, stop), strip.crop(stop, strip.cell_length)
        over = Strip(list(Segment.apply_style(middle, post_style=style)), middle.cell_length)
        strip = Strip.join([head, over, tail])
    return strip
