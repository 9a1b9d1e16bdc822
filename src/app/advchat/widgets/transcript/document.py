"""One turn as a list of blocks, each rendered when it is needed.

Owns the way from a ``TurnView`` to blocks, their heights (exact once rendered at the width asked for, estimated
before), and the growth of a live answer. Blocks that stay the same when a turn is replaced keep their rows.
Knows no widget and no other turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from advchat.state import ItemView, TurnView
from advchat.widgets.transcript import cards
from advchat.widgets.transcript.block import NO_PART, Block, Make, Renderer
from advchat.widgets.transcript.blocks import Piece, Splitter
from advchat.widgets.transcript.cards import MARGIN, Head, OnceRows, PlainRows
from advchat.widgets.transcript.code import FenceRows
from advchat.widgets.transcript.inline import parser
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.prose import ParagraphRows, ProseRows
from advchat.widgets.transcript.rows import EMPTY_ROW, Row
from advchat.widgets.transcript.table import TableRows

PROMPT_PART = 0
"""Part of the turn's source that its prompt is; item ``n`` is part ``n + 1``, and the error is the last."""
_FOLD_LINES = 24
_FOLD_LETTERS = 6000
_SHOWN_LINES = 16
_SHOWN_LETTERS = 3000


@dataclass(slots=True)
class Settings:
    """What decides over a turn's drawing besides the turn itself."""

    unfolded: set[str] = field(default_factory=set)
    active: bool = False
    rule_above: str | None = None
    """The parent's name, where the branch's own turns begin at this one."""
    rule_below: str | None = None
    wait: str = ""
    """What a live turn waits for."""


class _Text:
    """One text item of an answer, split into blocks as it grows."""

    def __init__(self, part: int) -> None:
        self.blocks: list[Block] = []
        self._part = part
        self._splitter = Splitter()
        self._stable = 0
        self._env: dict[str, Any] = {}

    def update(self, text: str, *, live: bool) -> int:
        """Bring the blocks up to ``text``; return the first block that changed."""
        pieces, stable = self._splitter.update(text)
        first = self._stable
        old = self.blocks[first:]
        self._define(text, pieces[first : stable if live else len(pieces)])
        fresh = [self._grown(piece, old, index, text, live) for index, piece in enumerate(pieces[first:])]
        self.blocks[first:] = fresh
        self._stable = stable
        return first

    def _define(self, text: str, pieces: Sequence[Piece]) -> None:
        """Learn link definitions from blocks that are whole now; what may use them is rendered again."""
        found = [text[piece.start : piece.end] for piece in pieces if piece.kind == "prose"]
        found = [source for source in found if source.lstrip().startswith("[")]
        if not found:
            return
        known = len(self._env.get("references", ()))
        for source in found:
            parser().parse(source, self._env)
        if len(self._env.get("references", ())) > known:
            for block in self.blocks:
                if "[" in block.source and block.kind != "code":
                    block.references = len(self._env["references"])
                    block.drop(height=True)

    def _grown(self, piece: Piece, old: list[Block], index: int, text: str, live: bool) -> Block:
        source = text[piece.start : piece.end]
        extra = (piece.indent,)
        open_ = live and not piece.closed
        if index < len(old):
            block = old[index]
            same = block.kind == piece.kind and block.start == piece.start and block.extra == extra
            if same and source.startswith(block.source):
                if source != block.source:
                    block.grow(source)
                if not open_:
                    block.close()
                return block
        make = self._maker(piece)
        margin = 1 if piece.spaced else 0
        block = Block(piece.kind, source, make, part=self._part, start=piece.start, margin=margin, extra=extra)
        block.open = open_
        if "[" in source and piece.kind != "code":
            block.references = len(self._env.get("references", ()))
        return block

    def _maker(self, piece: Piece) -> Make:
        indent, env = piece.indent, self._env
        if piece.kind == "code":
            return lambda palette, width: FenceRows(palette, width - MARGIN, indent)
        if piece.kind == "table":
            return lambda palette, width: TableRows(palette, width - MARGIN, env)
        if piece.kind == "paragraph":
            return lambda palette, width: ParagraphRows(palette, width - MARGIN, env)
        return lambda palette, width: ProseRows(palette, width - MARGIN, env, indent)


