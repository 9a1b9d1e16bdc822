"""The help screen: every key and command in force.

Owns its layout; the words are the registry's.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets._static import Static

from advchat.commands import BY_SLASH, SCOPES, in_scope, key_label, keys_of

NOTES = (
    "Enter sends. Where the terminal cannot tell Shift+Enter from Enter, Ctrl+J begins a new line.",
    "Select text by dragging; Ctrl+C copies it. Hold Shift while dragging to let the terminal select instead.",
    "Copies go to the desktop's clipboard program where there is one, else to the terminal (OSC 52), which "
    "tmux passes on only with: set -g set-clipboard on",
)

_WIDE = 64
"""Cells from which on the column of keys is wide enough for all but the longest."""


class HelpScreen(ModalScreen[None]):
    """Keys and slash commands, scrolled with the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "leave", "Close", show=False, priority=True),
        Binding("ctrl+q", "app.leave", "Quit", show=False, priority=True),
    ]
    """Closing."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]  # noqa: RUF012 - Textual declares it so
    """In a narrow terminal the help takes the whole width."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 60%;
        &.-narrow > VerticalScroll { width: 100%; height: 100%; padding: 0 1; }
        & > VerticalScroll {
            width: 84%;
            max-width: 100;
            height: 88%;
            padding: 0 2;
            background: $panel;
            scrollbar-size-vertical: 1;
            border-top: solid $accent;
            border-title-color: $accent;
            border-title-background: $panel;
            border-title-style: bold;
        }
        & Static { width: 1fr; }
    }
    """

    def __init__(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay the text into a scroll."""
        with VerticalScroll() as box:
            box.border_title = "Help · Esc closes"
            yield Static("", markup=False)

    def on_mount(self) -> None:
        """Take the keys that scroll."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap anew for the width."""
        width = event.size.width
        cells = max(20, width - 4 if width < 80 else min(100, width * 84 // 100) - 6)
        self.query_one(Static).update(Content("\n").join(self._lines(cells)))

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    def _lines(self, cells: int) -> Iterator[Content]:
        for scope, heading in SCOPES.items():
            rows = [(command, keys) for command in in_scope(scope) if (keys := keys_of(command, self._keys))]
            if rows:
                yield from _heading(heading)
            for command, keys in rows:
                yield from _row(" · ".join(key_label(key) for key in keys), command.help, cells)
        yield from _heading("Slash commands")
        for name, command in BY_SLASH.items():
            yield from _row(f"/{name} {command.args}".rstrip(), command.help, cells)
        yield from _row("//text", "Send text that begins with a slash.", cells)
        yield from _heading("Good to know")
        for note in NOTES:
            yield from (Content(line).stylize("$quiet") for line in textwrap.wrap(note, cells))


def _heading(text: str) -> Iterator[Content]:
    yield Content("")
    yield Content(text).stylize("bold $accent")


def _row(left: str, right: str, cells: int) -> Iterator[Content]:
    """Lay a key beside what it does, or above it where it is too long to stand beside."""
    column = 22 if cells >= _WIDE else 12
    indent = " " * column
    words = textwrap.wrap(right, max(10, cells - column))
    if len(left) >= column:
        yield Content(left).stylize("bold")
    else:
        yield Content.assemble((f"{left:<{column}}", "bold"), (words.pop(0), "$quiet"))
    yield from (Content(indent + line).stylize("$quiet") for line in words)
