"""Where our answer may differ from the SDK's, and how far.

Owns the one table of differences that are wanted: each names its point, says why, and holds the narrow
condition under which it is accepted. Anything else that differs fails the test. Points are numbered as in
`docs/session.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.storage.oracle.actors import Call, Outcome

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Facts:
    """What the test itself knows of one conversation."""

    forks: list[str] = field(default_factory=list)
    """Branches forked and neither deleted nor cleared, in order of creation."""
    used: list[str] = field(default_factory=list)
    """Every branch ID ever used."""
    deleted_by_us: set[str] = field(default_factory=set)
    """Branches that our class deleted."""
    current: str = "main"
    """The acting session's current branch, before the operation."""


@dataclass(frozen=True)
class Difference:
    """One wanted difference: its point, its reason, and the answers it excuses."""

    point: int
    reason: str
    excuses: Callable[[Call, Outcome, Outcome, Facts], bool]


def _branches(outcome: Outcome) -> dict[str, Any]:
    return {row["branch_id"]: row for row in outcome.value}


def _lists_empty_branches(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    if call.method != "list_branches" or ours.error or sdk.error:
        return False
    mine, theirs = _branches(ours), _branches(sdk)
    extra = {name: row for name, row in mine.items() if name not in theirs}
    empty = all(row["message_count"] == row["user_turns"] == 0 for row in extra.values())
    shared = {name: row for name, row in mine.items() if name in theirs}
    return empty and set(extra) <= {*facts.forks, "main"} and shared == theirs


def _reaches_empty_branches(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    if call.method not in {"switch_to_branch", "delete_branch"} or ours.error:
        return False
    name = call.args[0]
    known = name in facts.forks or (name == "main" and call.method == "switch_to_branch")
    return known and sdk.message == f"Branch '{name}' does not exist"


def _keeps_deleted_branches_deleted(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    refused = ours.message == f"Branch '{facts.current}' does not exist"
    return call.method == "add_items" and refused and not sdk.error and facts.current in facts.deleted_by_us


def _scrubbed(value: Any) -> Any:
    """Put U+FFFD for every lone surrogate all through a value."""
    if isinstance(value, dict):
        return {_scrubbed(name): _scrubbed(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_scrubbed(inner) for inner in value)
    return LONE_SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


def _replaces_lone_surrogates(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    if ours.error or sdk.error or sdk.value == _scrubbed(sdk.value):
        return False
    return bool(ours.value == _scrubbed(sdk.value))


def _finds_replaced_surrogates(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    if call.method != "find_turns_by_content" or ours.error or sdk.error:
        return False
    term = call.args[0]
    if "\ufffd" not in _scrubbed(term):
        return False
    return all(row in ours.value for row in _scrubbed(sdk.value))


def _reads_messages_without_content(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> bool:
    searches = call.method in {"find_turns_by_content", "create_branch_from_content"}
    return (
        searches
        and sdk.error == "TypeError"
        and "NoneType" in sdk.message
        and ours.error in {None, "ValueError"}
    )


WANTED = (
    Difference(1, "a branch without messages is listed", _lists_empty_branches),
    Difference(1, "a branch without messages can be reached and deleted", _reaches_empty_branches),
    Difference(
        16, "what was deleted is not brought back by who still stands on it", _keeps_deleted_branches_deleted
    ),
    Difference(12, "what UTF-8 cannot hold comes back as U+FFFD, usable", _replaces_lone_surrogates),
    Difference(12, "and is found as what it comes back as", _finds_replaced_surrogates),
    Difference(12, "a message without content is no error to a search", _reads_messages_without_content),
)
"""Every difference that is wanted, and nothing else."""


def wanted(call: Call, ours: Outcome, sdk: Outcome, facts: Facts) -> Difference | None:
    """Give the entry of the table that excuses this pair of answers, if one does."""
    return next((entry for entry in WANTED if entry.excuses(call, ours, sdk, facts)), None)
