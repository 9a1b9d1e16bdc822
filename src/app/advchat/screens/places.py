"""Where two branches part.

Owns that reading of the branch graph. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advchat.state import BranchRow


def shared_turns_end(rows: Sequence[BranchRow], one: str, other: str) -> int | None:
    """Tell the first turn that two branches do not share; None if they share nothing that is known of."""
    branches = {row.branch.branch_id: row.branch for row in rows}

    def path(branch_id: str) -> dict[str, int | None]:
        """Tell each ancestor, the branch itself first, with the first turn not shared with it."""
        found: dict[str, int | None] = {}
        least: int | None = None
        current: str | None = branch_id
        while current is not None and current in branches and current not in found:
            found[current] = least
            fork = branches[current].fork_turn
            least = fork if least is None or (fork is not None and fork < least) else least
            current = branches[current].parent
        return found

    ours, theirs = path(one), path(other)
    for ancestor, mine in ours.items():
        if ancestor in theirs:
            parts = [turn for turn in (mine, theirs[ancestor]) if turn is not None]
            return min(parts) if parts else None
    return None
