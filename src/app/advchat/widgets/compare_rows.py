"""How two turns are drawn beside each other, or one below the other.

Owns the rows of a comparison: columns, wrapping, and the lighting of words that only one side has. Text is
neutralised here and never read as markup. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from advchat.differences import Sides, Span
from advchat.state import TurnView, answer_text
from advchat.text import clean, one_line
from advchat.widgets.numbers import count, money
from advchat.widgets.transcript.block import Block
from advchat.widgets.transcript.cards import OnceRows
from advchat.widgets.transcript.document import Settings, TurnDoc
from advchat.widgets.transcript.flow import flow_runs
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import Row, Run, make_row

if TYPE_CHECKING:
    from advchat.state import ComparedTurn

MARKS = ("A", "B")
"""What the sides are called where they do not stand beside each other."""
_GUTTER = " │ "
_LEAD = 2
_UNDERLINED = Style(underline=True)
"""Differences are told apart without colour, too."""


@dataclass(frozen=True, slots=True)
class Lit:
    """The differences of two turns, once they are known."""

    prompts: Sides
    answers: Sides


class ComparedDoc(TurnDoc):
    """Two turns as blocks that are rendered when they are seen; differences may come later."""

    def __init__(self, position: int, compared: ComparedTurn, *, stacked: bool) -> None:
        self.compared = compared
        self.lit: Lit | None = None
        self._stacked = stacked
        bare = TurnView(turn=position, key=position, prompt="", items=(), status="completed")
        super().__init__(bare, Settings())

    @property
    def turns(self) -> tuple[TurnView | None, TurnView | None]:
        """The two turns."""
        return self.compared.left, self.compared.right

    def differs(self) -> bool:
        """Whether the turns do not say the same."""
        left, right = self.turns
        if left is None or right is None:
            return True
        return left.prompt != right.prompt or answer_text(left) != answer_text(right)

    def differences(self) -> Lit:
        """Work out what differs; a turn that stands alone is not lit, since all of it would be."""
        left, right = self.turns
        if left is None or right is None:
            prompts = plain([turn.prompt if turn else None for turn in self.turns])
            answers = plain([answer_text(turn) if turn else None for turn in self.turns])
            return Lit(prompts, answers)
        return Lit(self.compared.prompts(), self.compared.answers())

    def light(self, lit: Lit) -> None:
        """Take the differences; wrapping does not depend on them, so that nothing moves."""
        self.lit = lit
        self.rebuild()

    def stack(self, *, stacked: bool) -> None:
        """Put the sides one below the other, or beside each other."""
        if stacked != self._stacked:
            self._stacked = stacked
            self.rebuild()

    def _make_blocks(self) -> list[Block]:
        left, right = self.turns
        prompts = tuple(turn.prompt if turn else None for turn in (left, right))
        answers = tuple(answer_text(turn) if turn else None for turn in (left, right))
        told = self.lit
        lit_prompts = told.prompts if told else plain(prompts)
        lit_answers = told.answers if told else plain(answers)
        if not self._stacked:
            return [
                self._block("heads", (), lambda p, w: beside(_heads(self.turns, p, w), p, w), 0),
                self._block(
                    "prompts", prompts, lambda p, w: beside(_texts(lit_prompts, p, w, bar=True), p, w), 0
                ),
                self._block(
                    "answers", answers, lambda p, w: beside(_spaced(_texts(lit_answers, p, w)), p, w), 0
                ),
            ]
        blocks: list[Block] = []
        for side, turn in enumerate(self.turns):
            if turn is not None:
                blocks += self._below(side, turn, lit_prompts[side], lit_answers[side])
        return blocks

    def _below(self, side: int, turn: TurnView, prompt: Sequence[Span], answer: Sequence[Span]) -> list[Block]:
        first = 1 if side and self.turns[0] is not None else 0
        mark = MARKS[side]
        return [
            self._block(f"head{side}", (), lambda p, w: alone(_marked(mark, turn, p, w)), first),
            self._block(f"prompt{side}", (turn.prompt,), lambda p, w: alone(_text(prompt, p, w, bar=True)), 0),
            self._block(f"answer{side}", (answer_text(turn),), lambda p, w: alone(_text(answer, p, w)), 1),
        ]

    def _block(
        self,
        kind: str,
        texts: Sequence[str | None],
        rows: Callable[[Palette, int], list[Row]],
        margin: int,
    ) -> Block:
        longest = max((text for text in texts if text is not None), key=len, default="")
        look = (self._stacked, self.lit)
        return ComparedBlock(kind, longest, rows, margin=margin, look=look, parts=1 if self._stacked else 2)


class ComparedBlock(Block):
    """A stretch of a comparison; its height is guessed from the longer side."""

    def __init__(
        self,
        kind: str,
        source: str,
        rows: Callable[[Palette, int], list[Row]],
        *,
        margin: int,
        look: object,
        parts: int,
    ) -> None:
        super().__init__(kind, source, lambda p, w: OnceRows(rows(p, w)), margin=margin, extra=look)
        self._parts = parts

    def height(self, width: int) -> int:
        """Return its rows, guessed unless it was rendered at that width."""
        if self.measured(width):
            return super().height(width)
        room = max(8, width // self._parts - _LEAD - 2)
        return 1 + len(self.source) // room + self.source.count("\n")


def plain(texts: Sequence[str | None]) -> Sides:
    """Give texts as spans without differences."""
    one, other = (((Span(text, changed=False),) if text else ()) for text in texts)
    return one, other


Lines = list[list[Run]]
"""One side's rows, before they are put beside the other's."""


def column(width: int) -> int:
    """Return the cells of one column at a width."""
    return max(4, (width - len(_GUTTER)) // 2)


def beside(sides: tuple[Lines, Lines], palette: Palette, width: int) -> list[Row]:
    """Put two sides' rows beside each other; the shorter one is filled with empty rows."""
    room = column(width)
    rows = []
    for left, right in zip_longest(*sides, fillvalue=None):
        runs = _filled(left or [], room)
        rows.append(make_row([*runs, Run(_GUTTER, palette.rule), *(right or [])]))
    return rows


