"""What is told before a prompt is sent.

Owns the composer's edge on the main screen: the estimate, made once typing rests and anew on another branch,
and the budget. What the words are is the edge's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.timer import Timer
from textual.widgets._text_area import TextArea

from advchat.screens.desk import MakeActions
from advchat.screens.turning import Turning
from advchat.widgets.edge import Edge

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.state import Snapshot

_REST = 0.3
"""Seconds of rest in typing after which the estimate is made anew."""


class BeforeSending(Turning):
    """The estimate and the budget."""

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__(make_actions, keys, log_file)
        self._edge = Edge()
        self._estimating: Timer | None = None
        self._estimated = ("", "", -1)
        """Conversation, branch and version of the turns that the estimate was made for."""

    def tell(self, told: Edge) -> None:
        """Change what the composer's edge says."""
        if told != self._edge:
            self._edge = told
            self._draw_edge()

    def _draw_edge(self) -> None:
        frame = self.query_one("#compose")
        frame.border_title = self._edge.title(frame.outer_size.width)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the composer's edge to the new width."""
        self.call_after_refresh(self._draw_edge)

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot on, the budget included; the estimate follows the branch."""
        super().show(snapshot, news)
        self.tell(replace(self._edge, budget=snapshot.budget))
        of = (snapshot.conversation_id, snapshot.branch_id, snapshot.turns_version)
        if of != self._estimated:
            self._estimated = of
            self._estimate_soon()

    @on(TextArea.Changed, "#composer")
    def _estimate_typed(self) -> None:
        self._estimate_soon()

    def _estimate_soon(self) -> None:
        if self._estimating is not None:
            self._estimating.stop()
        if not self.composer.text.strip():
            self.tell(replace(self._edge, estimate=None))
            return
        self._estimating = self.set_timer(_REST, self._estimate)

    def _estimate(self) -> None:
        if self.started:
            self.run_worker(self._put_estimate(), group="estimate", exclusive=True, exit_on_error=False)

    async def _put_estimate(self) -> None:
        text = self.composer.text
        if text.startswith("/") and not text.startswith("//"):
            self.tell(replace(self._edge, estimate=None))
            return
        found = await self.actions.estimate(text)
        if self.composer.text == text:
            self.tell(replace(self._edge, estimate=found))
