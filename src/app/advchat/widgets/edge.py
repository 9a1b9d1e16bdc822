"""The composer's upper edge: what sending would take, the budget, what happens to the next prompt.

Owns the wording and what gives way where there is little room. It says *about* of every estimate, and nothing
of what is not known. Knows no widget: the words become the title of a border.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from advchat.text import one_line
from advchat.widgets.numbers import short_count

if TYPE_CHECKING:
    from advchat.state import Budget, SendEstimate

WARN_AT = 0.8
"""Share of a budget from which the edge warns."""
_FRAME = 6
"""Cells that a border takes at the ends of its title."""

Word = tuple[str, str]
"""A text and the theme variable of its colour."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What stands in the edge: the estimate on the left, the budget on the right."""

    estimate: SendEstimate | None = None
    budget: Budget | None = None
    mode: str = ""
    """What will become of the next prompt, where that is out of the ordinary."""

    def title(self, width: int) -> Content | None:
        """Write the edge for a border of that width; None where there is nothing to say."""
        room = max(0, width - _FRAME)
        right = budget_words(self.budget, narrow=width < 64) if self.budget is not None else ("", "")
        if self.mode:
            left = one_line(self.mode, room), "$accent"
            if cell_len(left[0]) + cell_len(right[0]) + 3 > room:
                right = ("", "")
        else:
            rest = room - cell_len(right[0]) - 3 if right[0] else room
            left = fitting(estimate_parts(self.estimate), rest) if self.estimate is not None else "", "$quiet"
        return _joined(left, right, room)


def _joined(left: Word, right: Word, room: int) -> Content | None:
    if not left[0] and not right[0]:
        return None
    if not right[0]:
        return Content.styled(*left)
    gap = room - cell_len(left[0]) - cell_len(right[0])
    rule = "─" * max(1, gap - (2 if left[0] else 1))
    before = f" {rule} " if left[0] else f"{rule} "
    return Content.assemble(left, before, right) if left[0] else Content.assemble(before, right)


def estimate_parts(estimate: SendEstimate) -> list[str]:
    """Tell an estimate in parts, the most telling first; what is not known is left out."""
    parts = [f"about {short_count(estimate.input_tokens)} tokens"]
    if estimate.cached_share is not None:
        parts.append(f"{estimate.cached_share:.0%} likely cached")
    if estimate.low_nano is not None and estimate.high_nano is not None:
        low, high = price(estimate.low_nano), price(estimate.high_nano)
        parts.append(low if low == high else f"{low}–{high}")
    if estimate.context_left is not None:
        left = estimate.context_left
        parts.append(f"{short_count(left)} left" if left > 0 else "more than fits the context")
    return parts


def fitting(parts: list[str], cells: int) -> str:
    """Join as many parts as fit."""
    text = ""
    for part in parts:
        longer = f"{text} · {part}" if text else part
        if cell_len(longer) > cells:
            break
        text = longer
    return text


def budget_words(budget: Budget, *, narrow: bool = False) -> Word:
    """Tell how much of a budget is spent, and warn from four fifths on."""
    spent, limit = price(budget.spent_nano), price(budget.limit_nano)
    text = f"{spent} of {limit}" if narrow else f"{budget.scope} budget: {spent} of {limit}"
    if budget.share >= 1:
        return f"! {text}, used up", "$error"
    if budget.share >= WARN_AT:
        return f"! {text}, {budget.share:.0%}", "$warning"
    return text, "$quiet"


def price(nano: int) -> str:
    """Write a price with two telling digits: ``$0.0012``, ``$0.50``, ``$1.24``."""
    if nano <= 0 or nano >= 1_000_000_000:
        return f"${nano / 1_000_000_000:,.2f}"
    first = next(place for place in range(1, 10) if nano >= 10 ** (9 - place))
    return f"${nano / 1_000_000_000:.{min(9, max(2, first + 1))}f}"