def alone(lines: Lines) -> list[Row]:
    """Give one side's rows."""
    return [make_row(line) for line in lines]


def _filled(line: list[Run], room: int) -> list[Run]:
    gap = room - sum(cell_len(run.text) for run in line)
    return [*line, Run(" " * gap, Style())] if gap > 0 else line


def _texts(sides: Sides, palette: Palette, width: int, *, bar: bool = False) -> tuple[Lines, Lines]:
    one, other = (_text(spans, palette, column(width), bar=bar) for spans in sides)
    return one, other


def _spaced(sides: tuple[Lines, Lines]) -> tuple[Lines, Lines]:
    """Begin both sides with an empty row, through which the line between them goes on."""
    one, other = sides
    return [[], *one], [[], *other]


def _text(spans: Sequence[Span], palette: Palette, width: int, *, bar: bool = False) -> Lines:
    """Wrap one side's text, its own words lit; a prompt is set off by a bar."""
    if not spans:
        return []
    style = palette.prompt if bar else palette.text
    lit = style + palette.accent + _UNDERLINED
    runs: list[Run] = []
    for span in spans:
        runs += _lit(span.text, style, lit) if span.changed else [Run(clean(span.text), style)]
    lead = Run("▌ ", palette.bar) if bar else Run(" " * _LEAD, Style())
    lines = [[lead, *line] for line in flow_runs(runs, max(4, width - _LEAD))]
    if bar:
        for line in lines:
            gap = width - sum(cell_len(run.text) for run in line)
            line.append(Run(" " * max(0, gap), style))
    return lines


def _lit(text: str, style: Style, lit: Style) -> list[Run]:
    """Light the words of a stretch, line by line, and not the blanks around them."""
    runs: list[Run] = []
    for piece in clean(text).splitlines(keepends=True):
        words = piece.strip()
        before = piece[: len(piece) - len(piece.lstrip())]
        after = piece[len(before) + len(words) :]
        runs += [Run(before, style), Run(words, lit), Run(after, style)]
    return [run for run in runs if run.text]


def _marked(mark: str, turn: TurnView, palette: Palette, width: int) -> Lines:
    """Give a turn's head led by its side's name."""
    return [[Run(f"{mark} ", palette.accent), *_head(turn, palette, width - 2)]]


def _heads(turns: tuple[TurnView | None, TurnView | None], palette: Palette, width: int) -> tuple[Lines, Lines]:
    room = column(width)
    one, other = ([_head(turn, palette, room)] for turn in turns)
    return one, other


def _head(turn: TurnView | None, palette: Palette, room: int) -> list[Run]:
    """Tell a turn's number, tokens and cost; where a side has no turn, say so."""
    if turn is None:
        return [Run(one_line("no further turn", room), palette.muted)]
    number = str(turn.turn)
    usage = turn.usage
    told = ""
    if usage.requests:
        cost = money(usage.cost_nano, 9, at_least=usage.at_least)
        told = f"{count(usage.total_tokens, 7)} tokens · {cost}"
    if turn.status not in ("completed", "running"):
        told = f"{turn.status} · {told}" if told else turn.status
    shown = one_line(told, max(0, room - len(number) - 4))
    runs = [
        Run("▌ ", palette.bar),
        Run(number, palette.number + palette.strong),
        Run(f"  {shown}", palette.number),
    ]
    return [*runs, Run(" " * max(0, room - sum(cell_len(run.text) for run in runs)), palette.number)]
