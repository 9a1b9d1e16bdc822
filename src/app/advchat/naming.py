"""What branches are called.

Owns the name of a branch that nobody has titled. Imports nothing: the first frame waits for it.
"""

from __future__ import annotations

import re

_GENERATED = re.compile(r"branch_(from|after)_turn_(\d+)_\d+(_\d+)?")


def branch_label(branch_id: str, title: str) -> str:
    """Name a branch for people: its title, else where it was forked if its ID is generated, else its ID."""
    made = _GENERATED.fullmatch(branch_id)
    if title or made is None:
        return title or branch_id
    return f"fork {'of' if made[1] == 'from' else 'after'} turn {made[2]}"
