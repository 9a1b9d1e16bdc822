"""What mouse and keyboard do in the transcript: hover, click, drag to select, step from target to target.

Owns that state. What a target means is ``Transcript``'s.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.selection import SELECT_ALL, Selection
from textual.timer import Timer

from advchat.widgets.transcript.document import Settings, TurnDoc
from advchat.widgets.transcript.rows import Target
from advchat.widgets.transcript.selection import Range, cells_of, join, letter_at, source_of
from advchat.widgets.transcript.targets import Found, targets_of
from advchat.widgets.transcript.view import Mark, TranscriptView
from advchat.widgets.transcript.viewport import Line

_DRAG_SCROLL = 0.05


class PointerView(TranscriptView):
    """A view with a turn cursor, targets and a selection."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up,k", "previous_turn", "Previous turn", show=False, id="transcript.previous_turn"),
        Binding("ctrl+down,j", "next_turn", "Next turn", show=False, id="transcript.next_turn"),
        Binding("tab", "next_target", "Next button or link", show=False, id="transcript.next_target"),
        Binding("shift+tab", "previous_target", "Previous", show=False, id="transcript.previous_target"),
        Binding("enter", "press", "Press it", show=False, id="transcript.press"),
    ]
    """Turns and what is in them."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as in Textual
        super().__init__(name=name, id=id, classes=classes)
        self.cursor: int | None = None
        """Position of the turn that keys act on."""
        self._target: int | None = None
        """Number of the focused target in the cursor's turn."""
        self._settings: dict[int, Settings] = {}
        self._hover: int | None = None
        self._hover_target: Target | None = None
        self._pressed: Target | None = None
        self._drag_from: Range | None = None
        self._drag_place = (0, 0)
        self._drag_timer: Timer | None = None
        self._selected: Range | None = None

    def settings_of(self, key: int, position: int) -> Settings:
        """Return how the turn at a position is to be drawn; kept while the program runs."""
        settings = self._settings.setdefault(key, Settings())
        settings.active = self._is_active(position)
        return settings

    def _is_active(self, position: int) -> bool:
        return position == self._hover or (position == self.cursor and self.has_focus)

    # The turn cursor

    def synced(self) -> None:
        """Keep the cursor in view, and whoever listens informed."""
        lines = self.viewport.lines
        if not lines:
            self._move_cursor(None)
            return
        first, last = lines[0].position, lines[-1].position
        if self.cursor is None:
            self._move_cursor(last if self.viewport.follow else first)
        elif not first <= self.cursor <= last:
            self._move_cursor(max(first, min(self.cursor, last)))

    def _move_cursor(self, position: int | None) -> None:
        if position == self.cursor:
            return
        before, self.cursor = self.cursor, position
        self._target = None
        self._activate(before, position)
        if position is not None:
            self.turn_changed(position)

    def turn_changed(self, position: int) -> None:
        """Tell that the cursor is on another turn."""

    def _activate(self, *positions: int | None) -> None:
        """Draw the heads of turns anew whose actions are now offered, or are no longer."""
        changed = False
        for position in positions:
            doc = None if position is None else self.viewport.doc(position)
            if doc is None or position is None:
                continue
            active = self._is_active(position)
            if doc.settings.active != active:
                doc.settings.active = active
                doc.rebuild()
                changed = True
        if changed:
            self.call_later(self.sync)

    def on_focus(self) -> None:
        """Show the cursor."""
        self._activate(self.cursor)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._target = None
        self._activate(self.cursor)
        self.refresh()

    def action_previous_turn(self) -> None:
        """Go to the turn before."""
        self._step_turn(-1)

    def action_next_turn(self) -> None:
        """Go to the turn after; after the last one to the end."""
        self._step_turn(1)

    def _step_turn(self, step: int) -> None:
        if self.cursor is None:
            return
        position = self.cursor + step
        if position >= self.viewport.count:
            self.action_scroll_end()
            return
        self.show_position(max(0, position))

    def show_position(self, position: int) -> None:
        """Put the cursor on a turn and its head at the top, or as near as the end allows."""
        lines = self.viewport.lines
        heads = [y for y, line in enumerate(lines) if line.position == position]
        whole = bool(heads) and (heads[0] > 0 or self._is_head(lines[0])) and len(heads) < len(lines)
        if not whole or heads[-1] == len(lines) - 1:
            self.viewport.jump_to(position)
            self.viewport.compose()
            self.viewport.follow = self.viewport.at_end() and position == self.viewport.count - 1
        self._move_cursor(position)
        self._edge = self.viewport.total
        self.sync()

    def _is_head(self, line: Line) -> bool:
        return line.block is not None and line.block.kind in ("head", "rule")

    # Targets

    def _cursor_doc(self) -> TurnDoc | None:
        return None if self.cursor is None else self.viewport.doc(self.cursor)

    def _found(self, index: int | None) -> Found | None:
        doc = self._cursor_doc()
        if doc is None or self.cursor is None or index is None:
            return None
        return next(
            (found for found in targets_of(self.viewport, self.cursor, doc) if found.number == index), None
        )

    def action_next_target(self) -> None:
        """Go to the turn's next target; after its last one the focus moves on."""
        self._step_target(0 if self._target is None else self._target + 1)

    def action_previous_target(self) -> None:
        """Go to the turn's previous target; before its first one the focus moves back."""
        if self._target is None:
            raise SkipAction
        self._step_target(self._target - 1)

    def _step_target(self, index: int) -> None:
        found = self._found(index)
        if found is None:
            self._target = None
            self.refresh()
            raise SkipAction
        self._target = index
        self._reveal(found)
        self.refresh()

    def _reveal(self, found: Found) -> None:
        """Scroll so that a target's row is in view."""
        doc = self._cursor_doc()
        if doc is None or self.cursor is None:
            return
        viewport = self.viewport
        row = viewport.offsets.start(self.cursor) + doc.starts(viewport.width)[found.block]
        row += doc.blocks[found.block].margin + found.row
        if row < viewport.top:
            self.move(row - viewport.top - 1)
        elif row >= viewport.top + viewport.height:
            self.move(row - viewport.top - viewport.height + 2)

    def action_press(self) -> None:
        """Set off the focused target."""
        found = self._found(self._target)
        if found is None or self.cursor is None:
            raise SkipAction
        self.press(found.target, self.cursor, found.block)

    def press(self, target: Target, position: int, block: int) -> None:
        """Set off a target; ``block`` is the number of the block that it is in."""
        raise NotImplementedError

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
        if line.row.target_at(event.x) is pressed and doc is not None and line.block in doc.blocks:
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

    def _select(self, selected: Range | None) -> None:
        self._selected = selected
        positions = range(0) if selected is None else range(selected.start.position, selected.stop.position + 1)
        self.viewport.pinned = positions
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
            self.viewport.pinned = range(0)
            self.refresh()

    def marks(self, line: Line) -> list[Mark]:
        """Lay selection, focused target and hovered target over a row."""
        found: list[Mark] = []
        if self._selected is not None:
            found += [(low, high, self.palette.selection) for low, high in cells_of(line, self._selected)]
        target = self._hover_target
        if self._target is not None and line.position == self.cursor and self.has_focus:
            focused = self._found(self._target)
            found += self._target_marks(line, None if focused is None else focused.target)
        if target is not None and line.position == self._hover:
            found += self._target_marks(line, target)
        return found

    def _target_marks(self, line: Line, target: Target | None) -> list[Mark]:
        if target is None:
            return []
        spans = [span for span in line.row.spans if span.target is target]
        return [(span.x, span.x + span.cells, self.palette.target) for span in spans]
