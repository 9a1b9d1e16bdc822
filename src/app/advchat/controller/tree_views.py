"""How branches become the lines of the graph, and where sibling, parent and child lie.

Owns pure readings of a conversation's branches. Knows no store connection and no widget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from advchat.state import BranchRow
from advchat_storage.models import Branch


def branch_rows(
    branches: Sequence[Branch], current: str, running: Collection[str] = ()
) -> tuple[BranchRow, ...]:
    """Lay the tree out depth first, children in order of creation, pinned roots and children first."""
    children = _children(branches)
    path = ancestors(branches, current)
    rows: list[BranchRow] = []
    stack: list[tuple[Branch, int, tuple[bool, ...], bool]] = []

    def push(parent: str | None, depth: int, rails: tuple[bool, ...]) -> None:
        group = children.get(parent, [])
        end = len(group) - 1
        stack.extend((group[place], depth, rails, place == end) for place in range(end, -1, -1))

    push(None, 0, ())
    while stack:
        branch, depth, rails, last = stack.pop()
        rows.append(
            BranchRow(
                branch=branch,
                depth=depth,
                rails=rails,
                last=last,
                on_path=branch.branch_id in path,
                children=len(children.get(branch.branch_id, ())),
                running=branch.branch_id in running,
            )
        )
        push(branch.branch_id, depth + 1, (*rails, not last))
    return tuple(rows)


def _children(branches: Sequence[Branch]) -> dict[str | None, list[Branch]]:
    known = {branch.branch_id for branch in branches}
    children: dict[str | None, list[Branch]] = {}
    for branch in branches:
        parent = branch.parent if branch.parent in known else None
        children.setdefault(parent, []).append(branch)
    for group in children.values():
        group.sort(key=lambda branch: not branch.pinned)
    return children


def ancestors(branches: Sequence[Branch], branch_id: str) -> list[str]:
    """Give the branch and its ancestors, nearest first."""
    by_id = {branch.branch_id: branch for branch in branches}
    path: list[str] = []
    current: str | None = branch_id
    while current is not None and current in by_id and current not in path:
        path.append(current)
        current = by_id[current].parent
    return path


def siblings(branches: Sequence[Branch], branch_id: str) -> list[str]:
    """Give the branches that part where this one parts from its parent, the parent first.

    A root stands among the children of its newest fork point.
    """
    by_id = {branch.branch_id: branch for branch in branches}
    branch = by_id.get(branch_id)
    if branch is None:
        return []
    parent = by_id.get(branch.parent) if branch.parent else None
    if parent is not None:
        head, turn = parent.branch_id, branch.fork_turn
    else:
        forks = [
            child.fork_turn for child in branches if child.parent == branch_id and child.fork_turn is not None
        ]
        if not forks:
            return [branch_id]
        head, turn = branch_id, max(forks)
    return [head, *(child.branch_id for child in branches if child.parent == head and child.fork_turn == turn)]


def resolve_branch(branches: Sequence[Branch], name: str) -> str | None:
    """Find a branch by ID, else by exact title, else by the only title that begins so; ``main`` is the ID."""
    wanted = name.strip()
    for branch in branches:
        if branch.branch_id in (name, wanted):
            return branch.branch_id
    folded = wanted.casefold()
    for matches in (
        [b.branch_id for b in branches if b.title and b.title.casefold() == folded],
        [b.branch_id for b in branches if folded and b.title.casefold().startswith(folded)],
    ):
        if len(matches) == 1:
            return matches[0]
    return None


def is_ambiguous(branches: Sequence[Branch], name: str) -> bool:
    """Tell whether a name that resolves to no branch does so because several titles begin so."""
    folded = name.strip().casefold()
    return bool(folded) and sum(branch.title.casefold().startswith(folded) for branch in branches) > 1
