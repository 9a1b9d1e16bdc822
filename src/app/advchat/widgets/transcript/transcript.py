"""The transcript: a conversation's turns, drawn, scrolled, selected and streamed into.

Owns the widget's public side: which conversation is shown, the turns that the screen gives it, the live turn,
and the requests that keys and clicks make. Knows neither store nor controller: the screen answers its messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.timer import Timer

from advchat.bindings import bindings
from advchat.events import RunEvent
from advchat.state import TurnRow, TurnView
from advchat.widgets.transcript.document import TurnDoc
from advchat.widgets.transcript.flow import flow
from advchat.widgets.transcript.pointer import PointerView
from advchat.widgets.transcript.prose import led_row
from advchat.widgets.transcript.rows import Run, Target
from advchat.widgets.transcript.streaming import LiveRun
from advchat.widgets.transcript.targets import code_of

_FRAME = 0.08
"""Seconds between two frames of a stream, at least."""
_SLOWEST_FRAME = 0.5
_ASK_AGAIN = 3.0
"""Seconds after which turns are asked for once more."""


class Transcript(PointerView):
    """Shows one branch of a conversation, by windows of turns."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("turn")
    """What can be done with a turn; the screen does it to ``chosen``."""

    class TurnsWanted(Message):
        """Turns have come near the view that are not loaded: positions ``[start, end)``."""

        def __init__(self, start: int, end: int) -> None:
            self.start = start
            self.end = end
            super().__init__()

    class ForkRequested(Message):
        """A turn's fork button was pressed."""

        def __init__(self, turn: int, key: int) -> None:
            self.turn = turn
            self.key = key
            super().__init__()

    class ActionRequested(Message):
        """An action on a turn was chosen.

        It is one of ``edit``, ``regenerate``, ``compare``, ``copy``, ``continue``, ``retry``, ``discard``,
        ``previous_sibling`` and ``next_sibling``.
        """

        def __init__(self, action: str, turn: int, key: int) -> None:
            self.action = action
            self.turn = turn
            self.key = key
            super().__init__()

    class LinkRequested(Message):
        """A link was followed; the URL is http, https or mailto."""

        def __init__(self, url: str) -> None:
            self.url = url
            super().__init__()

    class CopyRequested(Message):
        """Source text is to be copied."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class HeightsMeasured(Message):
        """Turns were laid out in full: rows by message key, at a width in cells."""

        def __init__(self, width: int, heights: dict[int, int]) -> None:
            self.width = width
            self.heights = heights
            super().__init__()

    class TurnFocused(Message):
        """The cursor has come to another turn, by key, click or scrolling."""

        def __init__(self, turn: int) -> None:
            self.turn = turn
            super().__init__()

    parent_name: var[str] = var("")
    """What the branch's inherited turns come from, for people."""

    empty_text: var[str] = var(
        "Nothing here yet.\n\nType a prompt below and press Enter.\n"
        "Every turn can be forked later: ⑂ begins a new branch there, and nothing is overwritten."
    )
    """What an empty branch says."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as in Textual
        super().__init__(name=name, id=id, classes=classes)
        self._ident: tuple[str, str] | None = None
        self._live: LiveRun | None = None
        self._live_timer: Timer | None = None
        self._live_cost = 0.0
        self._asked: dict[int, float] = {}
        self._stale: set[int] = set()

    # The conversation

    def set_conversation(
        self,
        ident: tuple[str, str],
        count: int,
        rows: Sequence[TurnRow] = (),
        *,
        keep_scroll_at: int | None = None,
    ) -> None:
        """Show another branch: ``ident`` is conversation and branch, ``count`` its number of turns.

        ``rows`` give keys and heights of turns where known. With ``keep_scroll_at``, the turns below that one
        are the same as those shown now, and it stays on its row of the screen.
        """
        viewport = self.viewport
        same = self._ident is not None and self._ident[0] == ident[0]
        again, self._ident = ident == self._ident, ident
        if any(row.turn == 0 for row in rows):
            viewport.shelf.first_turn = 0
        elif not same:
            viewport.shelf.first_turn = 1
        if again:
            viewport.hint(rows)
            self.set_count(count)
            return
        self._drop_live()
        keep, at = 0, 0
        if same and keep_scroll_at is not None:
            keep = max(0, min(keep_scroll_at - viewport.shelf.first_turn, count, viewport.count))
            at = next((y for y, line in enumerate(viewport.lines) if line.position == keep), 0)
        self._measure()
        viewport.reset(count, rows, keep=keep)
        self._asked.clear()
        self._stale = set(range(keep))
        self._select(None)
        self._hover = self._hover_target = self._target = None
        if same and keep_scroll_at is not None and keep < count:
            viewport.jump_to(keep, at, hold=True)
        else:
            viewport.follow = True
        self.cursor = None
        self._refresh_rules()
        self.sync(repaint=True)

    def set_count(self, count: int) -> None:
        """Take the number of turns after some were added or removed."""
        if count != self.viewport.count:
            self.viewport.set_count(max(count, self._live_count()))
            self._refresh_rules()
            self.sync()

    def put_turns(self, start: int, turns: Sequence[TurnView]) -> None:
        """Take turns from position ``start`` on; the live turn is left as it is."""
        viewport = self.viewport
        if turns:
            viewport.shelf.first_turn = turns[0].turn - start
        for position, view in enumerate(turns, start):
            self._stale.discard(position)
            self._asked.pop(position, None)
            if position >= viewport.count or (self._live is not None and view.key == self._live.key):
                continue
            viewport.put(position, view, self.settings_of(view.key, position))
        self._refresh_rules(range(start - 1, start + len(turns) + 1))
        self.sync()

    def reread(self) -> None:
        """Ask again for turns as they come into view, because those loaded may have become untrue."""
        self._stale = set(range(self.viewport.count))
        self._asked.clear()
        self.synced()

    def _refresh_rules(self, positions: range | None = None) -> None:
        """Put the line between inherited and own turns where it belongs."""
        viewport = self.viewport
        last = viewport.count - 1
        if positions is None:
            shown = [line.position for line in viewport.lines] or [0]
            positions = range(shown[0] - 1, shown[-1] + 2)
        for position in {*positions, last}:
            doc = viewport.doc(position) if 0 <= position <= last else None
            if doc is None:
                continue
            before = viewport.doc(position - 1) if position else None
            own = not doc.view.inherited
            above = self.parent_name if own and before is not None and before.view.inherited else None
            below = self.parent_name if not own and position == last else None
            if (above, below) != (doc.settings.rule_above, doc.settings.rule_below):
                doc.settings.rule_above, doc.settings.rule_below = above, below
                doc.rebuild()
                viewport.measure(position)

    def watch_parent_name(self) -> None:
        """Write the parent's new name."""
        self._refresh_rules()
        self.sync()

    def watch_empty_text(self) -> None:
        """Show the new text."""
        self.refresh()

    def scroll_to_turn(self, turn: int) -> None:
        """Put the cursor on the turn with that number and its head in view, at the top if it has to move."""
        if self.viewport.count:
            self.show_position(max(0, min(turn - self.viewport.shelf.first_turn, self.viewport.count - 1)))

    @property
    def chosen(self) -> TurnView | None:
        """The turn that keys act on, once it is loaded."""
        doc = self._cursor_doc()
        return None if doc is None else doc.view

    def turn_source(self, key: int) -> str | None:
        """Return the answer's source of a loaded turn, or its prompt if there is none."""
        position = self.viewport.shelf.position_of(key)
        doc = None if position is None else self.viewport.doc(position)
        return None if doc is None else doc.answer() or doc.view.prompt

    # The live turn

    def begin_run(self, view: TurnView, *, follow: bool = True) -> None:
        """Show a turn that is being answered; ``view`` holds what has come already.

        A turn that was not shown as live before brings the view to the end, unless ``follow`` is false.
        """
        viewport = self.viewport
        if not viewport.count:
            viewport.shelf.first_turn = min(1, view.turn)
        position = max(0, view.turn - viewport.shelf.first_turn)
        fresh = position >= viewport.count or (self._live is None and position == viewport.count - 1)
        if fresh and follow:
            viewport.follow = True
        if position >= viewport.count:
            viewport.set_count(position + 1)
        self._live = LiveRun(view)
        viewport.put(position, view, self.settings_of(view.key, position), live=True)
        if viewport.follow:
            self._move_cursor(position)
        self._refresh_rules()
        self.sync()

    def feed(self, event: RunEvent) -> None:
        """Take an event of the live run; it is drawn with the next frame."""
        if self._live is not None and self._live.feed(event) and self._live_timer is None:
            pause = min(_SLOWEST_FRAME, max(_FRAME, 4 * self._live_cost))
            self._live_timer = self.set_timer(pause, self._draw_live)

    def end_run(self, view: TurnView) -> None:
        """Put the stored turn in the live one's place."""
        self._drop_live()
        position = max(0, view.turn - self.viewport.shelf.first_turn)
        if position >= self.viewport.count:
            self.viewport.set_count(position + 1)
        self.viewport.put(position, view, self.settings_of(view.key, position))
        self._refresh_rules()
        self.sync()

    @property
    def drawing(self) -> bool:
        """Whether events wait for the next frame."""
        return self._live_timer is not None

    def _draw_live(self) -> None:
        self._live_timer = None
        live = self._live
        position = None if live is None else self.viewport.shelf.position_of(live.key)
        doc = None if position is None else self.viewport.doc(position)
        if live is None or position is None or doc is None:
            return
        begun = monotonic()
        doc.settings.wait = live.wait
        doc.take_items(live.items())
        self.viewport.measure(position)
        self.sync()
        self._live_cost = monotonic() - begun

    def _live_count(self) -> int:
        return 0 if self._live is None else self._live.turn - self.viewport.shelf.first_turn + 1

    def _drop_live(self) -> None:
        if self._live is not None:
            self._draw_live()
            self._settings[self._live.key].wait = ""
        self._live = None
        if self._live_timer is not None:
            self._live_timer.stop()
            self._live_timer = None

    # Asking and telling

    def synced(self) -> None:
        """Ask for turns that have come near."""
        super().synced()
        now = monotonic()
        wanted = [position for found in self.viewport.missing() for position in found]
        wanted += [line.position for line in self.viewport.lines if line.position in self._stale]
        due = sorted(
            position for position in set(wanted) if now - self._asked.get(position, -_ASK_AGAIN) >= _ASK_AGAIN
        )
        for position in due:
            self._asked[position] = now
        for found in _ranges(due):
            self.post_message(self.TurnsWanted(found.start, found.stop))

    def settled(self) -> None:
        """Tell the heights that are exact now."""
        heights = self.viewport.fresh_heights()
        if heights:
            self.post_message(self.HeightsMeasured(self.viewport.width, heights))

    def turn_changed(self, position: int) -> None:
        """Tell which turn the cursor is on."""
        self.post_message(self.TurnFocused(position + self.viewport.shelf.first_turn))

    def press(self, target: Target, position: int, block: int) -> None:
        """Ask for what a target stands for, or fold and unfold."""
        doc = self.viewport.doc(position)
        if doc is None:
            return
        turn, key = doc.view.turn, doc.view.key
        match target.kind:
            case "fork":
                self.post_message(self.ForkRequested(turn, key))
            case "action":
                self.post_message(self.ActionRequested(target.value, turn, key))
            case "link":
                self.post_message(self.LinkRequested(target.value))
            case "copy":
                self.post_message(self.CopyRequested(target.value))
            case "copy_block":
                self.post_message(self.CopyRequested(code_of(doc.blocks[block])))
            case "fold":
                self._fold(doc, position, target.value)

    def _fold(self, doc: TurnDoc, position: int, name: str) -> None:
        doc.settings.unfolded ^= {name}
        self.viewport.follow = False
        doc.rebuild()
        self.viewport.measure(position)
        self.sync()

    # Painting

    def blank_line(self, y: int, width: int, base: Style) -> Strip:
        """Say in an empty branch what to do."""
        if self.viewport.count or not self.empty_text or width < 4:
            return super().blank_line(y, width, base)
        room = min(width - 2, 60)
        rows = flow([Run(self.empty_text, self.palette.muted)], room)
        index = y - max(0, (self.size.height - len(rows)) // 3)
        if not 0 <= index < len(rows):
            return super().blank_line(y, width, base)
        margin = " " * ((width - room) // 2)
        row = led_row([Run(margin, Style())], rows[index])
        return Strip(Segment.apply_style(row.segments, base), row.cells).adjust_cell_length(width, base)


def _ranges(positions: Sequence[int]) -> list[range]:
    found: list[range] = []
    for position in positions:
        if found and found[-1].stop == position:
            found[-1] = range(found[-1].start, position + 1)
        else:
            found.append(range(position, position + 1))
    return found
