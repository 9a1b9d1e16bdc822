"""Charts of spend by name: a bar of tokens and a bar of cost for each model, branch or conversation.

Owns their layout. Pure: values in, cells out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from advchat.text import one_line
from advchat.usage_report import ReportRow, add_up
from advchat.widgets.numbers import count, money
from advchat.widgets.usage_charts import (
    PARTS,
    Layers,
    ReportCell,
    ReportLine,
    heading,
    heights,
    legend,
    parts_of,
)
from advchat_storage.models import UsageSum

MOST = 30
"""Rows that are drawn; what is left is one more."""

_BESIDE = 96
"""Cells from which the bars of tokens and of cost stand side by side."""

_TOKENS, _COST = 9, 10
"""Cells of the numbers at the bars."""

_Bar = Callable[[UsageSum, int], ReportLine]


def gathered(rows: Sequence[ReportRow], most: int = MOST) -> tuple[ReportRow, ...]:
    """Keep the first rows and add the others up into one, so that the sums stay what they are."""
    if len(rows) <= most + 1:
        return tuple(rows)
    left = rows[most:]
    return (*rows[:most], ReportRow(f"and {len(left):,} more", add_up([row.usage for row in left])))


def name_charts(rows: Sequence[ReportRow], width: int) -> list[ReportLine]:
    """Draw a bar of tokens and a bar of cost for each row, side by side or one chart after the other."""
    shown = gathered(rows)
    bars = (_tokens_of(shown), _cost_of(shown))
    heads = (heading("Tokens", legend(), width - 1), heading("Cost", (), width))
    if width >= _BESIDE:
        name = min(40, width // 4)
        each = (width - name - 4) // 2
        drawn = [_named(row, name, [bar(row.usage, each - 1) for bar in bars]) for row in shown]
        return [_beside(name, heads, each), *drawn]
    name = max(8, min(24, width // 3))
    found: list[ReportLine] = []
    for head, bar in zip(heads, bars, strict=True):
        found.append(((" ", "", ""), *head))
        found += [_named(row, name, [bar(row.usage, width - name - 3)]) for row in shown]
        found.append(())
    return found[:-1]


def _beside(name: int, parts: Sequence[ReportLine], each: int) -> ReportLine:
    cells: list[ReportCell] = [(" " * (name + 2), "", "")]
    for part in parts:
        wide = sum(cell_len(text) for text, _, _ in part)
        cells += [*part, (" " * max(1, each + 1 - wide), "", "")]
    return tuple(cells)


def _named(row: ReportRow, width: int, bars: Sequence[ReportLine]) -> ReportLine:
    """Put a row's name before its bars."""
    cells: list[ReportCell] = [(" ", "", ""), *_name(row, width), (" ", "", "")]
    for bar in bars:
        cells += [*bar, ("  ", "", "")]
    return tuple(cells)


def _name(row: ReportRow, width: int) -> ReportLine:
    name = one_line(row.name, width)
    room = width - cell_len(name) - 2
    about = one_line(row.about, room) if room > 4 else ""
    gap = " " * (width - cell_len(name) - (cell_len(about) + 2 if about else 0))
    return ((name, "", ""), (f"  {about}" if about else "", "quiet", ""), (gap, "", ""))


def _tokens_of(rows: Sequence[ReportRow]) -> _Bar:
    most = max((sum(parts_of(row.usage)) for row in rows), default=0)

    def bar(usage: UsageSum, cells: int) -> ReportLine:
        field = max(1, cells - _TOKENS)
        ends = heights(parts_of(usage), 2 * field / max(1, most))
        number = count(usage.total_tokens, _TOKENS - 1, at_least="total_tokens" in usage.unknown)
        ink = "" if usage.total_tokens is not None else "warn"
        return *_lying(tuple(zip(PARTS, ends, strict=True)), field), (f"{number:>{_TOKENS}}", ink, "")

    return bar


def _cost_of(rows: Sequence[ReportRow]) -> _Bar:
    most = max((row.usage.cost_nano or 0 for row in rows), default=0)

    def bar(usage: UsageSum, cells: int) -> ReportLine:
        field = max(1, cells - _COST)
        ends = heights((usage.cost_nano or 0,), 2 * field / max(1, most))
        number = money(usage.cost_nano, _COST - 1, at_least="cost_nano" in usage.unknown)
        ink = "" if usage.cost_nano is not None else "warn"
        return *_lying((("cost", ends[0]),), field), (f"{number:>{_COST}}", ink, "")

    return bar


def _lying(parts: Sequence[tuple[str, int]], cells: int) -> ReportLine:
    """Draw a bar from left to right; it is half a row high, which keeps it apart from the next one."""
    layers = Layers(cells, 1, [ink for ink, _ in parts])
    start = 0
    for ink, end in parts:
        layers.fill(ink, start, 0, min(end, 2 * cells), 2)
        start = end
    return layers.lines()[0] if start else ((" " * cells, "", ""),)
