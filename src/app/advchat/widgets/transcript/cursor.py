"""The turn cursor of the transcript, and stepping from target to target.

Owns which turn the keys act on and which of its buttons and links has the focus. What a target means is
``Transcript``'s.
"""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType

from advchat.widgets.transcript.document import Settings, TurnDoc
from advchat.widgets.transcript.rows import Target
from advchat.widgets.transcript.targets import Found, targets_of
from advchat.widgets.transcript.view import Mark, TranscriptView
from advchat.widgets.transcript.viewport import Line


class CursorView(TranscriptView):
    """A view with a turn cursor, whose turn's targets can be stepped through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up,k", "previous_turn", "Previous turn", show=False, id="transcript.previous_turn"),
        Binding("ctrl+down,j", "next_turn", "Next turn", show=False, id="transcript.next_turn"),
        Binding("tab", "next_target", "Next button or link", show=False, id="transcript.next_target"),
        Binding("shift+tab", "previous_target", "Previous", show=False, id="transcript.previous_target"),
        Binding("enter", "press", "Press it", show=False, id="transcript.press"),
    ]
    """Turns and what is in them."""

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own parameter name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.cursor: int | None = None
        """Position of the turn that keys act on."""
        self._hover: int | None = None
        """Position of the turn under the pointer."""
        self._target: int | None = None
        """Number of the focused target in the cursor's turn."""
        self._focused: Target | None = None
        self._settings: dict[int, Settings] = {}

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
        if self._target is not None:
            # Rows may have been rendered anew, and their targets with them.
            self._focus(self._found(self._target))

    def _move_cursor(self, position: int | None) -> None:
        if position == self.cursor:
            return
        before, self.cursor = self.cursor, position
        self._focus(None)
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
        self._focus(None)
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
        self.sync()
        self.note_place()

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
        self._focus(found)
        self.refresh()
        if found is None:
            raise SkipAction
        self._reveal(found)

    def _focus(self, found: Found | None) -> None:
        self._target = None if found is None else found.number
        self._focused = None if found is None else found.target

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

    # Painting

    def marks(self, line: Line) -> list[Mark]:
        """Lay the focused target over a row."""
        if self._focused is None or line.position != self.cursor or not self.has_focus:
            return []
        return self._target_marks(line, self._focused)

    def _target_marks(self, line: Line, target: Target) -> list[Mark]:
        spans = [span for span in line.row.spans if span.target is target]
        return [(span.x, span.x + span.cells, self.palette.target) for span in spans]
