"""Two branches side by side from their fork point.

Owns the alignment of turns and the word-level differences between them, done by ``difflib``. Pure: knows
no store connection and no widget.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import zip_longest

from advchat.state import ComparedTurn, Span, TurnView

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
MAX_WORDS = 20_000
"""Above this many words on a side differences are told by line: a diff by word would take seconds."""


def answer_text(turn: TurnView) -> str:
    """Give a turn's answer as one text, tool calls told by name and output."""
    parts = []
    for item in turn.items:
        if item.kind == "text":
            parts.append(item.text)
        elif item.kind == "tool":
            parts.append(f"⚙ {item.name}({item.arguments}) → {item.text}")
    return "\n\n".join(parts)


def differences(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Split two texts into spans, those that the other side lacks marked as changed.

    The spans of a side, joined, are its text to the letter.
    """
    one, other = _WORDS.findall(left), _WORDS.findall(right)
    if max(len(one), len(other)) > MAX_WORDS:
        one, other = left.splitlines(keepends=True), right.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    lefts: list[Span] = []
    rights: list[Span] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        for spans, words in ((lefts, one[a:b]), (rights, other[c:d])):
            if words:
                spans.append(Span("".join(words), changed=kind != "equal"))
    return tuple(lefts), tuple(rights)


def align(left: Sequence[TurnView], right: Sequence[TurnView]) -> tuple[ComparedTurn, ...]:
    """Put turns after the fork point side by side in their order, a missing one as None."""
    rows = []
    for one, other in zip_longest(left, right):
        prompts = differences(one.prompt if one else "", other.prompt if other else "")
        answers = differences(answer_text(one) if one else "", answer_text(other) if other else "")
        rows.append(ComparedTurn(one, other, prompts, answers))
    return tuple(rows)


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the turns, by key, that both branches share from their beginning."""
    shared = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        shared += 1
    return shared
