"""What the mouse does in the transcript, and selecting text with it or by key.

Owns hover, clicks, drags and the selection. What a target means is ``Transcript``'s.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.selection import SELECT_ALL, Selection
from textual.timer import Timer

from advchat.widgets.transcript.cursor import CursorView
from advchat.widgets.transcript.rows import Target
from advchat.widgets.transcript.selection import (
    Place,
    Range,
    cells_of,
    join,
    letter_at,
    row_range,
    source_of,
    step_rows,
)
from advchat.widgets.transcript.view import Mark
from advchat.widgets.transcript.viewport import Line

_DRAG_SCROLL = 0.05


class PointerView(CursorView):
    """A view that is pointed at, clicked and selected in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "select_down", "Select down", show=False, id="transcript.select_down"),
        Binding("shift+up", "select_up", "Select up", show=False, id="transcript.select_up"),
        Binding("ctrl+a", "select_turn", "Select the turn", show=False, id="transcript.select_turn"),
    ]
    """Selecting by key."""

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own parameter name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._hover_target: Target | None = None
        self._pressed: Target | None = None
        self._drag_from: Range | None = None
        self._drag_place = (0, 0)
        self._drag_timer: Timer | None = None
        self._selected: Range | None = None

    # The mouse

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Offer the actions of the turn under the pointer, or go on selecting."""
        if self._drag_from is not None:
            self._drag(event.x, event.y)
            return
        line = self._line(event.y)
        target = None if line is None else line.row.target_at(event.x)
        self._set_hover(None if line is None else line.position, target)

    def on_leave(self) -> None:
        """Withdraw what the pointer had brought up."""
        if self._drag_from is None:
            self._set_hover(None, None)

    def _set_hover(self, position: int | None, target: Target | None) -> None:
        if target is not self._hover_target:
            self._hover_target = target
            self.refresh()
        if position != self._hover:
            before, self._hover = self._hover, position
            self._activate(before, position)

    def _line(self, y: int) -> Line | None:
        lines = self.viewport.lines
        return lines[y] if 0 <= y < len(lines) else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a click or a selection."""
        if event.button != 1:
            return
        self.capture_mouse()
        line = self._line(event.y)
        self._pressed = None if line is None else line.row.target_at(event.x)
        self._drag_from = letter_at(self.viewport.lines, event.x, event.y)
        if self._selected is not None:
            self.screen.clear_selection()
        if line is not None:
            self._move_cursor(line.position)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """End a click or a selection."""
        self.release_mouse()
        pressed, self._pressed = self._pressed, None
        self._drag_from = None
        self._stop_drag_scroll()
        line = self._line(event.y)
        if self._selected is not None or pressed is None or line is None or line.block is None:
            return
        doc = self.viewport.doc(line.position)
        if line.row.target_at(event.x) == pressed and doc is not None and line.block in doc.blocks:
            self.press(pressed, line.position, doc.blocks.index(line.block))

    def _drag(self, x: int, y: int) -> None:
        self._drag_place = (x, y)
        height = self.viewport.height
        outside = y < 0 or y >= height
        if outside and self._drag_timer is None:
            self._drag_timer = self.set_interval(_DRAG_SCROLL, self._drag_scroll)
        elif not outside:
            self._stop_drag_scroll()
        self._extend_to(x, max(0, min(y, height - 1)))

    def _drag_scroll(self) -> None:
        x, y = self._drag_place
        self.move(max(-4, y) if y < 0 else min(4, y - self.viewport.height + 1))
        self._extend_to(x, max(0, min(y, self.viewport.height - 1)))

    def _stop_drag_scroll(self) -> None:
        if self._drag_timer is not None:
            self._drag_timer.stop()
            self._drag_timer = None

    def _extend_to(self, x: int, y: int) -> None:
        here = letter_at(self.viewport.lines, x, y)
        if here is None or self._drag_from is None:
            return
        selected = join(self._drag_from, here)
        if here == self._drag_from and self._selected is None:
            return
        self._select(selected if selected.start < selected.stop else None)

    # The selection

    @property
    def selected_text(self) -> str:
        """Source of what is selected; empty when nothing is."""
        if self._selected is None:
            return ""
        viewport = self.viewport
        return source_of(
            self._selected, viewport.doc, lambda block: block.render(viewport.palette, viewport.width)
        )

    def action_select_down(self) -> None:
        """Select one more row, the first one of the cursor's turn if nothing is selected."""
        self._select_rows(1)

    def action_select_up(self) -> None:
        """Select one row less; once there is none, one more above."""
        self._select_rows(-1)

    def _select_rows(self, step: int) -> None:
        for _ in range(2):
            rows = [found for line in self.viewport.lines if (found := row_range(line)) is not None]
            selected = step_rows(self._selected, rows, step, self.cursor or 0)
            if selected is not None:
                self._select(selected)
                return
            self.move(step * max(1, self.viewport.height // 2))

    def action_select_turn(self) -> None:
        """Select the whole of the cursor's turn."""
        doc = self._cursor_doc()
        if doc is not None and self.cursor is not None:
            end = Place(self.cursor, doc.last_part, len(doc.source(doc.last_part)))
            self._select(Range(Place(self.cursor, 0, 0), end))

    def _select(self, selected: Range | None) -> None:
        self._selected = selected
        positions = range(0) if selected is None else range(selected.start.position, selected.stop.position + 1)
        self.viewport.shelf.pinned = positions
        self.refresh()
        # Textual's own list of selections is told, so that its copy command and its clearing reach this one.
        if selected is not None:
            self.screen.selections = {self: SELECT_ALL}
        elif self in self.screen.selections:
            self.screen.clear_selection()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected source, for whoever copies."""
        text = self.selected_text
        return (text, "\n") if text else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Drop the selection when Textual says that it was cleared."""
        if selection is None and self._selected is not None:
            self._selected = None
            self.viewport.shelf.pinned = range(0)
            self.refresh()

    def marks(self, line: Line) -> list[Mark]:
        """Lay selection and hovered target over a row too."""
        found = super().marks(line)
        if self._selected is not None:
            found += [(low, high, self.palette.selection) for low, high in cells_of(line, self._selected)]
        if self._hover_target is not None and line.position == self._hover:
            found += self._target_marks(line, self._hover_target)
        return found
