"""A fan-out and a comparison in memory, for tests of their screens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advchat.state import ComparedSide, ComparedTurn, Comparison, Fan, FanMember, ItemView, TurnView
from advchat_storage.models import RunStatus
from tests.app.fakes import FakeActions, snapshot, turn_view, usage

MODELS = ("gpt-5", "gpt-4.1-mini", "local · SmolLM2 135M", "claude [/]", "a", "b", "c", "d")


def member(number: int, status: RunStatus = "completed", **more: Any) -> FanMember:
    """Make the n-th answer, from 1."""
    model = MODELS[number - 1]
    known = FanMember(f"fan{number}", f"{number} · {model}", model, 5, f"run{number}", status, **more)
    return (
        known if status == "running" else replace(known, usage=usage(1, 1_200 * number, cost=900_000 * number))
    )


def answer(number: int, status: RunStatus = "completed", **more: Any) -> TurnView:
    """Make the turn of the n-th answer."""
    text = (
        f"Answer **{number}**: a stack remembers\n\n```python\nprint({number})\n```\n\n- and [/red] \x1b[2J\n"
    )
    return turn_view(5, key=1000 + number, items=(ItemView("text", text * number),), status=status, **more)


def fanned(count: int, *, running: int = 0) -> FakeActions:
    """Make actions on a fan-out, the first answers of which are still growing."""
    numbers = range(1, count + 1)
    members = tuple(member(number, "running" if number <= running else "completed") for number in numbers)
    fan = Fan(1, "c1", "What is a stack, in three sentences?", members)
    actions = FakeActions(snapshot(fan=fan))
    actions.fanned = fan
    for number in numbers:
        if number <= running:
            actions.growing[f"fan{number}"] = answer(number, "running")
        else:
            actions.growing[f"fan{number}"] = None
            actions.answers[f"fan{number}"] = answer(number)
    return actions


def finish(actions: FakeActions, number: int, status: RunStatus = "completed", **more: Any) -> None:
    """Let a growing answer end."""
    assert actions.fanned is not None
    members = list(actions.fanned.members)
    members[number - 1] = member(number, status)
    actions.fanned = replace(actions.fanned, members=tuple(members))
    actions.answers[f"fan{number}"] = answer(number, status, **more)
    actions.growing[f"fan{number}"] = None


def compared(pairs: int = 3) -> Comparison:
    """Make a comparison whose first pair is alike, and whose right side is a turn shorter."""
    one = [
        pair_turn(number, "The quick brown fox jumps.\n\nTwice [/] a day.") for number in range(4, 4 + pairs)
    ]
    other = [
        pair_turn(number, "The quick red fox leaps.\n\nTwice [/] a day.") for number in range(4, 3 + pairs)
    ]
    other[0] = replace(one[0], key=900)
    rows = [ComparedTurn(left, other[place] if place < len(other) else None) for place, left in enumerate(one)]
    return Comparison(
        ComparedSide("shorter", "A shorter answer", "gpt-5", usage(pairs, 4_000)),
        ComparedSide("zh", "用中文解释一下", "gpt-4.1-mini", usage(pairs - 1, 3_000, cost=None)),
        3,
        tuple(rows),
    )


def pair_turn(number: int, text: str) -> TurnView:
    """Make one turn of a pair."""
    return turn_view(number, items=(ItemView("text", text),), prompt=f"Question \x1b[1m {number}?")
