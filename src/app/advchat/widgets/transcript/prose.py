"""Markdown blocks other than code and tables at top level: headings, lists, quotes, and what they contain.

Owns the walk over the parser's tokens and the marks that lead rows: bullets, numbers, quote bars. Also owns the
growing paragraph, of which only the last part is parsed again. Knows no turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.style import Style

from advchat.widgets.transcript.code import CodeRows
from advchat.widgets.transcript.flow import flow_runs
from advchat.widgets.transcript.inline import Aligner, inline_runs, parser, token_runs
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import NOWHERE, Row, Run, make_row
from advchat.widgets.transcript.table import TableRows

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = "•◦▪"
_DEEPEST = 12
"""Containers nested deeper than this are drawn without further indent."""
_PIECE = 2000
"""A paragraph longer than twice this is parsed in pieces of about this size, cut at a blank."""


_CUT_TRIES = 40


class ParagraphRows:
    """The rows of one paragraph, however long; ``update`` renders again only its last piece."""

    def __init__(self, palette: Palette, width: int, env: dict[str, Any]) -> None:
        self._palette = palette
        self._width = max(1, width)
        self._env = env
        self._position = 0
        self._carried: list[Run] = []
        self._kept = 0
        self.rows: list[Row] = []

    def update(self, source: str) -> int:
        """Render ``source``, which extends the last one; return the first changed row."""
        del self.rows[self._kept :]
        first_changed = self._kept
        source = source.rstrip()
        while len(source) - self._position > 2 * _PIECE:
            stop = _cut_place(source, self._position)
            runs = self._carried + self._parse(source, self._position, stop)
            rows = flow_runs(runs, self._width)
            self.rows += [make_row(row) for row in rows[:-1]]
            self._kept = len(self.rows)
            self._carried = rows[-1]
            self._position = stop
        runs = self._carried + self._parse(source, self._position, len(source))
        self.rows += [make_row(row) for row in flow_runs(runs, self._width)]
        return first_changed

    def _parse(self, source: str, start: int, stop: int) -> list[Run]:
        text = source[start:stop]
        stripped = text.lstrip(" ") if start == 0 else text
        start += len(text) - len(stripped)
        return inline_runs(stripped, self._palette, self._palette.text, self._env, start)


def _cut_place(source: str, start: int) -> int:
    """Return where a long paragraph may be cut: after a blank at which no markup seems to be open."""
    stop = start + _PIECE
    best = 0
    for _ in range(_CUT_TRIES):
        stop = max(source.rfind(" ", start + 1, stop), source.rfind("\n", start + 1, stop))
        if stop < 0:
            break
        piece = source[start:stop]
        best = best or stop
        if all(piece.count(sign) % 2 == 0 for sign in "`*_") and piece.count("[") == piece.count("]"):
            return stop + 1
    return best + 1 if best else start + _PIECE


class ProseRows:
    """The rows of any other Markdown block. ``update`` renders all of it."""

    def __init__(self, palette: Palette, width: int, env: dict[str, Any], indent: int = 0) -> None:
        self._palette = palette
        self._width = max(1, width)
        self._env = env
        self._indent = indent
        self.rows: list[Row] = []

    def update(self, source: str) -> int:
        """Render ``source``; return the first changed row, which is the first."""
        text = _dedent(source, self._indent) if self._indent else source
        walk = _Walk(source, self._palette, self._width)
        if self._indent:
            walk.enter([Run(" " * self._indent, Style())])
        # A copy, because a definition that still grows must not be learned.
        env = {"references": dict(self._env.get("references", ()))}
        walk.run(parser().parse(text, env))
        self.rows = walk.rows
        return 0


def _dedent(source: str, indent: int) -> str:
    margin = " " * indent
    return "".join(
        line[indent:] if line.startswith(margin) else line.lstrip(" ")
        for line in source.splitlines(keepends=True)
    )


class _Walk:
    """Turns the tokens of one block into rows."""

    def __init__(self, source: str, palette: Palette, width: int) -> None:
        self.rows: list[Row] = []
        self._source = source
        self._palette = palette
        self._width = width
        self._aligner = Aligner(source)
        self._leads: list[list[list[Run]]] = []
        """Per open container: what leads its next row, and what leads the rows after it."""
        self._numbers: list[int | None] = []
        self._styles = [palette.text]
        self._wants_gap = False

    def enter(self, first: list[Run], rest: list[Run] | None = None) -> None:
        """Open a container whose first row is led by ``first`` and whose others are led by ``rest``."""
        self._leads.append([first, first if rest is None else rest])

    def run(self, tokens: Sequence[Token]) -> None:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "table_open":
                index = self._table(tokens, index)
                continue
            self._token(token)
            index += 1

    def _token(self, token: Token) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            start = token.attrGet("start")
            self._numbers.append(int(start or 1) if kind == "ordered_list_open" else None)
            if start == 0:
                self._numbers[-1] = 0
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._numbers.pop()
            self._wants_gap = not self._numbers
        elif kind == "list_item_open":
            self._open_item(token)
        elif kind == "blockquote_open":
            self._gap()
            self._styles.append(self._palette.quote)
            self.enter([Run("▎ ", self._palette.rule)])
        elif kind in ("list_item_close", "blockquote_close"):
            self._close_container(kind)
        else:
            self._leaf(token)

    def _close_container(self, kind: str) -> None:
        lead = self._leads.pop()
        if kind == "blockquote_close":
            self._styles.pop()
            self._wants_gap = True
        elif lead[0] is not lead[1]:
            # The item had no text: its mark alone makes a row.
            self._leads.append(lead)
            self._add([])
            self._leads.pop()

    def _leaf(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._inline(token)
        elif kind == "heading_open":
            self._gap()
            top = Style(underline=True) if token.tag == "h1" else Style()
            self._styles.append(self._palette.heading + top)
        elif kind == "heading_close":
            self._styles.pop()
            self._wants_gap = True
        elif kind == "paragraph_open" and not token.hidden:
            self._gap()
        elif kind == "paragraph_close":
            self._wants_gap = not token.hidden
        elif kind == "hr":
            self._gap()
            self._add([Run("─" * self._room(), self._palette.rule)])
        elif kind in ("fence", "code_block"):
            self._code(token)

    def _gap(self) -> None:
        """Leave an empty row between two blocks of the same container."""
        if self._wants_gap and self.rows:
            self.rows.append(make_row([run for lead in self._leads for run in lead[1]]))
        self._wants_gap = False

    def _room(self) -> int:
        return max(4, self._width - sum(_cells(lead[1]) for lead in self._leads))

    def _lead(self) -> list[Run]:
        found = [run for lead in self._leads for run in lead[0]]
        for lead in self._leads:
            lead[0] = lead[1]
        return found

    def _open_item(self, token: Token) -> None:
        if self._wants_gap and self.rows:
            self._gap()
        self._wants_gap = False
        number = self._numbers[-1]
        if number is None:
            depth = sum(1 for open_list in self._numbers if open_list is None) - 1
            mark = f"{_BULLETS[depth % len(_BULLETS)]} "
        else:
            mark = f"{token.info or number}{token.markup} "
            self._numbers[-1] = number + 1
        blank = "" if len(self._leads) > _DEEPEST else " " * len(mark)
        self.enter([Run(mark if blank else "", self._palette.muted)], [Run(blank, Style())])

    def _inline(self, token: Token) -> None:
        runs = token_runs(token.children or (), self._aligner, self._palette, self._styles[-1])
        if self._numbers and runs:
            runs = self._task(runs)
        for part in flow_runs(runs, self._room()):
            self._add(part)

    def _task(self, runs: list[Run]) -> list[Run]:
        first = runs[0]
        box = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}.get(first.text[:4])
        if box is None:
            return runs
        mark = Run(box, first.style, first.start, first.start + 4)
        return [mark, first._replace(text=first.text[4:], start=first.start + 4), *runs[1:]]

    def _add(self, runs: Sequence[Run]) -> None:
        self.rows.append(make_row([*self._lead(), *runs]))

    def _code(self, token: Token) -> None:
        self._gap()
        language = token.info.strip().split(" ")[0]
        code = CodeRows(language, self._palette, self._room(), copy=token.content)
        code.update(token.content.rstrip("\n"), self._place_lines(token.content))
        self._add_rows(code.rows)
        self._wants_gap = True

    def _place_lines(self, content: str) -> Callable[[int], int]:
        """Find each line of nested code in the source, whose markers and margins the parser took off."""
        places: dict[int, int] = {}
        position = 0
        for line in content.split("\n"):
            places[position] = self._aligner.find(line)
            position += len(line) + 1
        return lambda line_start: places.get(line_start, NOWHERE)

    def _add_rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.rows.append(led_row(self._lead(), row))

    def _table(self, tokens: Sequence[Token], index: int) -> int:
        """Draw a table inside a container; return the index behind its tokens."""
        self._gap()
        stop = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
        table = TableRows(self._palette, self._room(), {})
        table.update(_table_source(tokens[index:stop]))
        # Its source is put together anew here, so its rows have no place in the block's.
        self._add_rows(
            [replace(row, spans=tuple(span for span in row.spans if span.target)) for row in table.rows]
        )
        self._wants_gap = True
        return stop + 1


def _table_source(tokens: Sequence[Token]) -> str:
    lines: list[list[str]] = []
    aligns: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            lines.append([])
        elif token.type == "inline":
            lines[-1].append(token.content.replace("|", "\\|"))
        elif token.type == "th_open":
            style = str(token.attrGet("style") or "")
            aligns.append(":-:" if "center" in style else "-:" if "right" in style else "--")
    head, *rest = lines or [[]]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, aligns, *rest))


def _cells(runs: Sequence[Run]) -> int:
    return sum(cell_len(run.text) for run in runs)


def led_row(lead: Sequence[Run], row: Row) -> Row:
    """Put ``lead`` before a finished row."""
    if not lead:
        return row
    head = make_row(lead)
    moved = tuple(span._replace(x=span.x + head.cells) for span in row.spans)
    return Row((*head.segments, *row.segments), head.cells + row.cells, (*head.spans, *moved))