class TurnDoc:
    """A turn's blocks, in order, with their places."""

    def __init__(self, view: TurnView, settings: Settings, *, live: bool = False) -> None:
        self.view = view
        self.settings = settings
        self.live = live
        self.blocks: list[Block] = []
        self._starts: list[int] = []
        self._starts_width = 0
        self._texts: dict[int, _Text] = {}
        self._waiting = False
        self.rebuild()

    def replace(self, view: TurnView, *, live: bool = False) -> None:
        """Take a newer view of the same turn; unchanged blocks keep their rows."""
        self.view = view
        self.live = live
        self._texts.clear()
        self.rebuild()

    def rebuild(self) -> None:
        """Make the blocks anew from view and settings, with the rows of those that stay the same."""
        old: dict[object, Block] = {block.identity: block for block in self.blocks}
        self.blocks = self._make_blocks()
        for block in self.blocks:
            known = old.get(block.identity)
            if known is not None and known is not block:
                block.adopt(known)
        self.touch()

    def touch(self) -> None:
        """Forget the blocks' places, after heights have changed."""
        self._starts_width = 0

    def take_items(self, items: Sequence[ItemView]) -> None:
        """Take what a live turn's answer has become: its last item has grown, or items were added."""
        old = self.view.items
        self.view = replace(self.view, items=tuple(items))
        for index, text in self._texts.items():
            if index < len(items):
                text.update(items[index].text, live=index == len(items) - 1)
        last = len(items) - 1
        same = len(old) == len(items) and all(a is b for a, b in zip(old[:-1], items[:-1], strict=True))
        if same and last in self._texts and not self._waiting:
            self.blocks = [block for block in self.blocks if block.part != last + 1] + self._texts[last].blocks
            self.touch()
        else:
            self.rebuild()

    def starts(self, width: int) -> list[int]:
        """Return the row at which each block's margin begins, and after them the turn's height."""
        if self._starts_width != width:
            heights = (block.margin + block.height(width) for block in self.blocks)
            self._starts = list(accumulate(heights, initial=0))
            self._starts[-1] += 1
            self._starts_width = width
        return self._starts

    def height(self, width: int) -> int:
        """Return its rows, one empty row below included."""
        return self.starts(width)[-1]

    def settled(self, width: int) -> bool:
        """Whether the height is exact."""
        return not self.live and all(block.measured(width) for block in self.blocks)

    def source(self, part: int) -> str:
        """Return the source text of a part."""
        if part == PROMPT_PART:
            return self.view.prompt
        if part == self.last_part:
            return self.view.error or ""
        return self.view.items[part - 1].text

    @property
    def last_part(self) -> int:
        """The part that the turn's error is."""
        return len(self.view.items) + 1

    def answer(self) -> str:
        """Return the answer's source: its texts, a blank line between them."""
        return "\n\n".join(item.text for item in self.view.items if item.kind == "text" and item.text)

    def letters(self) -> int:
        """Return about how much memory it holds, in letters."""
        return (
            len(self.view.prompt) + sum(len(item.text) + len(item.arguments) for item in self.view.items) + 200
        )

    def _make_blocks(self) -> list[Block]:
        view, settings = self.view, self.settings
        blocks: list[Block] = []
        if settings.rule_above is not None:
            blocks.append(_rule(settings.rule_above))
        if view.prompt or view.turn > 0:
            blocks += self._prompt_blocks()
        for index, item in enumerate(view.items):
            blocks += self._item_blocks(index, item)
        self._waiting = self.live and (bool(settings.wait) or not view.items)
        if self._waiting:
            text = f"waiting: {settings.wait}" if settings.wait else "waiting for the answer"
            blocks.append(_once("wait", lambda p, w: cards.notice_rows(text, p, w - MARGIN, "⟳"), extra=text))
        elif not self.live:
            blocks += self._end_blocks()
        if settings.rule_below is not None:
            blocks.append(_rule(settings.rule_below))
        if not blocks:
            blocks.append(_once("blank", lambda _palette, _width: [EMPTY_ROW]))
        blocks[0].margin = 0
        return blocks

    def _prompt_blocks(self) -> list[Block]:
        view, settings = self.view, self.settings
        head = Head(view.turn, len(view.siblings), view.sibling_index, view.note or "", settings.active)
        blocks = [_once("head", lambda palette, width: cards.head_rows(head, palette, width), extra=head)]
        shown, lines = fold_prompt(view.prompt)
        folded = shown is not None and "prompt" not in settings.unfolded
        source = shown if folded and shown is not None else view.prompt
        blocks.append(Block("prompt", source, _prompt_rows, part=PROMPT_PART, margin=0))
        if shown is not None:
            text = f"▸ all {lines:,} lines" if folded else "▾ less"
            blocks.append(_once("more", lambda p, w: [_more_row(text, p, w)], margin=0, extra=text))
        return blocks

    def _item_blocks(self, index: int, item: ItemView) -> Iterable[Block]:
        part, fold = index + 1, f"item{index}"
        unfolded = fold in self.settings.unfolded
        if item.kind == "text":
            text = self._texts.get(index)
            if text is None:
                text = self._texts[index] = _Text(part)
                text.update(item.text, live=self.live and index == len(self.view.items) - 1)
            return text.blocks
        extra = (item, unfolded)
        if item.kind == "reasoning":
            make = lambda p, w: cards.reasoning_rows(item, fold, p, w - MARGIN, unfolded=unfolded)  # noqa: E731 - one shape for all
        elif item.kind == "tool":
            make = lambda p, w: cards.tool_rows(item, fold, p, w - MARGIN, unfolded=unfolded)  # noqa: E731 - one shape for all
        else:
            make = lambda p, w: cards.notice_rows(item.text, p, w - MARGIN)  # noqa: E731 - one shape for all
        above = self.view.items[index - 1].kind if index else ""
        margin = 0 if above == item.kind == "tool" else 1
        return [_once(item.kind, make, part=part, margin=margin, extra=extra)]

    def _end_blocks(self) -> list[Block]:
        view = self.view
        unfolded = "detail" in self.settings.unfolded
        if view.status == "completed" and not view.detail and not view.actions:
            if any(item.kind != "reasoning" for item in view.items) or not view.prompt:
                return []
            return [_once("end", lambda p, w: cards.notice_rows("The answer is empty.", p, w - MARGIN))]
        extra = (view.status, view.error, view.detail, view.actions, unfolded)
        if view.status in ("running", "completed") and not view.detail and not view.actions:
            return []
        part = len(view.items) + 1
        make = lambda p, w: cards.end_rows(view, p, w - MARGIN, unfolded=unfolded)  # noqa: E731 - one shape for all
        return [_once("end", make, part=part, extra=extra)]


