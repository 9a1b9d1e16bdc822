"""Breaking text into rows by cells.

Owns where lines are broken: at blanks, around wide letters, and inside words only where nothing else fits.
Works on ranges, so that every letter keeps its way back to the source. Knows no Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, get_character_cell_size
from rich.style import Style

from advchat.widgets.transcript.rows import Row, Run, make_row

_JOINERS = frozenset("\u200d\ufe0f")
_NOT_FIRST = frozenset("、。，．・：；？！)]}）］｝」』】〉》〕ー…％,.;:?!%")
_NOT_LAST = frozenset("([{（［｛「『【〈《〔")
_WIDE_FROM = "\u1100"


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Return the ranges of ``text`` that make its rows of at most ``width`` cells.

    Blanks at breaks are left out. Newlines always break. An empty text makes one empty row.
    """
    rows: list[tuple[int, int]] = []
    start = 0
    while True:
        stop = text.find("\n", start)
        last = stop < 0
        rows.extend(_wrap_line(text, start, len(text) if last else stop, max(1, width)))
        if last:
            return rows
        start = stop + 1


def _wrap_line(text: str, start: int, stop: int, width: int) -> Iterator[tuple[int, int]]:
    if not text[start:stop].strip(" "):
        yield start, start
        return
    while start < stop:
        cut = _fit(text, start, stop, width)
        if cut < stop:
            cut = _break_before(text, start, cut, stop)
        end = cut
        if cut < stop:
            while end > start and text[end - 1] == " ":
                end -= 1
            while cut < stop and text[cut] == " ":
                cut += 1
        if end > start:
            yield start, end
        start = cut


def _fit(text: str, start: int, stop: int, width: int) -> int:
    """Return the end of the longest stretch from ``start`` that fits ``width`` cells; at least a letter."""
    window = text[start : min(stop, start + width + 1)]
    if window.isascii():
        return min(stop, start + width)
    if _JOINERS.isdisjoint(text[start : min(stop, start + width * 2 + 1)]):
        return _fit_letters(text, start, stop, width)
    return _fit_clusters(text, start, stop, width)


def _fit_letters(text: str, start: int, stop: int, width: int) -> int:
    index, room = start, width
    while index < stop:
        room -= get_character_cell_size(text[index])
        if room < 0:
            break
        index += 1
    return max(index, start + 1)


def _fit_clusters(text: str, start: int, stop: int, width: int) -> int:
    """As ``_fit``, keeping together what joins into one sign."""
    index, room = start, width
    while index < stop:
        after = _cluster_end(text, index, stop)
        room -= cell_len(text[index:after])
        if room < 0 and index > start:
            break
        index = after
        if room <= 0 and (index >= stop or get_character_cell_size(text[index])):
            break
    return index


def _cluster_end(text: str, index: int, stop: int) -> int:
    index += 1
    while index < stop:
        if text[index] == "\u200d" and index + 1 < stop:
            index += 2
        elif get_character_cell_size(text[index]) == 0:
            index += 1
        else:
            break
    return index


def _break_before(text: str, start: int, cut: int, stop: int) -> int:
    """Move ``cut`` back to where a line may be broken, if there is such a place."""
    if text[cut] == " ":
        return cut
    blank = text.rfind(" ", start, cut) + 1
    if text[start:cut].isascii() and text[cut] < _WIDE_FROM:
        return blank if blank > start and text[start:blank].strip() else cut
    for index in range(cut, max(start, blank), -1):
        if _may_break(text, index):
            return index
    return blank if blank > start and text[start:blank].strip() else cut


def _may_break(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if after in _NOT_FIRST or before in _NOT_LAST or after in _JOINERS or before == "\u200d":
        return False
    if get_character_cell_size(after) == 0:
        return False
    wide_after = after >= _WIDE_FROM and get_character_cell_size(after) == 2
    return wide_after or (before >= _WIDE_FROM and get_character_cell_size(before) == 2)


def flow_runs(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Wrap ``runs`` and return each row's."""
    cutter = _Cutter(runs)
    text = "".join(run.text for run in runs)
    return [cutter.take(start, stop) for start, stop in wrap(text, width)]


def flow(
    runs: Sequence[Run],
    width: int,
    *,
    first: Sequence[Run] = (),
    rest: Sequence[Run] = (),
    fill: Style | None = None,
) -> list[Row]:
    """Wrap ``runs`` into rows, the first one led by ``first``, the others by ``rest``.

    ``width`` counts the leads too. With ``fill``, rows reach the full width in that style.
    """
    lead_cells = max(sum(cell_len(run.text) for run in first), sum(cell_len(run.text) for run in rest))
    rows = []
    lead = first
    for part in flow_runs(runs, width - lead_cells):
        rows.append(make_row((*lead, *part), 0 if fill is None else width, fill))
        lead = rest
    return rows


class _Cutter:
    """Cuts ranges that only go forward out of runs, in one pass."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._index = 0
        self._position = 0

    def take(self, start: int, stop: int) -> list[Run]:
        found: list[Run] = []
        while self._index < len(self._runs):
            run = self._runs[self._index]
            after = self._position + len(run.text)
            if after > start and self._position < stop:
                found.append(
                    cut_run(run, max(0, start - self._position), min(len(run.text), stop - self._position))
                )
            if after > stop:
                break
            self._position = after
            self._index += 1
        return found


def cut_run(run: Run, first: int, last: int) -> Run:
    """Return the letters ``[first, last)`` of a run, still mapped to their source."""
    if first == 0 and last == len(run.text):
        return run
    text = run.text[first:last]
    if run.start < 0 or run.end - run.start != len(run.text):
        return run._replace(text=text)
    return run._replace(text=text, start=run.start + first, end=run.start + last)
