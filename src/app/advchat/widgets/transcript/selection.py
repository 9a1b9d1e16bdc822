"""Selecting text in the transcript and getting its source.

Owns what is selected, as places in the turns' sources rather than on the screen, so that scrolling, resizing
and streaming leave it alone. Copied is always the source: without the breaks of wrapping, with its markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from advchat.widgets.transcript.block import Block
from advchat.widgets.transcript.document import TurnDoc
from advchat.widgets.transcript.rows import NOWHERE, Row, Span
from advchat.widgets.transcript.viewport import Line


class Place(NamedTuple):
    """A place between two letters of the conversation's sources."""

    position: int
    part: int
    offset: int


class Range(NamedTuple):
    """A selected stretch, from ``start`` up to ``stop``."""

    start: Place
    stop: Place


def join(first: Range, second: Range) -> Range:
    """Return the range that covers both."""
    return Range(min(first.start, second.start), max(first.stop, second.stop))


def letter_at(lines: Sequence[Line], x: int, y: int) -> Range | None:
    """Return the letter under a cell; beside or between texts the empty range at the nearest end before it."""
    for index in range(min(y, len(lines) - 1), -1, -1):
        line = lines[index]
        spans = mapped_spans(line.row)
        if line.block is None or not spans or line.block.part < 0:
            continue
        return _on_line(line, spans, x if index == y else 1 << 30)
    for line in lines[y + 1 :]:
        spans = mapped_spans(line.row)
        if line.block is not None and spans and line.block.part >= 0:
            return _on_line(line, spans, -1)
    return None


def mapped_spans(row: Row) -> list[Span]:
    """Return the spans of a row that have a place in the source."""
    return [span for span in row.spans if span.start != NOWHERE]


def _on_line(line: Line, spans: Sequence[Span], x: int) -> Range:
    if x < spans[0].x:
        return _empty(line, spans[0].start)
    for span in spans:
        if x < span.x + span.cells:
            start = span.offset_at(max(x, span.x))
            whole = span.end - span.start != len(span.text)
            stop = span.end if whole else min(span.end, start + 1)
            return Range(_place(line, start), _place(line, stop))
    return _empty(line, spans[-1].end)


def _place(line: Line, offset: int) -> Place:
    block = line.block
    if block is None:
        return Place(line.position, 0, 0)
    return Place(line.position, block.part, block.start + offset)


def _empty(line: Line, offset: int) -> Range:
    place = _place(line, offset)
    return Range(place, place)


def row_range(line: Line) -> Range | None:
    """Return what of the source a row shows."""
    spans = mapped_spans(line.row)
    if line.block is None or line.block.part < 0 or not spans:
        return None
    return Range(_place(line, spans[0].start), _place(line, spans[-1].end))


def step_rows(selected: Range | None, rows: Sequence[Range], step: int, position: int) -> Range | None:
    """Return the selection with a row more or less at its end, or None where the view shows no such row.

    A selection begins at the first row of the turn at ``position``.
    """
    if selected is None:
        return next((row for row in rows if row.start.position >= position), None)
    if step > 0:
        below = next((row for row in rows if row.stop > selected.stop), None)
        return None if below is None else join(selected, below)
    inner = [row for row in rows if selected.start < row.stop < selected.stop]
    if inner:
        return Range(selected.start, inner[-1].stop)
    above = [row for row in rows if row.start < selected.start]
    return join(selected, above[-1]) if above else None


def cells_of(line: Line, selected: Range) -> list[tuple[int, int]]:
    """Return the cells of a line that are selected, as ranges."""
    block = line.block
    if block is None or block.part < 0:
        return []
    found: list[tuple[int, int]] = []
    for span in mapped_spans(line.row):
        first, last = _place(line, span.start), _place(line, span.end)
        if last <= selected.start or first >= selected.stop:
            continue
        low = span.x if first >= selected.start else span.cell_at(selected.start.offset - block.start)
        high = (
            span.x + span.cells if last <= selected.stop else span.cell_at(selected.stop.offset - block.start)
        )
        if low < high:
            if found and found[-1][1] == low:
                found[-1] = (found[-1][0], high)
            else:
                found.append((low, high))
    return found


def source_of(
    selected: Range, doc_at: Callable[[int], TurnDoc | None], rows_of: Callable[[Block], Sequence[Row]]
) -> str:
    """Return the source text of a selection; parts and turns are parted by an empty line."""
    start, stop = selected
    pieces: list[str] = []
    for position in range(start.position, stop.position + 1):
        doc = doc_at(position)
        if doc is None:
            continue
        first_part = start.part if position == start.position else 0
        last_part = stop.part if position == stop.position else doc.last_part
        for part in range(first_part, last_part + 1):
            text = doc.source(part) if part <= doc.last_part else ""
            low, high = 0, len(text)
            if (position, part) == (start.position, start.part):
                low = _with_opening(doc, selected, rows_of)
            if (position, part) == (stop.position, stop.part):
                high = _with_closing(doc, selected, rows_of)
            if text[low:high]:
                pieces.append(text[low:high])
    return "\n\n".join(piece.strip("\n") for piece in pieces) if len(pieces) > 1 else "".join(pieces)


def _spans_of(
    doc: TurnDoc, place: Place, rows_of: Callable[[Block], Sequence[Row]]
) -> tuple[Block | None, list[Span]]:
    for block in doc.blocks:
        inside = block.start <= place.offset <= block.start + len(block.source)
        if block.part == place.part and inside and block.source:
            spans = [span for row in rows_of(block) for span in mapped_spans(row)]
            if spans and spans[0].start <= place.offset - block.start <= spans[-1].end:
                return block, sorted(spans, key=lambda span: span.start)
    return None, []


def _with_opening(doc: TurnDoc, selected: Range, rows_of: Callable[[Block], Sequence[Row]]) -> int:
    """Move the start before the markup that opens what is selected as a whole."""
    start, stop = selected
    block, spans = _spans_of(doc, start, rows_of)
    if block is None:
        return start.offset
    offset = start.offset - block.start
    beyond = stop._replace(offset=0) > start._replace(offset=0)
    if offset == spans[0].start and (beyond or stop.offset > block.start + spans[-1].end):
        return block.start
    before = 0
    for span in spans:
        if span.start == offset:
            if not beyond and stop.offset <= block.start + span.end:
                return start.offset
            gap = block.source[before:offset].rpartition("\n")[2]
            return start.offset - len(gap) if gap.strip() else start.offset
        before = max(before, span.end)
    return start.offset


def _with_closing(doc: TurnDoc, selected: Range, rows_of: Callable[[Block], Sequence[Row]]) -> int:
    """Move the end behind the markup that closes what is selected as a whole."""
    start, stop = selected
    block, spans = _spans_of(doc, stop, rows_of)
    if block is None:
        return stop.offset
    offset = stop.offset - block.start
    beyond = stop._replace(offset=0) > start._replace(offset=0)
    after = len(block.source)
    for span in reversed(spans):
        if span.end == offset:
            if not beyond and start.offset >= block.start + span.start:
                return stop.offset
            gap = block.source[offset:after].partition("\n")[0]
            return stop.offset + len(gap) if gap.strip() else stop.offset
        after = span.start
    return stop.offset
