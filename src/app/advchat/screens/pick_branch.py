"""A branch to pick.

Owns the list of branches with what tells them apart. What the pick is for is the opener's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advchat.naming import branch_label
from advchat.screens.pick import PickScreen, matches
from advchat.widgets.numbers import money
from advchat.widgets.picker import Pick

if TYPE_CHECKING:
    from advchat_storage.models import Branch


class BranchScreen(PickScreen):
    """Branches of the conversation, in the order of the tree; dismissed with the picked one's ID."""

    placeholder = "Type a part of a branch's title"
    empty = "No other branch: fork a turn first."

    def __init__(self, heading: str, branches: Sequence[Branch]) -> None:
        self.heading = heading
        super().__init__()
        self._branches = branches

    def narrow(self, term: str) -> None:
        """List the branches whose titles hold the term."""
        self.rows.show(
            [_pick(branch) for branch in self._branches if matches(term, f"{branch.title} {branch.branch_id}")]
        )


def _pick(branch: Branch) -> Pick:
    turns = f"{branch.user_turns} turn{'' if branch.user_turns == 1 else 's'}"
    model = f", {branch.model}" if branch.model else ""
    cost = money(branch.own_cost_nano, 8, at_least=branch.own_cost_at_least)
    return Pick(branch.branch_id, branch_label(branch.branch_id, branch.title), turns + model, cost)
