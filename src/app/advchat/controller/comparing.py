"""Two branches side by side from their fork point.

Owns the alignment of turns. Pure: knows no store connection and no widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from advchat.state import ComparedTurn, TurnView


def align(left: Sequence[TurnView], right: Sequence[TurnView]) -> tuple[ComparedTurn, ...]:
    """Put turns after the fork point side by side in their order, a missing one as None."""
    return tuple(ComparedTurn(one, other) for one, other in zip_longest(left, right))


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the turns, by key, that both branches share from their beginning."""
    shared = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        shared += 1
    return shared
