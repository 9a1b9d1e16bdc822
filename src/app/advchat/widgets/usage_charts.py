"""Charts of spend over time, and the layers that every chart of the report is drawn in.

Owns the geometry of bars, curve and axes; the dots are plotille's. Each ink has a canvas of its own that is
drawn without colour and coloured here, so that neither escape codes nor colours of the library's reach the
screen; dots that fill a bar become the solid sign of their shape. Pure: values in, cells out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plotille import Canvas
from rich.cells import cell_len

from advchat.usage_report import ReportRow, periods
from advchat.widgets.numbers import money
from advchat_storage.models import UsageSum

ReportCell = tuple[str, str, str]
"""Text that is safe to draw, the name of its ink, and the ink whose colour is its ground (empty for none)."""

ReportLine = tuple[ReportCell, ...]

PARTS = ("cached", "input", "output")
"""Inks of a bar's parts, in the order in which they are stacked."""

_AXIS = 9
"""Cells of the numbers beside a chart, the axis included."""

_DATES = {"day": slice(5, 10), "week": slice(5, 10), "month": slice(0, 7), "year": slice(0, 4)}
"""Which part of a day's name stands for a period."""

_BLANK = 0x2800
_ALL = 0xFF
_SOLID = {0xC0: "▂", 0xE4: "▄", 0xF6: "▆", _ALL: "█", 0x44: "▖"}
"""Signs in place of dots that are a rectangle from the cell's bottom left."""

_WIDEST = 16
"""Dots that a bar may take, the gap after it included."""


class Layers:
    """A field of cells, two dots wide and four high, with a canvas for each ink."""

    def __init__(self, width: int, height: int, solid: Sequence[str] = PARTS) -> None:
        """Make it; ``solid`` are the inks of bars, the lowest part first."""
        self.width, self.height = width, height
        self._solid = solid
        self._canvases: dict[str, Canvas] = {}

    def canvas(self, ink: str) -> Canvas:
        """Give the canvas of an ink; its coordinates are dots from the bottom left."""
        if ink not in self._canvases:
            size = {"xmax": 2 * self.width, "ymax": 4 * self.height}
            self._canvases[ink] = Canvas(self.width, self.height, **size)
        return self._canvases[ink]

    def fill(self, ink: str, left: int, bottom: int, right: int, top: int) -> None:
        """Set the dots from (left, bottom) up to, and without, (right, top)."""
        if top > bottom:
            for x in range(left, right):
                self.canvas(ink).line(x, bottom, x, top - 1)

    def lines(self) -> list[ReportLine]:
        """Lay the canvases over each other. Bars share a cell; a curve or a sign stands before them."""
        drawn = {ink: canvas.plot(linesep="\n").split("\n") for ink, canvas in self._canvases.items()}
        return [
            tuple(
                self._cell({ink: rows[y][x] for ink, rows in drawn.items() if ord(rows[y][x]) != _BLANK})
                for x in range(self.width)
            )
            for y in range(self.height)
        ]

    def _cell(self, signs: dict[str, str]) -> ReportCell:
        """Draw one cell of what each ink has in it."""
        bars = {ink: ord(signs[ink]) - _BLANK for ink in self._solid if ink in signs}
        front = next((ink for ink in signs if ink not in bars), None)
        drawn = _bars(bars)
        if front is None:
            return drawn
        return signs[front], front, drawn[1] if drawn[0] == "█" else ""


def _bars(parts: dict[str, int]) -> ReportCell:
    """Draw the dots of a bar's parts, the lowest part first."""
    dots = 0
    for part in parts.values():
        dots |= part
    if not dots:
        return " ", "", ""
    most = max(parts, key=lambda ink: parts[ink].bit_count())
    if dots == _ALL and len(parts) == 2:
        lower, upper = parts
        if parts[lower] in _SOLID:
            return _SOLID[parts[lower]], lower, upper
    return _SOLID.get(dots) or chr(_BLANK + dots), most, ""


def parts_of(usage: UsageSum) -> tuple[int, int, int]:
    """Give cached input, the rest of the input, and output; what is unknown has no height."""
    whole = usage.input_tokens or 0
    cached = min(usage.cached_tokens or 0, whole)
    return cached, whole - cached, usage.output_tokens or 0


def heights(parts: Sequence[int], dots_per_unit: float) -> list[int]:
    """Give the dots at which each part ends; what is there at all gets one."""
    ends, below = [], 0
    for part in parts:
        below += max(1, round(part * dots_per_unit)) if part else 0
        ends.append(below)
    return ends


