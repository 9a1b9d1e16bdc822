"""A bar per turn, with the cost curve over them.

Owns the drawing of the chart. Pure: values in, cells out. Cached input stands at the bottom of a bar, the
rest of the input over it, output on top; where a row of cells holds two of them, both are drawn in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advchat.state import TurnBar


BARS = ("cached", "input", "output")
"""Styles of a bar's parts, from the bottom up."""

ChartCell = tuple[str, str, str]
"""A character, the style of its ink, and the style whose colour is its ground (empty for none)."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"


_WIDEST = 4


def unit(total: int, cells: int) -> int:
    """Tell how many cells a bar takes, the gap after it included: more while there are few bars."""
    return max(1, min(_WIDEST, cells // max(1, total)))


def window(total: int, columns: int, cursor: int) -> tuple[int, int]:
    """Tell which bars are in view: the last ones, or those that end at the cursor."""
    if total <= columns:
        return 0, total
    stop = total if cursor >= total - columns else cursor + 1
    stop = max(stop, columns)
    return stop - columns, stop


def chart(bars: Sequence[TurnBar], height: int) -> list[list[ChartCell]]:
    """Draw bars one column each, rows from the top; the tallest fills the height."""
    tallest = max((bar.input_tokens + bar.output_tokens for bar in bars), default=0)
    dearest = max((bar.cost_nano or 0 for bar in bars), default=0)
    columns = [_column(bar, height, tallest, dearest) for bar in bars]
    return [[column[row] for column in columns] for row in range(height)]


def _column(bar: TurnBar, height: int, tallest: int, dearest: int) -> list[ChartCell]:
    if not bar.known:
        return [(" ", "", "")] * (height - 1) + [("?", "quiet", "")]
    scale = height * 8 / tallest if tallest else 0.0
    fresh = bar.input_tokens - bar.cached_tokens
    tops = _tops((bar.cached_tokens, fresh, bar.output_tokens), scale)
    cells = [_cell(tops, (height - 1 - row) * 8) for row in range(height)]
    if dearest and bar.cost_nano:
        row = height - 1 - min(height - 1, int(bar.cost_nano * height / (dearest + 1)))
        _, ink, ground = cells[row]
        full = cells[row][0] == "█"
        cells[row] = ("•", "cost", ink if full else ground)
    return cells


def _tops(parts: tuple[int, int, int], scale: float) -> list[int]:
    """Heights in eighths at which each part ends; what is there at all gets one eighth."""
    tops: list[int] = []
    below = 0
    for part in parts:
        below += max(1, round(part * scale)) if part else 0
        tops.append(below)
    return tops


def _cell(tops: Sequence[int], floor: int) -> ChartCell:
    """Draw the eight eighths above ``floor``: the lowest part in them as ink, the next as ground."""
    for place, top in enumerate(tops):
        if top > floor:
            filled = min(8, top - floor)
            above = next(
                (name for name, end in zip(BARS[place + 1 :], tops[place + 1 :], strict=True) if end > top), ""
            )
            return _EIGHTHS[filled], BARS[place], above if filled < 8 else ""
    return " ", "", ""
