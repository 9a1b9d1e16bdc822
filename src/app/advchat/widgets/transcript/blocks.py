"""Splitting an answer's Markdown into blocks while it grows.

Owns the line machine that finds top-level blocks: each line is looked at once, and only the last block is
open to change. What a block means inside is the renderers' affair. Knows no style and no width.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["paragraph", "prose", "code", "table"]

_FENCE = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"( {0,3})([-+*]|\d{1,9}[.)])(?:( +)(?=\S)|[ \t]*$)")
_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:")
_GROWING_DELIMITER = re.compile(r" {0,3}\|[ \t:|-]*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """One block: ``[start, end)`` of the source.

    ``indent`` columns are taken off each line, because the block continues a list item; ``spaced`` says
    whether a blank line stands before it; ``closed`` says whether more text can no longer change it.
    """

    kind: BlockKind
    start: int
    end: int
    indent: int = 0
    spaced: bool = True
    closed: bool = True


@dataclass(slots=True)
class _State:
    """Where the machine stands after a line."""

    kind: Literal["", "paragraph", "prose", "quote", "item", "code", "table"] = ""
    start: int = 0
    end: int = 0
    indent: int = 0
    spaced: bool = True
    blank: bool = False
    """Whether the line before was blank."""
    fence: str = ""
    """The marker that closes the open fence, in a code block or inside a list item."""
    item: int = 0
    """Columns of content of the list item that the machine is in; 0 outside of lists."""
    after_list: bool = False
    """Whether the machine was in a list before this line."""
    previous: str = ""
    previous_start: int = 0


class Splitter:
    """Splits a growing text. ``update`` takes the whole text so far, which must extend the last one."""

    def __init__(self) -> None:
        self._state = _State()
        self._closed: list[Piece] = []
        self._position = 0

    def update(self, text: str) -> tuple[list[Piece], int]:
        """Return all pieces of ``text``, and how many of the leading ones are closed for good."""
        while (end := text.find("\n", self._position)) >= 0:
            self._line(text[self._position : end], self._position, end + 1)
            self._position = end + 1
        stable = len(self._closed)
        return [*self._closed, *self._tentative(text)], stable

    def _tentative(self, text: str) -> list[Piece]:
        """Take the last, unfinished line as if it were whole, and forget about it again."""
        state, closed = copy(self._state), len(self._closed)
        if self._position < len(text):
            line = text[self._position :]
            growing = self._state.kind == "paragraph" and _GROWING_DELIMITER.match(line)
            if growing and self._state.previous.lstrip().startswith("|"):
                self._open_table(len(text))
            else:
                self._line(line, self._position, len(text))
        found = self._closed[closed:]
        if self._state.kind:
            found.append(self._piece(closed=False))
        del self._closed[closed:]
        self._state = state
        return found

    def _piece(self, *, closed: bool) -> Piece:
        state = self._state
        kind: BlockKind = "paragraph"
        if state.kind in ("code", "table"):
            kind = "code" if state.kind == "code" else "table"
        elif state.kind != "paragraph":
            kind = "prose"
        return Piece(kind, state.start, state.end, state.indent, state.spaced, closed)

    def _close(self) -> None:
        if self._state.kind:
            self._closed.append(self._piece(closed=True))
        self._state.kind = ""
        self._state.fence = ""

    def _line(self, line: str, start: int, end: int) -> None:
        line = line.rstrip("\r").expandtabs(4) if "\t" in line or "\r" in line else line
        state = self._state
        state.after_list = bool(state.item)
        if state.kind == "code":
            self._code(line, end)
        elif not line.strip():
            self._blank_line(end)
        elif state.item and self._in_item(line, start, end):
            pass
        elif not state.kind or not self._continues(line, start, end):
            self._begin(line, start, end)
        if line.strip():
            state.blank = False
            state.previous, state.previous_start = line, start

    def _code(self, line: str, end: int) -> None:
        state = self._state
        state.end = end
        stripped = line.strip()
        closing = stripped.startswith(state.fence) and not stripped.strip(state.fence[0])
        if closing and _indent(line) <= state.indent + 3:
            self._close()

    def _blank_line(self, end: int) -> None:
        state = self._state
        state.blank = True
        if state.fence:
            state.end = end
        elif state.kind and not state.item:
            self._close()

    def _in_item(self, line: str, start: int, end: int) -> bool:
        """Handle a line while in a list; False when the list has ended before it."""
        state = self._state
        inner = _indent(line) >= state.item
        if inner and state.fence:
            stripped = line.strip()
            state.end = end
            if stripped.startswith(state.fence) and not stripped.strip(state.fence[0]):
                state.fence = ""
            return True
        if inner:
            self._inner_line(line, start, end)
            return True
        if state.kind and not state.blank and not _interrupts(line):
            state.end = end
            return True
        self._close()
        state.item = 0
        return False

    def _inner_line(self, line: str, start: int, end: int) -> None:
        state = self._state
        fence = _FENCE.match(line)
        if fence is not None and _indent(line) <= state.item + 3:
            self._close()
            self._open("code", start, end, indent=state.item)
            state.fence = fence[2]
        elif not state.kind:
            self._open("prose", start, end, indent=state.item)
        else:
            state.end = end

    def _continues(self, line: str, start: int, end: int) -> bool:
        """Whether the line belongs to the open block, which then has taken it."""
        state = self._state
        if state.kind == "table":
            belongs = "|" in line and not _interrupts(line)
        elif state.kind == "paragraph" and _SETEXT.match(line):
            state.kind, state.end = "prose", end
            self._close()
            return True
        elif state.kind == "paragraph" and self._is_table(line):
            self._open_table(end)
            return True
        elif state.kind == "quote":
            belongs = bool(_QUOTE.match(line)) or not _interrupts(line)
        else:
            belongs = not _interrupts(line, paragraph=True)
        if belongs:
            state.end = end
        else:
            self._close()
        return belongs

    def _is_table(self, line: str) -> bool:
        head = self._state.previous
        if "|" not in head or not _DELIMITER.match(line):
            return False
        return "|" in line and len(split_cells(head)) == len(split_cells(line))

    def _open_table(self, end: int) -> None:
        state = self._state
        if state.previous_start > state.start:
            state.end = state.previous_start
            self._close()
            self._open("table", state.previous_start, end, spaced=False)
        state.kind, state.end = "table", end

    def _begin(self, line: str, start: int, end: int) -> None:
        state = self._state
        item, fence = _ITEM.match(line), _FENCE.match(line)
        if fence is not None and len(fence[1]) <= 3:
            self._open("code", start, end)
            state.fence = fence[2]
        elif _RULE.match(line) or _HEADING.match(line):
            self._open("prose", start, end)
            self._close()
        elif item is not None:
            self._open("item", start, end)
            state.item = len(item[1]) + len(item[2]) + min(len(item[3] or " "), 4)
            inner = _FENCE.match(line[item.end() :])
            state.fence = inner[2] if inner is not None else ""
        elif _QUOTE.match(line):
            self._open("quote", start, end)
        elif _indent(line) >= 4 or _DEFINITION.match(line):
            self._open("prose", start, end)
        else:
            self._open("paragraph", start, end)

    def _open(
        self,
        kind: Literal["paragraph", "prose", "quote", "item", "code", "table"],
        start: int,
        end: int,
        *,
        indent: int = 0,
        spaced: bool | None = None,
    ) -> None:
        state = self._state
        tight = not state.blank and (indent > 0 or (kind == "item" and state.after_list))
        state.spaced = not tight if spaced is None else spaced
        state.kind, state.start, state.end, state.indent = kind, start, end, indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _interrupts(line: str, *, paragraph: bool = False) -> bool:
    """Whether a line begins a new block even right after another's text."""
    fence = _FENCE.match(line)
    if fence is not None and len(fence[1]) <= 3:
        return True
    if _HEADING.match(line) or _QUOTE.match(line) or _RULE.match(line):
        return True
    item = _ITEM.match(line)
    if item is None:
        return False
    if not paragraph:
        return True
    return item[3] is not None and (item[2] in "-+*" or item[2][:-1] == "1")


def split_cells(line: str) -> list[tuple[int, int]]:
    """Return the cells of a table's row as ranges of ``line``, without the blanks around them."""
    cells: list[tuple[int, int]] = []
    start = 0
    for index, letter in enumerate(line):
        if letter == "|" and not _escaped(line, index):
            cells.append(_trimmed(line, start, index))
            start = index + 1
    cells.append(_trimmed(line, start, len(line)))
    if cells and cells[0][0] == cells[0][1] and line.lstrip().startswith("|"):
        cells = cells[1:]
    if len(cells) > 1 and cells[-1][0] == cells[-1][1]:
        cells = cells[:-1]
    return cells


def _escaped(line: str, index: int) -> bool:
    before = index
    while before and line[before - 1] == "\\":
        before -= 1
    return (index - before) % 2 == 1


def _trimmed(line: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and line[start].isspace():
        start += 1
    while stop > start and line[stop - 1].isspace():
        stop -= 1
    return start, stop
