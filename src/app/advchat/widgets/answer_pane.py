"""One answer among several, drawn as it streams.

Owns a frame with a heading and a line of numbers around one turn's answer, without its prompt. Knows no run
and no other answer: whoever shows it gives it the turn as it stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message

from advchat.text import one_line
from advchat.widgets.transcript.document import Settings
from advchat.widgets.transcript.rows import Target
from advchat.widgets.transcript.targets import code_of
from advchat.widgets.transcript.view import TranscriptView

if TYPE_CHECKING:
    from advchat.state import TurnView


class AnswerPane(TranscriptView):
    """A framed answer that scrolls by itself and follows its end while it grows."""

    DEFAULT_CSS = """
    AnswerPane {
        width: 1fr;
        height: 1fr;
        background: $background;
        border: round $rule;
        border-title-color: $quiet;
        border-title-background: $background;
        border-subtitle-color: $quiet;
        border-subtitle-background: $background;
        border-subtitle-align: left;
        &:focus {
            border: heavy $accent;
            border-title-color: $accent;
            border-title-style: bold;
            border-subtitle-color: $foreground;
        }
        &.-failed { border-subtitle-color: $error; }
    }
    """

    class Chosen(Message):
        """The pane has got the focus."""

        def __init__(self, pane: AnswerPane) -> None:
            self.pane = pane
            super().__init__()

    class LinkRequested(Message):
        """A link was clicked; the URL is http, https or mailto."""

        def __init__(self, url: str) -> None:
            self.url = url
            super().__init__()

    class CopyRequested(Message):
        """Source text is to be copied."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def __init__(self, number: int, title: str) -> None:
        super().__init__()
        self.number = number
        """Place among the answers, from 1."""
        self._title = title
        self._stats = ("", "")
        self._settings = Settings()
        self._view: TurnView | None = None
        self.viewport.shelf.first_turn = 0

    @property
    def view(self) -> TurnView | None:
        """The turn as it was shown last."""
        return self._view

    def take(self, view: TurnView, *, live: bool, wait: str = "") -> None:
        """Show the answer as it stands; ``wait`` says what a live one waits for."""
        if view == self._view and wait == self._settings.wait and not live:
            return
        known = self._view is not None and self._view.key == view.key and live
        self._view = view
        # Without number and prompt only the answer is drawn.
        bare = replace(view, turn=0, prompt="", actions=(), siblings=(), note=None)
        self._settings.wait = wait
        doc = self.viewport.doc(0)
        if known and doc is not None:
            doc.take_items(bare.items)
            self.viewport.measure(0)
        else:
            self.viewport.set_count(1)
            self.viewport.put(0, bare, self._settings, live=live)
        if self.display:
            self.sync()

    def tell(self, stats: str, short: str = "", *, failed: bool = False) -> None:
        """Write the line of numbers; ``short`` goes where there is little room."""
        self.set_class(failed, "-failed")
        if (stats, short) != self._stats:
            self._stats = (stats, short)
            self._label()

    def _label(self) -> None:
        room = max(0, self.size.width - 2)
        mark = "▶ " if self.has_focus else ""
        self.border_title = Content(f"{mark}{one_line(self._title, max(0, room - len(mark)))}")
        stats, short = self._stats
        told = short if short and cell_len(stats) > room else stats
        self.border_subtitle = Content(one_line(told, room))

    def on_mount(self) -> None:
        """Begin with heading and numbers."""
        self._label()

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        self._label()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Mark the pane as the chosen one, or no longer."""
        super().watch_has_focus(has_focus)
        self._label()
        if has_focus:
            self.post_message(self.Chosen(self))

    def on_show(self) -> None:
        """Catch up with what came while it was hidden."""
        self.sync(repaint=True)

    def on_click(self, event: events.Click) -> None:
        """Fold, copy or follow what was clicked."""
        offset = event.get_content_offset(self)
        lines = self.viewport.lines
        if offset is None or offset.y >= len(lines):
            return
        line = lines[offset.y]
        target = line.row.target_at(offset.x)
        if target is not None:
            event.stop()
            self._press(target, code_of(line.block) if target.kind == "copy_block" and line.block else "")

    def _press(self, target: Target, code: str) -> None:
        match target.kind:
            case "link":
                self.post_message(self.LinkRequested(target.value))
            case "copy":
                self.post_message(self.CopyRequested(target.value))
            case "copy_block":
                self.post_message(self.CopyRequested(code))
            case "fold":
                self._settings.unfolded ^= {target.value}
                doc = self.viewport.doc(0)
                if doc is not None:
                    doc.rebuild()
                    self.viewport.measure(0)
                    self.sync()
            case _:
                pass
