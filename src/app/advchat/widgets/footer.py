"""The line at the bottom: the keys that work here and now.

Owns that line's drawing and clicks. Which commands those are is the screen's to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from advchat.widgets.ink import ink

FooterKey = tuple[str, str, str]
"""Key for people, word, command ID."""


class KeyFooter(Widget):
    """Keys with a word each, most useful first; what does not fit is left out."""

    DEFAULT_CSS = """
    KeyFooter {
        height: 1;
        background: $panel;
    }
    """

    class Pressed(Message):
        """A key's word was clicked."""

        def __init__(self, command_id: str) -> None:
            self.command_id = command_id
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._keys: tuple[FooterKey, ...] = ()

    def show(self, keys: Sequence[FooterKey]) -> None:
        """Show these keys."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.refresh()

    def shown(self) -> list[tuple[int, int, FooterKey]]:
        """Tell which keys fit, with their first and last column."""
        found: list[tuple[int, int, FooterKey]] = []
        column = 1
        for entry in self._keys:
            end = column + cell_len(entry[0]) + 1 + cell_len(entry[1])
            if end > self.size.width:
                break
            found.append((column, end, entry))
            column = end + 2
        return found

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        base, inks = self.rich_style, ink(self)
        key_style, word_style = base + inks["key"], base + inks["quiet"]
        segments = [Segment(" ", base)]
        for _, _, (key, word, _) in self.shown():
            segments += [Segment(key, key_style), Segment(f" {word}  ", word_style)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_click(self, event: events.Click) -> None:
        """Run the command whose key or word was clicked."""
        for first, last, (_, _, command_id) in self.shown():
            if first <= event.x < last:
                self.post_message(self.Pressed(command_id))
