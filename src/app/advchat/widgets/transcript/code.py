"""Code blocks: syntax colours line by line, rows with a label and a copy button.

Owns the lexing of a growing text without starting over, and how code is laid out. Long lines are broken at
the edge, never at blanks, and a mark tells the continuation apart from a line of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from advchat.text import one_line
from advchat.widgets.transcript.flow import cut_run
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import NOWHERE, Row, Run, Target, letters_before, make_row, outside

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_WINDOW = 2400
"""Letters lexed again at most while a block grows, as long as the text offers a place to start from."""
_PLAIN_FROM = 4000
"""Lines longer than this are not lexed: no one reads their colours, and some lexers crawl on them."""
_CONTINUED = "↪"

_ROLES = (
    ("Comment", "code_comment"),
    ("Keyword.Type", "code_type"),
    ("Keyword.Constant", "code_number"),
    ("Keyword", "code_keyword"),
    ("Literal.String", "code_string"),
    ("Literal.Number", "code_number"),
    ("Literal", "code_number"),
    ("Name.Function", "code_name"),
    ("Name.Class", "code_type"),
    ("Name.Builtin", "code_name"),
    ("Name.Decorator", "code_name"),
    ("Name.Tag", "code_keyword"),
    ("Name.Attribute", "code_name"),
    ("Name.Exception", "code_type"),
    ("Name.Namespace", "code_type"),
    ("Operator.Word", "code_keyword"),
    ("Generic.Inserted", "code_string"),
    ("Generic.Deleted", "code_error"),
    ("Generic.Heading", "code_keyword"),
)

Token = tuple[str, int, int]
"""A role of the palette, and the range of the text that has it."""


def find_lexer(language: str) -> Lexer | None:
    """Return the lexer of a fence's language, None where there is none."""
    if not language or len(language) > 40:
        return None
    # Imported late: the first frame has no code in it.
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


