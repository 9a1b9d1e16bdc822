"""The help screen: every key and command in force.

Owns its layout; the words are the registry's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

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
    "Copies go to the desktop's clipboard program where there is one, else to the terminal (OSC 52),",
    "which tmux passes on only with: set -g set-clipboard on",
)


class HelpScreen(ModalScreen[None]):
    """Keys and slash commands, scrolled with the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "leave", "Close", show=False, priority=True),
        Binding("ctrl+q", "app.leave", "Quit", show=False, priority=True),
    ]
    """Closing."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"help--head", "help--key", "help--word"}

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 60%;
        & > VerticalScroll {
            width: 84%;
            max-width: 100;
            height: 88%;
            padding: 0 2;
            background: $panel;
            scrollbar-size-vertical: 1;
            border-top: outer $accent;
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
            yield Static(Content("\n").join(self._lines()))

    def on_mount(self) -> None:
        """Take the keys that scroll."""
        self.query_one(VerticalScroll).focus()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    def _lines(self) -> Iterator[Content]:
        for scope, heading in SCOPES.items():
            rows = [(command, keys) for command in in_scope(scope) if (keys := keys_of(command, self._keys))]
            if rows:
                yield Content("")
                yield Content(heading).stylize("bold $accent")
            for command, keys in rows:
                yield _row(" · ".join(key_label(key) for key in keys), command.help)
        yield Content("")
        yield Content("Slash commands").stylize("bold $accent")
        for name, command in BY_SLASH.items():
            yield _row(f"/{name} {command.args}".rstrip(), command.help)
        yield _row("//text", "Send text that begins with a slash.")
        yield Content("")
        yield from (Content(note).stylize("$quiet") for note in NOTES)


def _row(left: str, right: str) -> Content:
    return Content.assemble((f"{left:<34}", "bold"), (right, "$quiet"))
