"""Which lines of the branch graph are seen, and what their last column says.

Owns folding, filtering and colouring, as pure readings of the snapshot's rows. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from advchat.text import one_line
from advchat.widgets.numbers import money

if TYPE_CHECKING:
    from advchat.state import BranchRow

Colouring = Literal["", "cost", "age", "model"]
COLOURINGS: tuple[Colouring, ...] = ("", "cost", "age", "model")
_HEAT = ("good", "accent", "warn", "bad")
_MODELS = ("accent", "good", "warn", "bad", "output", "input")
_UNITS = ((365 * 86400, "y"), (30 * 86400, "mo"), (86400, "d"), (3600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the graph that is seen."""

    row: BranchRow
    hidden: int = 0
    """How many branches are folded away under it."""


def seen(rows: Sequence[BranchRow], folded: Collection[str], term: str = "") -> tuple[Line, ...]:
    """Leave out what is folded away or does not hold the term; the path to the current branch stays."""
    if term:
        return tuple(Line(replace(row, depth=0, rails=(), last=True)) for row in rows if holds(row, term))
    lines: list[Line] = []
    under: list[tuple[int, int]] = []
    for row in rows:
        while under and row.depth <= under[-1][0]:
            under.pop()
        if under and not row.on_path:
            place = under[0][1]
            lines[place] = replace(lines[place], hidden=lines[place].hidden + 1)
            continue
        lines.append(Line(row))
        if row.branch.branch_id in folded:
            under.append((row.depth, len(lines) - 1))
    return _relaid(lines) if len(lines) < len(rows) else tuple(lines)


def holds(row: BranchRow, term: str) -> bool:
    """Tell whether every word of the term is in the branch's title, ID or model, case aside."""
    branch = row.branch
    text = f"{branch.title} {branch.branch_id} {branch.model or ''}".casefold()
    return all(word in text for word in term.casefold().split())


def _relaid(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Draw rails anew for the lines that are left."""
    open_: set[int] = set()
    found: list[Line] = []
    for line in reversed(lines):
        depth = line.row.depth
        rails = tuple(level in open_ for level in range(depth))
        found.append(replace(line, row=replace(line.row, last=depth not in open_, rails=rails)))
        open_ = {level for level in open_ if level < depth} | {depth}
    return tuple(reversed(found))


def heat(rows: Sequence[BranchRow], colouring: Colouring) -> dict[str, str]:
    """Tell each branch's style under a colouring, by branch ID: cheapest to dearest, newest to oldest."""
    if colouring == "model":
        models = list(dict.fromkeys(row.branch.model for row in rows if row.branch.model))
        styles = {model: _MODELS[place % len(_MODELS)] for place, model in enumerate(models)}
        return {row.branch.branch_id: styles.get(row.branch.model or "", "quiet") for row in rows}
    known: list[tuple[float | str, str]] = []
    if colouring == "cost":
        known = [(row.branch.own_cost_nano, row.branch.branch_id) for row in rows if row.branch.own_cost_nano]
    elif colouring == "age":
        known = [(row.branch.last_used_at, row.branch.branch_id) for row in rows]
    known.sort(key=lambda pair: pair[0], reverse=colouring == "age")
    steps = max(1, len(known))
    return {branch_id: _HEAT[place * len(_HEAT) // steps] for place, (_, branch_id) in enumerate(known)}


def last_column(row: BranchRow, colouring: Colouring, cells: int, now: datetime) -> str:
    """Write what the last column says of a branch: its cost, or what it is coloured by."""
    branch = row.branch
    if colouring == "age":
        return age(branch.last_used_at, now)
    if colouring == "model":
        return one_line(branch.model or "", cells)
    if branch.own_cost_nano is None and not branch.own_cost_at_least:
        return "–"  # Nothing was asked on it yet: that is no unknown cost.
    return money(branch.own_cost_nano, cells, at_least=branch.own_cost_at_least)


def age(moment: str, now: datetime) -> str:
    """Write how long ago a moment was: ``now``, ``5 min``, ``3 h``, ``2 d``; empty if it is not known."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    seconds = (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
