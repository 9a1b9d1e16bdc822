"""A field for one line of text.

Owns what Textual's own field does otherwise: it drops all pasted lines but the first, and takes control
characters as they come.
"""

from __future__ import annotations

from textual import events
from textual.widgets._input import Input

from advchat.text import clean


class LineInput(Input):
    """A field for one line; pasted lines are joined, none is dropped."""

    DEFAULT_CSS = """
    LineInput, LineInput:focus {
        border: none;
        height: 1;
        padding: 0;
        background: transparent;
        & .input--cursor { color: $background; background: $foreground; text-style: none; }
        & .input--placeholder { color: $quiet; }
        & .input--selection { background: $input-selection-background; }
    }
    """

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        joined = " ".join(part.strip() for part in event.text.splitlines() if part.strip())
        self.replace(clean(joined, newlines=False), *self.selection)