class Highlighter:
    """Lexes a text that only grows.

    Lexing begins at a checkpoint: a line from which a fresh start gave the same tokens as the run before it,
    so that a string or comment over many lines is never cut.
    """

    def __init__(self, language: str) -> None:
        self._lexer = find_lexer(language)
        self._roles: dict[object, str] = {}
        self._checkpoint = 0

    @property
    def checkpoint(self) -> int:
        """Tokens before it will not change any more."""
        return self._checkpoint

    def update(self, text: str) -> list[Token]:
        """Return the tokens from the checkpoint on, then move the checkpoint forward where it may be."""
        tokens = self._lex(text, self._checkpoint)
        if len(text) - self._checkpoint > _WINDOW:
            self._advance(text, tokens)
        return tokens

    def _advance(self, text: str, tokens: list[Token]) -> None:
        place = text.rfind("\n", self._checkpoint, len(text) - _WINDOW // 3) + 1
        if place <= self._checkpoint:
            return
        later = [token for token in tokens if token[1] >= place]
        if self._lexer is None or self._lex(text, place) == later:
            self._checkpoint = place

    def _lex(self, text: str, start: int) -> list[Token]:
        if self._lexer is None or _has_long_line(text, start):
            return [("code", start, len(text))]
        found: list[Token] = []
        for at, kind, value in self._lexer.get_tokens_unprocessed(text[start:]):
            role = self._role(kind)
            begin = start + at
            # Never joined over a line end, so that tokens compare equal wherever lexing began.
            if found and found[-1][0] == role and found[-1][2] == begin and text[begin - 1] != "\n":
                found[-1] = (role, found[-1][1], begin + len(value))
            else:
                found.append((role, begin, begin + len(value)))
        return found

    def _role(self, kind: object) -> str:
        role = self._roles.get(kind)
        if role is None:
            name = str(kind).removeprefix("Token.")
            role = next((role for prefix, role in _ROLES if name.startswith(prefix)), "code")
            self._roles[kind] = role
        return role


def _has_long_line(text: str, start: int) -> bool:
    while len(text) - start > _PLAIN_FROM:
        stop = text.find("\n", start, start + _PLAIN_FROM + 1)
        if stop < 0:
            return True
        start = stop + 1
    return False


def nowhere(_line_start: int) -> int:
    """Place a line of code that stands in no source as it is."""
    return NOWHERE


class CodeRows:
    """The rows of one code block, label first; ``update`` renders only lines that may have changed."""

    def __init__(
        self,
        language: str,
        palette: Palette,
        width: int,
        *,
        indent: int = 0,
        copy: str | None = None,
        title: str = "",
    ) -> None:
        self._palette = palette
        self._width = max(8, width)
        self._indent = indent
        self._highlighter = Highlighter(language)
        self.rows: list[Row] = [self._label(title or language, copy)]
        self._kept_rows = 1
        self._kept_offset = 0

    def _label(self, title: str, copy: str | None) -> Row:
        palette = self._palette
        target = Target("copy_block") if copy is None else Target("copy", copy)
        name = one_line(title, max(2, self._width - 10)) or "text"
        gap = " " * max(1, self._width - cell_len(name) - 8)
        runs = [
            *self._margin(),
            Run(f"  {name}{gap}", palette.code_label),
            Run(" copy ", palette.code_button, target=target),
        ]
        return make_row(runs, self._indent + self._width, palette.code_label)

    def _margin(self) -> list[Run]:
        return [Run(" " * self._indent, Style())] if self._indent else []

    def update(self, code: str, place: Callable[[int], int] = nowhere) -> int:
        """Render ``code``; return the first changed row. ``place`` tells where a line stands in the source."""
        del self.rows[self._kept_rows :]
        first_changed = self._kept_rows
        checkpoint = self._highlighter.checkpoint
        tokens = self._highlighter.update(code)
        kept = self._highlighter.checkpoint
        for line_start, line in self._lines(code, tokens, checkpoint):
            if kept > checkpoint and line_start >= kept and self._kept_offset < kept:
                self._kept_rows, self._kept_offset = len(self.rows), kept
            self._add_line(line, line_start, place(line_start))
        return first_changed

    def _lines(self, code: str, tokens: list[Token], start: int) -> list[tuple[int, list[Token]]]:
        """Cut the tokens at line ends: each line's start with its tokens."""
        lines: list[tuple[int, list[Token]]] = [(start, [])]
        self._code = code
        for role, first, last in tokens:
            begin = first
            while (stop := code.find("\n", begin, last)) >= 0:
                visible = stop - 1 if stop > begin and code[stop - 1] == "\r" else stop
                if begin < visible:
                    lines[-1][1].append((role, begin, visible))
                begin = stop + 1
                lines.append((begin, []))
            if begin < last:
                lines[-1][1].append((role, begin, last))
        if len(lines) > 1 and not lines[-1][1] and code.endswith("\n"):
            lines.pop()
        return lines

    def _add_line(self, tokens: list[Token], line_start: int, place: int) -> None:
        runs: list[Run] = []
        for role, first, last in tokens:
            at = place if place == NOWHERE else place + first - line_start
            style: Style = getattr(self._palette, role)
            text = self._code[first:last]
            column = 0 if "\t" not in text else sum(cell_len(run.text) for run in runs)
            runs += outside(text, style, at, column=column)
        room = self._width - 3
        mark = " "
        for part in _cut_rows(runs, room):
            gutter = Run(f" {mark}", self._palette.code_label)
            self.rows.append(
                make_row([*self._margin(), gutter, *part], self._indent + self._width, self._palette.code)
            )
            mark = _CONTINUED


def _cut_rows(runs: list[Run], width: int) -> list[list[Run]]:
    """Cut runs into rows of at most ``width`` cells, anywhere; no runs make one empty row."""
    rows: list[list[Run]] = [[]]
    room = width
    for run in runs:
        first = 0
        while first < len(run.text):
            count = letters_before(run.text[first : first + room + 8], room)
            if count == 0 and room == width:
                count = 1
            if count:
                part = cut_run(run, first, first + count)
                rows[-1].append(part)
                room -= cell_len(part.text)
                first += count
            if first < len(run.text):
                rows.append([])
                room = width
    return rows


class FenceRows:
    """The rows of one fenced block, given with its fences; ``update`` as of ``CodeRows``."""

    def __init__(self, palette: Palette, width: int, indent: int = 0) -> None:
        self._palette = palette
        self._width = width
        self._indent = indent
        self._code: CodeRows | None = None
        self._language = ""
        self.rows: list[Row] = []

    def update(self, source: str) -> int:
        """Render the block ``source``; return the first changed row."""
        head, _, _ = source.partition("\n")
        body = fence_body(source)
        language = fence_language(head)
        fresh = self._code is None or language != self._language
        if self._code is None or fresh:
            self._language = language
            self._code = CodeRows(language, self._palette, self._width - self._indent, indent=self._indent)
        margin = len(head) - len(head.lstrip(" "))
        start = min(len(head) + 1, len(source))
        if margin:
            changed = self._update_indented(self._code, body, start, margin)
        else:
            changed = self._code.update(body, lambda line: start + line)
        self.rows = self._code.rows
        return 0 if fresh else changed

    @staticmethod
    def _update_indented(code: CodeRows, body: str, start: int, margin: int) -> int:
        lines: list[str] = []
        starts, shifts = [], []
        position = removed = 0
        for line in body.split("\n"):
            bare = line[min(margin, len(line) - len(line.lstrip(" "))) :]
            removed += len(line) - len(bare)
            starts.append(position)
            shifts.append(removed)
            lines.append(bare)
            position += len(bare) + 1
        return code.update("\n".join(lines), lambda line: start + line + shifts[bisect_right(starts, line) - 1])


def fence_language(head: str) -> str:
    """Return the language that a fence's first line names."""
    words = head.strip().lstrip("`~").split()
    return words[0].strip("{}.,") if words else ""


def fence_body(source: str) -> str:
    """Return the code of a fenced block, without its fences and without what may become the closing one."""
    head, _, body = source.partition("\n")
    bare = head.strip()
    fence = bare[: len(bare) - len(bare.lstrip(bare[:1]))]
    before, newline, last = body.rstrip("\n").rpartition("\n")
    closing = last.strip()
    ended = body.endswith("\n")
    if closing and not closing.strip(fence[:1]) and (len(closing) >= len(fence) or not ended):
        return before + newline if newline else ""
    return body
