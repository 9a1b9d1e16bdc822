"""Where a branch hangs: the branch that made its newest inherited turn.

Owns the reading of that from the message rows that branches share. Inherited turns are the first ones of a
branch, so the newest is found by halving; where a fork was recorded, two looks prove that the record is
still true.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from advchat_storage.place import MAIN

# The first of these rows was there first; every later one was copied by a fork.
_HOLDERS = """
SELECT branch_id FROM message_structure WHERE message_id = (
    SELECT MIN(message_id) FROM message_structure
    WHERE session_id = ? AND branch_id = ? AND user_turn_number = ?
) ORDER BY id
"""


class Place(NamedTuple):
    """A branch's parent, and its first turn that is not inherited; both None for the root."""

    parent: str | None
    fork_turn: int | None


class PlaceFinder:
    """Finds places in one conversation, as if the ``hidden`` branches were not there."""

    def __init__(self, connection: sqlite3.Connection, session_id: str, hidden: AbstractSet[str]) -> None:
        self._connection = connection
        self._session_id = session_id
        self._hidden = hidden

    def place(self, branch_id: str, turns: range, recorded: int | None) -> Place:
        """Give the place of a branch with these turns; ``recorded`` is its fork turn, if it is known."""
        if branch_id == MAIN:
            return Place(None, None)
        known = None if recorded is None else self._proved(branch_id, turns, recorded)
        return known or self._searched(branch_id, turns)

    def _proved(self, branch_id: str, turns: range, fork_turn: int) -> Place | None:
        """Give the recorded place if the turn before it is inherited and the turn at it is not."""
        before = self._maker(branch_id, turns, fork_turn - 1)
        if before is None or self._maker(branch_id, turns, fork_turn) is not None:
            return None
        return Place(before, fork_turn)

    def _searched(self, branch_id: str, turns: range) -> Place:
        parent, inherited, own = MAIN, turns.start - 1, turns.stop
        while own - inherited > 1:
            middle = (inherited + own) // 2
            maker = self._maker(branch_id, turns, middle)
            if maker is None:
                own = middle
            else:
                parent, inherited = maker, middle
        return Place(parent, max(1, inherited + 1))

    def _maker(self, branch_id: str, turns: range, turn: int) -> str | None:
        """Give the other branch that made a turn; None for a turn made on this one, or not there."""
        if turn not in turns:
            return None
        holders = self._connection.execute(_HOLDERS, (self._session_id, branch_id, turn))
        for (holder,) in holders:
            if holder not in self._hidden or holder == branch_id:
                return None if holder == branch_id else str(holder)
        return None
