"""Sums of row heights that stay cheap with many turns.

Owns a Fenwick tree over heights: where a turn begins, which turn a row lies in, both in O(log n).
"""

from __future__ import annotations

from collections.abc import Iterable


class Offsets:
    """Heights of a list of turns, in rows, with their running sums."""

    __slots__ = ("_heights", "_tree")

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            above = index + (index & -index)
            if above < len(self._tree):
                self._tree[above] += self._tree[index]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, position: int) -> int:
        return self._heights[position]

    @property
    def total(self) -> int:
        """Rows of all turns together."""
        return self.start(len(self._heights))

    def start(self, position: int) -> int:
        """Return the row at which the turn begins."""
        row = 0
        while position > 0:
            row += self._tree[position]
            position &= position - 1
        return row

    def set(self, position: int, height: int) -> bool:
        """Change a turn's height; say whether it was another one."""
        change = height - self._heights[position]
        if not change:
            return False
        self._heights[position] = height
        index = position + 1
        while index < len(self._tree):
            self._tree[index] += change
            index += index & -index
        return True

    def append(self, height: int) -> None:
        """Add a turn at the end."""
        self._heights.append(height)
        index = len(self._heights)
        self._tree.append(self.start(index - 1) - self.start(index & (index - 1)) + height)

    def find(self, row: int) -> int:
        """Return the position of the turn in which ``row`` lies, held to the first and last turn."""
        position = 0
        step = 1 << len(self._heights).bit_length()
        while step:
            ahead = position + step
            if ahead < len(self._tree) and self._tree[ahead] <= row:
                position = ahead
                row -= self._tree[ahead]
            step >>= 1
        return max(0, min(position, len(self._heights) - 1))
