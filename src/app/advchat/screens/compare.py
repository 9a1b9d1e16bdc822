"""Two branches side by side.

Owns the layout around the comparison, its keys and leaving it. The screen is dismissed with the branch to be
shown, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from advchat.bindings import bindings
from advchat.commands import Scope
from advchat.screens.over import OverScreen
from advchat.widgets.compare_view import CompareView, SidesHeading
from advchat.widgets.footer import KeyFooter
from advchat.widgets.heading import Heading
from advchat.widgets.lines import Notice

if TYPE_CHECKING:
    from advchat.state import Comparison


class CompareScreen(OverScreen[str | None]):
    """Two branches from their fork point on, scrolled together."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("compare")
    """Going from difference to difference, the layout, switching."""

    scope: ClassVar[Scope] = "compare"

    def __init__(self, comparison: Comparison, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(keys)
        self._comparison = comparison
        self.view = CompareView(comparison)
        """The turns."""

    def compose(self) -> ComposeResult:
        """Lay the sides out between heading and footer."""
        yield Heading()
        yield SidesHeading(self._comparison)
        yield self.view
        yield Notice()
        yield KeyFooter()

    def on_mount(self) -> None:
        """Begin at the fork point."""
        self.show_keys()
        shared = self._comparison.shared_turns
        after = f"after {shared} shared turn{'' if shared == 1 else 's'}" if shared else "no turns shared"
        turns = self._comparison.turns
        differing = sum(doc.differs() for doc in self.view.docs)
        self.query_one(Heading).show("⇄ Compare", after, f"{differing} of {len(turns)} turns differ")
        self.view.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Let the heading follow the layout."""
        self.call_after_refresh(self._arrange)

    def _arrange(self) -> None:
        self.query_one(SidesHeading).stack(stacked=self.view.stacked)

    def do_compare_next(self) -> None:
        """Go to the next turn that differs."""
        self._step(1)

    def do_compare_previous(self) -> None:
        """Go to the turn before that differs."""
        self._step(-1)

    def _step(self, direction: int) -> None:
        notice = self.query_one(Notice)
        notice.clear()
        if not self.view.step(direction):
            notice.say(
                "No turn after this one differs." if direction > 0 else "No turn before this one differs."
            )

    def do_compare_layout(self) -> None:
        """Put the sides beside each other, or one below the other."""
        self.view.change_layout()
        self._arrange()

    def do_compare_left(self) -> None:
        """Show the left branch."""
        self.dismiss(self._comparison.left.branch_id)

    def do_compare_right(self) -> None:
        """Show the right branch."""
        self.dismiss(self._comparison.right.branch_id)
