"""The turns that are loaded, and the rows that are kept.

Owns which turn is at which position, and the bounds on memory: rows and turns that were not seen for longest go
first. Knows no heights and no screen.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

from advchat.state import TurnRow, TurnView
from advchat.widgets.transcript.block import Block
from advchat.widgets.transcript.document import Settings, TurnDoc

_MOST_ROWS = 6000
"""Rendered rows that are kept."""
_MOST_LETTERS = 4_000_000
"""Source text that is kept, in letters."""


class Shelf:
    """Loaded turns by position."""

    def __init__(self) -> None:
        self.first_turn = 1
        """Number of the turn at position 0."""
        self.pinned: range = range(0)
        """Positions that must stay loaded."""
        self._docs: OrderedDict[int, TurnDoc] = OrderedDict()
        self._keys: dict[int, int] = {}
        self._rendered: OrderedDict[Block, int] = OrderedDict()
        self._rows = 0
        self._letters = 0

    @property
    def kept_rows(self) -> int:
        """Number of rendered rows that are kept."""
        return self._rows

    @property
    def known(self) -> Collection[int]:
        """Positions whose turn is known, loaded or not."""
        return self._keys.keys()

    def doc(self, position: int) -> TurnDoc | None:
        """Return a turn if it is loaded."""
        key = self._keys.get(position)
        return None if key is None else self._docs.get(key)

    def position_of(self, key: int) -> int | None:
        """Return the position of a loaded turn."""
        doc = self._docs.get(key)
        if doc is None:
            return None
        position = doc.view.turn - self.first_turn
        return position if self._keys.get(position) == key else None

    def learn(self, rows: Iterable[TurnRow]) -> None:
        """Learn which turns are where."""
        for row in rows:
            self._keys[row.turn - self.first_turn] = row.key

    def cut(self, count: int) -> None:
        """Forget what is at ``count`` and above."""
        self._keys = {position: key for position, key in self._keys.items() if position < count}

    def put(self, position: int, view: TurnView, settings: Settings, *, live: bool) -> TurnDoc:
        """Load a turn, or replace it by a newer view of the same."""
        doc = self._docs.get(view.key)
        if doc is None:
            doc = self._docs[view.key] = TurnDoc(view, settings, live=live)
            self._letters += doc.letters()
        elif doc.view != view or doc.live != live or doc.settings is not settings:
            self._letters -= doc.letters()
            doc.settings = settings
            doc.replace(view, live=live)
            self._letters += doc.letters()
        self._keys[position] = view.key
        return doc

    def used(self, block: Block, rows: int) -> None:
        """Count a block as used now, with its number of rows."""
        self._rows += rows - self._rendered.pop(block, 0)
        self._rendered[block] = rows

    def tidy(self, seen: Collection[int], rows: int) -> None:
        """Give back what is too much; ``seen`` positions and about ``rows`` rows are needed at least."""
        for position in seen:
            key = self._keys.get(position)
            if key is not None and key in self._docs:
                self._docs.move_to_end(key)
        while self._rows > _MOST_ROWS + 20 * rows and self._rendered:
            block, count = self._rendered.popitem(last=False)
            self._rows -= count
            block.drop()
        if self._letters > _MOST_LETTERS:
            self._give_back(seen)

    def _give_back(self, seen: Collection[int]) -> None:
        for key, doc in list(self._docs.items()):
            position = doc.view.turn - self.first_turn
            needed = position in seen or position in self.pinned
            if doc.live or (needed and self._keys.get(position) == key):
                continue
            for block in doc.blocks:
                self._rows -= self._rendered.pop(block, 0)
            self._letters -= doc.letters()
            del self._docs[key]
            if self._letters <= _MOST_LETTERS * 3 // 4:
                return
