"""Which rows of a conversation are on screen.

Owns heights and the anchor: the block and row at the top of the view. Everything is held to the anchor, so
that heights corrected elsewhere never move what is read. Renders only what comes into view. Knows no widget
and nothing of painting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from advchat.state import TurnRow, TurnView
from advchat.widgets.transcript.block import Block
from advchat.widgets.transcript.document import Settings, TurnDoc
from advchat.widgets.transcript.offsets import Offsets
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import EMPTY_ROW, Row
from advchat.widgets.transcript.shelf import Shelf

_GUESS = 10
"""Rows that a turn is taken to have while nothing is known of it."""
_MOST_BLOCKS = 400
"""A turn with more blocks is not rendered ahead."""
AHEAD = 8
"""Turns above and below the view that are asked for with it."""


class Anchor(NamedTuple):
    """A row of the conversation: a turn's position, a block in it, a row from the block's margin on."""

    position: int = 0
    block: int = 0
    row: int = 0


class Line(NamedTuple):
    """What one screen row shows. ``block`` is None for a turn that is not loaded yet."""

    position: int
    block: Block | None
    row: Row


class Viewport:
    """The visible part of a list of turns."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self.width = 0
        self.height = 0
        self.shelf = Shelf()
        self.offsets = Offsets()
        self.anchor = Anchor()
        self.follow = True
        """Whether the view is held at the end."""
        self.lines: list[Line] = []
        self._aim: tuple[int, int] | None = None
        """A position, and the screen row that its head is to have until something moves the view."""
        self._hold_aim = False
        """Whether that holds even where the conversation then ends above the end of the screen."""
        self._hints: dict[int, tuple[int, int]] = {}
        self._reported: dict[int, tuple[int, int]] = {}
        self.placeholder = EMPTY_ROW

    @property
    def count(self) -> int:
        """Number of turns."""
        return len(self.offsets)

    @property
    def total(self) -> int:
        """Rows of the whole conversation, as far as known."""
        return self.offsets.total

    @property
    def top(self) -> int:
        """The row of the conversation at the top of the view."""
        return self._row(self.anchor)

    # Content

    def reset(self, count: int, rows: Iterable[TurnRow] = (), *, keep: int = 0) -> None:
        """Show another list of turns, of which the first ``keep`` positions are those that it shows now."""
        self.shelf.cut(keep)
        self._hints = {position: hint for position, hint in self._hints.items() if position < keep}
        self.hint(rows)
        self._rebuild(count)

    def hint(self, rows: Iterable[TurnRow]) -> None:
        """Learn keys and heights of turns that are not loaded."""
        rows = tuple(rows)
        self.shelf.learn(rows)
        for row in rows:
            position = row.turn - self.shelf.first_turn
            if row.height is not None and row.height_width is not None:
                self._hints[position] = (row.height, row.height_width)

    def set_count(self, count: int) -> None:
        """Add turns at the end, or take some away."""
        self.shelf.cut(count)
        if count < self.count:
            self._rebuild(count)
        while self.count < count:
            self.offsets.append(self._guess(self.count))

    def resize(self, width: int, height: int) -> None:
        """Take the view's size in cells; a new width leaves the anchor where it is in the text."""
        self.height = height
        if width != self.width:
            self.width = width
            self._rebuild(self.count)

    def repaint(self, palette: Palette) -> None:
        """Use other styles from now on."""
        if palette != self.palette:
            self.palette = palette

    def _rebuild(self, count: int) -> None:
        heights = [_GUESS] * count
        for position in {*self._hints, *self.shelf.known}:
            if 0 <= position < count:
                heights[position] = self._guess(position)
        self.offsets = Offsets(heights)
        position = min(self.anchor.position, max(0, count - 1))
        self.anchor = self.anchor if position == self.anchor.position else Anchor(position)

    def _guess(self, position: int) -> int:
        doc = self.doc(position)
        if doc is not None and self.width:
            return doc.height(self.width)
        height, width = self._hints.get(position, (_GUESS, 0))
        if width in (0, self.width) or not self.width:
            return max(1, height)
        return max(1, height * width // self.width)

    def doc(self, position: int) -> TurnDoc | None:
        """Return a turn if it is loaded."""
        return self.shelf.doc(position)

    def put(self, position: int, view: TurnView, settings: Settings, *, live: bool = False) -> None:
        """Load a turn, or replace it by a newer view of the same."""
        self.shelf.put(position, view, settings, live=live)
        self.measure(position)

    def measure(self, position: int) -> None:
        """Take up a turn's height after it changed."""
        doc = self.doc(position)
        if doc is not None and position < self.count and self.width:
            self.offsets.set(position, max(1, doc.height(self.width)))

    def missing(self) -> list[range]:
        """Return the positions in and around the view that are not loaded, as ranges."""
        if not self.count or not self.lines:
            return []
        first = max(0, self.lines[0].position - AHEAD)
        last = min(self.count, self.lines[-1].position + AHEAD + 1)
        if all(self.doc(line.position) is not None for line in self.lines[:: max(1, len(self.lines) - 1)]):
            near = range(max(0, self.lines[0].position - 2), min(self.count, self.lines[-1].position + 3))
            if all(self.doc(position) is not None for position in near):
                return []
        found: list[range] = []
        for position in range(first, last):
            if self.doc(position) is not None:
                continue
            if found and found[-1].stop == position:
                found[-1] = range(found[-1].start, position + 1)
            else:
                found.append(range(position, position + 1))
        return found

    # Moving

    def jump(self, row: int) -> None:
        """Put a row of the conversation at the top, by heights as known now."""
        self._aim = None
        self.anchor = self.locate(row)
        self.follow = row >= self.total - self.height

    def jump_to(self, position: int, screen_row: int = 0, *, hold: bool = False) -> None:
        """Put the head of a turn at a row of the screen; with ``hold`` even if that leaves rows empty."""
        self.follow = False
        position = max(0, min(position, self.count - 1))
        self._aim = (position, screen_row)
        self._hold_aim = hold
        self.anchor = Anchor(position)

    def scroll(self, rows: int) -> None:
        """Move by rows; far moves go by heights as known now."""
        self._aim = None
        if abs(rows) > 4 * max(1, self.height):
            self.jump(max(0, min(self.top + rows, self.total - self.height)))
        elif rows < 0:
            self.anchor = self._up(self.anchor, -rows)
        else:
            self.anchor = self._down(self.anchor, rows)

    def at_end(self) -> bool:
        """Whether the last row is in view."""
        return self.top + self.height >= self.total

    def locate(self, row: int) -> Anchor:
        """Return the place of a row of the conversation."""
        if not self.count:
            return Anchor()
        row = max(0, min(row, self.total - 1))
        position = self.offsets.find(row)
        row -= self.offsets.start(position)
        doc = self.doc(position)
        if doc is None:
            return Anchor(position, 0, row)
        starts = doc.starts(self.width)
        block = max(0, next((n for n, start in enumerate(starts[1:]) if start > row), len(doc.blocks) - 1))
        return Anchor(position, block, row - starts[block])

    def _row(self, anchor: Anchor) -> int:
        if not self.count:
            return 0
        doc = self.doc(anchor.position)
        start = self.offsets.start(anchor.position)
        if doc is None or not self.width:
            return start + anchor.row
        return start + doc.starts(self.width)[min(anchor.block, len(doc.blocks) - 1)] + anchor.row

    def _extent(self, position: int, block: int) -> int:
        """Return the rows of a block with its margin, rendered, and with the turn's empty last row."""
        doc = self.doc(position)
        if doc is None:
            return self.offsets[position]
        found = doc.blocks[block]
        rows = found.margin + len(self.render(position, found))
        return rows + 1 if block == len(doc.blocks) - 1 else rows

    def _blocks(self, position: int) -> int:
        doc = self.doc(position)
        return 1 if doc is None else len(doc.blocks)

    def _up(self, anchor: Anchor, rows: int) -> Anchor:
        position, block, row = anchor
        while rows > row:
            rows -= row
            if block:
                block -= 1
            elif position:
                position -= 1
                block = self._blocks(position) - 1
            else:
                return Anchor()
            row = self._extent(position, block)
        return Anchor(position, block, row - rows)

    def _down(self, anchor: Anchor, rows: int) -> Anchor:
        position, block, row = anchor
        if not self.count:
            return anchor
        row += rows
        while row >= (extent := self._extent(position, block)):
            row -= extent
            if block + 1 < self._blocks(position):
                block += 1
            elif position + 1 < self.count:
                position, block = position + 1, 0
            else:
                return Anchor(position, block, max(0, extent - 1))
        return Anchor(position, block, row)

    # Composing

    def render(self, position: int, block: Block) -> list[Row]:
        """Return a block's rows, rendered if need be, and count them as used."""
        known = block.ready(self.palette, self.width)
        rows = block.render(self.palette, self.width)
        if not known:
            doc = self.doc(position)
            if doc is not None:
                doc.touch()
                self.measure(position)
        self.shelf.used(block, len(rows))
        return rows

    def compose(self) -> list[Line]:
        """Return what each row of the screen shows, having rendered that."""
        if not self.count or self.width <= 0 or self.height <= 0:
            self.lines = []
            return self.lines
        if self.follow:
            self._aim = None
            self._go_to_end()
        elif self._aim is not None:
            self.anchor = self._up(Anchor(min(self._aim[0], self.count - 1)), self._aim[1])
        self._hold()
        lines = self._collect()
        if self._aim is None or (self.doc(self._aim[0]) is not None and not self._hold_aim):
            self._aim = None
            if len(lines) < self.height and self.anchor != Anchor():
                self.anchor = self._up(self.anchor, self.height - len(lines))
                lines = self._collect()
        self.lines = lines
        self.shelf.tidy({line.position for line in lines}, self.height)
        return lines

    def _go_to_end(self) -> None:
        last = self.count - 1
        block = self._blocks(last) - 1
        self.anchor = self._up(Anchor(last, block, self._extent(last, block)), self.height)

    def _hold(self) -> None:
        """Hold the anchor to what its turn has become."""
        position, block, row = self.anchor
        position = max(0, min(position, self.count - 1))
        block = min(block, self._blocks(position) - 1)
        self.anchor = Anchor(position, block, min(row, max(0, self._extent(position, block) - 1)))

    def _collect(self) -> list[Line]:
        lines: list[Line] = []
        position, block, skip = self.anchor
        while len(lines) < self.height and position < self.count:
            doc = self.doc(position)
            room = self.height - len(lines)
            if doc is None:
                rows = [EMPTY_ROW] * self.offsets[position]
                rows[0] = self.placeholder
                lines += [Line(position, None, row) for row in rows[skip : skip + room]]
                position, block, skip = position + 1, 0, 0
                continue
            found = doc.blocks[block]
            last = block == len(doc.blocks) - 1
            shown = self._with_margin(position, found, last=last, skip=skip, room=room)
            lines += [Line(position, found, row) for row in shown]
            skip, block = 0, block + 1
            if block == len(doc.blocks):
                position, block = position + 1, 0
        return lines

    def _with_margin(self, position: int, block: Block, *, last: bool, skip: int, room: int) -> Sequence[Row]:
        rows = self.render(position, block)
        margin = max(0, block.margin - skip)
        shown = [EMPTY_ROW] * margin + rows[max(0, skip - block.margin) : max(0, skip - block.margin) + room]
        if last and skip <= block.margin + len(rows):
            shown.append(EMPTY_ROW)
        return shown[:room]

    # Upkeep

    def render_ahead(self) -> bool:
        """Render one block that is near the view and not ready; False when there is none."""
        if not self.lines or not self.width:
            return False
        first, last = self.lines[0].position, self.lines[-1].position
        for position in (*range(first, last + 1), last + 1, first - 1):
            doc = self.doc(position) if 0 <= position < self.count else None
            if doc is None or len(doc.blocks) > _MOST_BLOCKS:
                continue
            for block in doc.blocks:
                if not block.measured(self.width):
                    self.render(position, block)
                    return True
        return False

    def fresh_heights(self) -> dict[int, int]:
        """Return exact heights of turns by key that were not returned before at this width."""
        found: dict[int, int] = {}
        for line in self.lines:
            doc = self.doc(line.position)
            if doc is None or doc.view.key in found or not doc.settled(self.width):
                continue
            height = doc.height(self.width)
            if self._reported.get(doc.view.key) != (self.width, height):
                self._reported[doc.view.key] = (self.width, height)
                found[doc.view.key] = height
        return found
