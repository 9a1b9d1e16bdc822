"""Finding what can be set off in a turn, one after the other, for the keyboard.

Owns the order of targets. Renders blocks only as far as the search goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advchat.widgets.transcript.block import Block
from advchat.widgets.transcript.blocks import BlockKind
from advchat.widgets.transcript.code import fence_body
from advchat.widgets.transcript.document import TurnDoc
from advchat.widgets.transcript.rows import Row, Span, Target
from advchat.widgets.transcript.viewport import Viewport

CODE: BlockKind = "code"


class Found(NamedTuple):
    """A target and where it is."""

    number: int
    """Its number in the turn."""
    block: int
    row: int
    """Counted from the block's first row, its margin left out."""
    span: Span
    target: Target


def targets_of(viewport: Viewport, position: int, doc: TurnDoc) -> Iterator[Found]:
    """Yield a turn's targets from top to bottom; a link broken over rows counts once."""
    index = 0
    for number, block in enumerate(doc.blocks):
        last: Target | None = None
        for row_number, row in enumerate(viewport.render(position, block)):
            for span in row.spans:
                if span.target is None or span.target is last:
                    continue
                last = span.target
                yield Found(index, number, row_number, span, last)
                index += 1


def has_target(row: Row, target: Target) -> list[Span]:
    """Return the spans of a row that belong to a target."""
    return [span for span in row.spans if span.target is target]


def code_of(block: Block) -> str:
    """Return the code of a fenced block as its author wrote it, without fences and margin."""
    head = block.source.partition("\n")[0]
    margin = len(head) - len(head.lstrip(" "))
    lines = fence_body(block.source).removesuffix("\n").split("\n")
    return "\n".join(line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines)
