"""A bare app around one widget."""

from __future__ import annotations

from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from advchat.themes import THEMES


class Host(App[None]):
    """Shows one widget in our theme and keeps the messages that reach it."""

    CSS = "Screen > * { width: 1fr; height: 1fr; }"

    def __init__(self, widget: Widget, theme: str = "dark") -> None:
        super().__init__()
        for known in THEMES.values():
            self.register_theme(known)
        self.theme = THEMES[theme].name
        self.widget = widget
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.widget

    def hear(self, kind: type[Message]) -> list[Any]:
        """The messages of a kind that have come by, oldest first."""
        return [message for message in self.heard if isinstance(message, kind)]

    async def _on_message(self, message: Message) -> None:
        self.heard.append(message)
        await super()._on_message(message)


def lines(widget: Widget) -> list[str]:
    """What the widget shows, row by row, trailing blanks cut off."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]