def round_up(value: int) -> int:
    """Give the next number above that reads well, itself and its half: one digit and zeros."""
    if value <= 1:
        return 1
    power = int(f"1{'0' * (len(str(value)) - 1)}")
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def charts(rows: Sequence[ReportRow], width: int, height: int) -> list[ReportLine]:
    """Draw spend over time in a window of that size: stacked tokens, and the cost curve under them."""
    room = width - _AXIS - 1
    if room < 4 or not rows:
        return []
    word, shown = periods(rows, room)
    dates = [row.name[_DATES[word]] for row in shown]
    above, below = _even(height * 0.38, 4, 16), _even(height * 0.22, 4, 10)
    return [
        heading(f" Tokens a {word}", legend(), width),
        *_tokens(shown, dates, room, above),
        (),
        heading(f" Cost a {word}", _unknown_legend(shown), width),
        *_costs(shown, dates, room, below),
    ]


def _even(wanted: float, least: int, most: int) -> int:
    """Give an even number of rows, so that the middle of the axis has one."""
    return max(least, min(most, int(wanted) // 2 * 2))


def heading(title: str, legend: ReportLine, width: int) -> ReportLine:
    """Write a chart's title, and its legend where there is room for it."""
    wide = sum(cell_len(text) for text, _, _ in legend)
    return ((title, "strong", ""), *(legend if cell_len(title) + wide <= width else ()))


def legend() -> ReportLine:
    """Name the parts of a bar."""
    return tuple(
        cell for part in PARTS for cell in (("  ", "", ""), ("■", part, ""), (f" {part}", "quiet", ""))
    )


def _unknown_legend(rows: Sequence[ReportRow]) -> ReportLine:
    if not any("cost_nano" in row.usage.unknown for row in rows):
        return ()
    return (("  ?", "warn", ""), (" price not known", "quiet", ""))


def _unit(total: int, room: int) -> int:
    """Tell how many dots a bar takes, the gap after it included."""
    # Whole cells, so that all bars look the same.
    return max(2, min(_WIDEST, 2 * room // max(1, total)) // 2 * 2)


def _tokens(rows: Sequence[ReportRow], dates: Sequence[str], room: int, height: int) -> list[ReportLine]:
    layers = Layers(room, height)
    top = round_up(max((sum(parts_of(row.usage)) for row in rows), default=0))
    unit = _unit(len(rows), room)
    wide = max(2, unit - 2)
    for place, row in enumerate(rows):
        bottom = 0
        for ink, end in zip(PARTS, heights(parts_of(row.usage), 4 * height / top), strict=True):
            layers.fill(ink, place * unit, bottom, place * unit + wide, min(end, 4 * height))
            bottom = end
    return _with_axes(layers, dates, unit, (_short(top), _short(top / 2)))


def _costs(rows: Sequence[ReportRow], dates: Sequence[str], room: int, height: int) -> list[ReportLine]:
    layers = Layers(room, height)
    top = round_up(max((row.usage.cost_nano or 0 for row in rows), default=0))
    unit = _unit(len(rows), room)
    before: tuple[int, int] | None = None
    for place, row in enumerate(rows):
        x = place * unit + (max(2, unit - 2) - 1) // 2
        if row.usage.cost_nano is None and row.usage.requests:
            layers.canvas("warn").text(x, 0, "?")
            before = None
            continue
        y = math.floor((row.usage.cost_nano or 0) / top * (4 * height - 1))
        layers.canvas("cost").line(*(before or (x, y)), x, y)
        before = x, y
    return _with_axes(layers, dates, unit, (money(top, _AXIS - 3), money(top // 2, _AXIS - 3)))


def _with_axes(layers: Layers, dates: Sequence[str], unit: int, numbers: tuple[str, str]) -> list[ReportLine]:
    """Put numbers (the top's and its half's) to the left of a chart, and dates under it."""
    middle = layers.height // 2
    found: list[ReportLine] = []
    for y, line in enumerate(layers.lines()):
        told = numbers[y > 0] if y in {0, middle} else ""
        found.append(((f"{told:>{_AXIS - 2}} ", "quiet", ""), ("┤" if told else "│", "rule", ""), *line))
    axis = ((f"{'0':>{_AXIS - 2}} ", "quiet", ""), ("└" + "─" * layers.width, "rule", ""))
    return [*found, axis, ((" " * _AXIS + _spread(dates, unit, layers.width), "quiet", ""),)]


def _short(value: float) -> str:
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * size or value >= size >= 1e6:
            return f"{value / size:g}{mark}"
    return f"{value:,g}"


def _spread(dates: Sequence[str], unit: int, width: int) -> str:
    """Write as many dates under the bars as stand apart."""
    text = ""
    for place, date in enumerate(dates):
        start = place * unit // 2
        if start + len(date) <= width and (not text or start >= len(text) + 2):
            text = f"{text:<{start}}{date}"
    return text
