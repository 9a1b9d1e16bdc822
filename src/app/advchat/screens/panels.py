"""Which panels are unfolded.

Owns that state and its change with the terminal's width: wide, every panel stands beside the transcript
until it is folded; narrower, all are folded until one is unfolded; narrowest, an unfolded one stands alone.
Knows no widget: it is asked what is to be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Panel = Literal["branches", "turns", "usage"]
PANELS: tuple[Panel, ...] = ("branches", "turns", "usage")

WIDE = 120
SINGLE = 80


@dataclass(slots=True)
class Panels:
    """The panels' state at a width."""

    width: int = WIDE
    folded: set[Panel] = field(default_factory=set)
    """Panels that were folded where all are unfolded by themselves."""
    opened: Panel | None = None
    """The panel that was unfolded where all are folded by themselves."""

    @property
    def wide(self) -> bool:
        """Whether there is room for all panels."""
        return self.width >= WIDE

    @property
    def alone(self) -> bool:
        """Whether an unfolded panel stands in place of the transcript."""
        return self.width < SINGLE and self.opened is not None

    def seen(self, panel: Panel) -> bool:
        """Tell whether a panel is unfolded."""
        return panel not in self.folded if self.wide else panel == self.opened

    def unfold(self, panel: Panel) -> None:
        """Unfold a panel."""
        if self.wide:
            self.folded.discard(panel)
        else:
            self.opened = panel

    def fold(self, panel: Panel) -> None:
        """Fold a panel."""
        if self.wide:
            self.folded.add(panel)
        elif self.opened == panel:
            self.opened = None

    def close(self) -> bool:
        """Fold what lies over or beside the transcript in a narrow terminal; tell whether something did."""
        if self.wide or self.opened is None:
            return False
        self.opened = None
        return True
