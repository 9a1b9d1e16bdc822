"""The line at the top: conversation, branch, model and what is going on.

Owns that line's drawing. Everything in it is cut to fit and neutralised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from advchat.naming import branch_label
from advchat.text import one_line
from advchat.widgets.ink import ink

if TYPE_CHECKING:
    from advchat.state import Snapshot

_STATES = {"waiting": "waiting", "answering": "answering", "tool": "using a tool", "stopping": "stopping"}


class Header(Widget):
    """Conversation › branch on the left, model · state on the right."""

    DEFAULT_CSS = """
    Header {
        height: 1;
        background: $panel;
        color: $foreground;
        text-style: bold;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._title = ""
        self._branch = ""
        self._model = ""
        self._state = ("opening", "quiet")

    def show(self, snapshot: Snapshot) -> None:
        """Show where the user is and what is going on."""
        told = (self._title, self._branch, self._model, self._state)
        self._title = snapshot.conversation_title or "New conversation"
        self._branch = branch_label(snapshot.branch_id, snapshot.branch_title)
        self._model = snapshot.model.label
        self._state = state_of(snapshot)
        if told != (self._title, self._branch, self._model, self._state):
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        words, style = self._state
        state = one_line(words, max(8, width // 3))
        model = one_line(self._model, max(0, width // 3)) if width >= 60 else ""
        right = f"{model} · {state}" if model else state
        room = max(0, width - cell_len(right) - 4)
        branch = one_line(self._branch, max(4, room // 3))
        title = one_line(self._title, max(1, room - cell_len(branch) - 3))
        base, inks = self.rich_style, ink(self)
        plain = self.rich_style + Style(bold=False)
        gap = " " * max(1, width - cell_len(title) - cell_len(branch) - cell_len(right) - 5)
        segments = [
            Segment(f" {title}", base),
            Segment(" › " if branch else "   ", plain + inks["quiet"]),
            Segment(branch, base + inks["accent"]),
            Segment(gap + (f"{model} · " if model else ""), plain + inks["quiet"]),
            Segment(f"{state} ", plain + inks[style]),
        ]
        return Strip(segments).adjust_cell_length(width, base)


def state_of(snapshot: Snapshot) -> tuple[str, str]:
    """Say what is going on, and the style to say it in."""
    run = snapshot.run
    elsewhere = len(snapshot.runs) - (run is not None)
    if run is not None:
        words = run.note or _STATES[run.state]
        return f"⟳ {words}" + (f" +{elsewhere}" if elsewhere else ""), "warn"
    if elsewhere:
        return f"⟳ {elsewhere} elsewhere", "warn"
    if snapshot.loading:
        return "opening", "quiet"
    return snapshot.model.state or "ready", "quiet"
