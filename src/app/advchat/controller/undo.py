"""Steps that can be taken back.

Owns the stack of inverse actions of this program run. What must outlive the program (the bin) is in
the store. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

LIMIT = 100


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done, and how to take it back."""

    label: str
    """What was done, for people: ``deleted branch “idea”``."""
    undo: Callable[[], Awaitable[object]]


class UndoStack:
    """The newest steps, newest last."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def push(self, label: str, undo: Callable[[], Awaitable[object]]) -> None:
        """Remember a step; the oldest beyond the limit is forgotten."""
        self._steps.append(Step(label, undo))
        del self._steps[:-LIMIT]

    async def undo(self) -> str | None:
        """Take the newest step back and tell which it was; None when there is none."""
        if not self._steps:
            return None
        step = self._steps.pop()
        await step.undo()
        return step.label
