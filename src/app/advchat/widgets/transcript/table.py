"""Tables, laid out row by row while they grow.

Owns column widths and the drawing of cells. A row's cells are parsed once; columns widen in steps, so that few
new rows make the whole table be drawn again. Where columns would get too narrow to read, each row becomes a
small list of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from rich.style import Style

from advchat.widgets.transcript.blocks import split_cells
from advchat.widgets.transcript.flow import flow, flow_runs
from advchat.widgets.transcript.inline import inline_runs
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import Row, Run, make_row

_STEP = 4
_NARROWEST = 8
_GAP = " │ "
_MOST_COLUMNS = 64

Align = Literal["left", "right", "center"]


@dataclass(frozen=True, slots=True)
class _Cell:
    runs: tuple[Run, ...]
    cells: int


class TableRows:
    """The rows of one table; ``update`` draws only what new source lines change."""

    def __init__(self, palette: Palette, width: int, env: dict[str, Any]) -> None:
        self._palette = palette
        self._width = max(8, width)
        self._env = env
        self._lines: list[list[_Cell]] = []
        self._aligns: list[Align] = []
        self._natural: list[int] = []
        self._widths: list[int] = []
        self._position = 0
        self._seen_lines = 0
        self._kept_rows = 0
        self.rows: list[Row] = []

    def update(self, source: str) -> int:
        """Draw the table ``source``, which extends the last one; return the first changed row."""
        fresh: list[list[_Cell]] = []
        while (stop := source.find("\n", self._position)) >= 0:
            self._take(source, self._position, stop, fresh)
            self._position = stop + 1
            self._seen_lines += 1
        growing: list[list[_Cell]] = []
        if self._position < len(source):
            self._take(source, self._position, len(source), growing)
        return self._draw(fresh, growing)

    def _take(self, source: str, start: int, stop: int, into: list[list[_Cell]]) -> None:
        line = source[start:stop]
        if not line.strip():
            return
        if self._seen_lines == 1:
            self._aligns = [_alignment(line[first:last]) for first, last in split_cells(line)]
            return
        style = self._palette.strong if not self._lines and not into else Style()
        columns = len(self._natural) or _MOST_COLUMNS
        row = [self._cell(line[a:b], start + a, style) for a, b in split_cells(line)[:columns]]
        row += [_Cell((), 0)] * (len(self._natural) - len(row))
        if not self._natural:
            self._natural = [0] * len(row)
        self._natural = [max(width, cell.cells) for width, cell in zip(self._natural, row, strict=True)]
        into.append(row)

    def _cell(self, source: str, start: int, style: Style) -> _Cell:
        if "\\|" in source:
            source = source.replace("\\|", "|")
        runs = inline_runs(source, self._palette, style, self._env, start) if source else []
        return _Cell(tuple(runs), sum(cell_len(run.text) for run in runs))

    def _draw(self, fresh: list[list[_Cell]], growing: list[list[_Cell]]) -> int:
        widths = fit_columns(self._natural, self._width - len(_GAP) * (len(self._natural) - 1))
        first_changed = self._kept_rows
        if widths != self._widths:
            self._widths, first_changed, self._kept_rows = widths, 0, 0
            todo = [*self._lines, *fresh]
            base = 0
        else:
            todo = fresh
            base = len(self._lines)
        del self.rows[self._kept_rows :]
        self._lines += fresh
        for index, line in enumerate(todo, base):
            self._add(index, line)
        self._kept_rows = len(self.rows)
        for index, line in enumerate(growing, len(self._lines)):
            self._add(index, line)
        return first_changed

    def _add(self, index: int, line: list[_Cell]) -> None:
        if not self._widths:
            self._add_record(index, line)
            return
        parts = [flow_runs(cell.runs, width) for cell, width in zip(line, self._widths, strict=True)]
        for number in range(max(len(part) for part in parts)):
            self.rows.append(make_row(self._row_runs(parts, number)))
        if index == 0:
            self.rows.append(
                make_row([Run("─┼─".join("─" * width for width in self._widths), self._palette.rule)])
            )

    def _row_runs(self, parts: list[list[list[Run]]], number: int) -> list[Run]:
        found: list[Run] = []
        for column, (part, width) in enumerate(zip(parts, self._widths, strict=True)):
            if column:
                found.append(Run(_GAP, self._palette.rule))
            runs = part[number] if number < len(part) else []
            room = width - sum(cell_len(run.text) for run in runs)
            left = self._left_gap(column, room)
            found += (Run(" " * left, Style()), *runs, Run(" " * max(0, room - left), Style()))
        return found

    def _left_gap(self, column: int, room: int) -> int:
        align = self._aligns[column] if column < len(self._aligns) else "left"
        if align == "left":
            return 0
        return max(0, room) if align == "right" else max(0, room // 2)

    def _add_record(self, index: int, line: list[_Cell]) -> None:
        if index == 0:
            return
        if index > 1:
            self.rows.append(make_row([]))
        head = self._lines[0] if self._lines else line
        for name, cell in zip(head, line, strict=True):
            label = [*name.runs, Run(": ", self._palette.muted)] if name.runs else []
            # The header's place in the source belongs to its own row only.
            label = [run._replace(start=-1, end=-1) for run in label]
            self.rows += flow([*label, *cell.runs], self._width, rest=[Run("  ", Style())])


def _alignment(cell: str) -> Align:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"


def fit_columns(natural: Sequence[int], room: int) -> list[int]:
    """Return widths for columns of those natural widths within ``room`` cells; none where they cannot be read.

    A column that needs less than its share keeps what it needs, and leaves the rest to the others.
    """
    if not natural:
        return []
    stepped = [max(1, -(-width // _STEP) * _STEP) for width in natural]
    if sum(stepped) <= room:
        return stepped
    if room // len(natural) < _NARROWEST and sum(natural) > room:
        return []
    if sum(natural) <= room:
        return [max(1, width) for width in natural]
    widths = [0] * len(natural)
    left, columns = room, len(natural)
    for index in sorted(range(len(natural)), key=lambda column: natural[column]):
        widths[index] = max(1, min(natural[index], left // columns))
        left -= widths[index]
        columns -= 1
    return widths
