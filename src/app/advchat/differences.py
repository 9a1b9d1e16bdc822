"""What two texts do not share, word by word.

Owns the cutting into words and the diff between them, done by ``difflib``. Pure: knows no turn, no store and
no widget.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORDS = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")
_EXACT_WORDS = 800
"""Above this many words on a side, words that are everywhere anchor no diff: it would take too long."""
_MOST_WORDS = 20_000
"""Above this many words on a side of a changed passage, it is told as changed whole."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a compared text."""

    text: str
    changed: bool
    """Whether the other side lacks it."""


Sides = tuple[tuple[Span, ...], tuple[Span, ...]]


def differences(left: str, right: str) -> Sides:
    """Split two texts into spans, those that the other side lacks marked as changed.

    The spans of a side, joined, are its text to the letter. Lines that both have are found first, so that
    the time for long texts grows with what differs.
    """
    if left == right:
        both = (Span(left, changed=False),) if left else ()
        return both, both
    one, other = left.splitlines(keepends=True), right.splitlines(keepends=True)
    lefts, rights = _Side(), _Side()
    for equal, a, b, c, d in _opcodes(one, other):
        if equal:
            lefts.add(one[a:b], changed=False)
            rights.add(other[c:d], changed=False)
        else:
            _by_word("".join(one[a:b]), "".join(other[c:d]), lefts, rights)
    return lefts.spans(), rights.spans()


class _Side:
    """Spans as they come, neighbours of one kind joined."""

    def __init__(self) -> None:
        self._pieces: list[tuple[list[str], bool]] = []

    def add(self, words: Sequence[str], *, changed: bool) -> None:
        if not words:
            return
        if self._pieces and self._pieces[-1][1] == changed:
            self._pieces[-1][0].extend(words)
        else:
            self._pieces.append((list(words), changed))

    def spans(self) -> tuple[Span, ...]:
        return tuple(Span("".join(words), changed) for words, changed in self._pieces)


def _by_word(left: str, right: str, lefts: _Side, rights: _Side) -> None:
    one, other = _WORDS.findall(left), _WORDS.findall(right)
    if not (one and other) or max(len(one), len(other)) > _MOST_WORDS:
        lefts.add(one, changed=True)
        rights.add(other, changed=True)
        return
    for equal, a, b, c, d in _opcodes(one, other):
        lefts.add(one[a:b], changed=not equal)
        rights.add(other[c:d], changed=not equal)


def _opcodes(one: Sequence[str], other: Sequence[str]) -> list[tuple[bool, int, int, int, int]]:
    many = max(len(one), len(other)) > _EXACT_WORDS
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=many)
    return [(kind == "equal", a, b, c, d) for kind, a, b, c, d in matcher.get_opcodes()]