def _once(
    kind: str,
    rows: Callable[[Palette, int], Sequence[Row]],
    *,
    part: int = NO_PART,
    margin: int = 1,
    extra: object = None,
) -> Block:
    return Block(
        kind, "", lambda palette, width: OnceRows(rows(palette, width)), part=part, margin=margin, extra=extra
    )


def _rule(parent: str) -> Block:
    return _once("rule", lambda palette, width: cards.rule_rows(parent, palette, width), extra=parent)


def _prompt_rows(palette: Palette, width: int) -> Renderer:
    return PlainRows(palette.prompt, width, cards.prompt_lead(palette), palette.prompt)


def _more_row(text: str, palette: Palette, width: int) -> Row:
    return cards.fold_row(text, "prompt", palette, cards.prompt_lead(palette), width)


def fold_prompt(prompt: str) -> tuple[str | None, int]:
    """Return what of a long prompt is shown folded (None for a short one), and its number of lines."""
    lines = prompt.count("\n") + 1
    if lines <= _FOLD_LINES and len(prompt) <= _FOLD_LETTERS:
        return None, lines
    place = -1
    for _ in range(_SHOWN_LINES):
        following = prompt.find("\n", place + 1)
        if following < 0:
            break
        place = following
    stop = place if place > 0 else len(prompt)
    return prompt[: min(stop, _SHOWN_LETTERS)], lines
