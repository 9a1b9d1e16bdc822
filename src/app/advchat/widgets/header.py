"""The line at the top: conversation, branch, model and what is going on.

Owns that line's drawing. Everything in it is cut to fit and neutralised.
"""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from advchat.state import Snapshot
from advchat.text import one_line

_STATES = {"waiting": "waiting", "answering": "answering", "tool": "using a tool", "stopping": "stopping"}


class Header(Widget):
    """Conversation › branch on the left, model · state on the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"header--quiet", "header--branch", "header--busy"}

    DEFAULT_CSS = """
    Header {
        height: 1;
        background: $panel;
        color: $foreground;
        text-style: bold;
        & > .header--quiet { color: $quiet; text-style: none; }
        & > .header--branch { color: $accent; text-style: bold; }
        & > .header--busy { color: $warning; text-style: none; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._snapshot = Snapshot()

    def show(self, snapshot: Snapshot) -> None:
        """Show where the user is."""
        old, self._snapshot = self._snapshot, snapshot
        if self._told(old) != self._told(snapshot):
            self.refresh()

    @staticmethod
    def _told(snapshot: Snapshot) -> tuple[object, ...]:
        run = snapshot.run
        elsewhere = len(snapshot.runs) - (run is not None)
        return (
            snapshot.conversation_title,
            snapshot.branch_title or snapshot.branch_id,
            snapshot.model,
            run.state if run else None,
            run.note if run else None,
            elsewhere,
            snapshot.loading,
        )

    def state(self) -> tuple[str, str]:
        """Say what is going on, and in which style."""
        snapshot = self._snapshot
        run = snapshot.run
        elsewhere = len(snapshot.runs) - (run is not None)
        if run is not None:
            words = run.note or _STATES[run.state]
            return f"⟳ {words}" + (f" +{elsewhere}" if elsewhere else ""), "busy"
        if elsewhere:
            return f"⟳ {elsewhere} elsewhere", "busy"
        if snapshot.loading:
            return "opening", "quiet"
        return (snapshot.model.state, "quiet") if snapshot.model.state else ("ready", "quiet")

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        snapshot = self._snapshot
        words, style = self.state()
        state = one_line(words, max(8, width // 3))
        model = one_line(snapshot.model.label, max(0, width // 3)) if width >= 60 else ""
        right = f"{model} · {state}" if model else state
        room = max(0, width - cell_len(right) - 4)
        branch = one_line(snapshot.branch_title or snapshot.branch_id, max(4, room // 3))
        title = one_line(snapshot.conversation_title or "New conversation", max(1, room - cell_len(branch) - 3))
        base = self.rich_style
        quiet, lit = self._part("quiet"), self._part("branch")
        gap = " " * max(1, width - cell_len(title) - cell_len(branch) - cell_len(right) - 5)
        segments = [
            Segment(f" {title}", base),
            Segment(" › ", base + quiet),
            Segment(branch, base + lit),
            Segment(gap + (f"{model} · " if model else ""), base + quiet),
            Segment(f"{state} ", base + self._part(style)),
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _part(self, name: str) -> Style:
        return self.get_component_rich_style(f"header--{name}", partial=True)
