"""Both classes at work on one conversation at the same time, each in a process of its own."""

from __future__ import annotations

import random
from pathlib import Path

from tests.storage.faults.stored import assert_sound, contents
from tests.storage.oracle.actors import OURS, SDK, Call, LocalActor, Outcome, Place, RemoteActor

ROUNDS = 40
AT_ONCE = 6


def some_work(name: str, number: int, rng: random.Random) -> list[Call]:
    """Give appends and forks to begin together; only the appends to ``main`` are on a branch that stays."""
    calls = [
        Call("add_items", ([{"role": "user", "content": f"{name} {number}.{part}"}, {"role": "assistant"}],))
        for part in range(AT_ONCE)
    ]
    usage = Call("store_run_usage", (1, rng.randint(1, 99), 0, rng.randint(1, 99), 0))
    return [*calls, usage, Call("find_turns_by_content", (name,)), Call("list_branches")]


def forks(number: int) -> list[Call]:
    """Give a fork and what leads back."""
    return [Call("create_branch_from_turn", (number % 3 + 1,)), Call("add_items", ([{"role": "user"}],))]


def errors(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.error is not None]


def test_both_classes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    ours, sdk = LocalActor(Place(OURS, path)), RemoteActor(Place(SDK, path))
    ours.run(Call("add_items", ([{"role": "user", "content": f"begin {n}"} for n in range(3)],)))
    rng = random.Random(7)
    branches: list[str] = []
    try:
        for number in range(ROUNDS):
            sdk.begin(*some_work("sdk", number, rng))
            assert errors(ours.run(*some_work("ours", number, rng))) == []
            assert errors(sdk.outcomes()) == []
            for actor in (ours, sdk):
                for call in forks(number):
                    [outcome] = actor.run(call)
                    assert outcome.error is None
                    branches += [outcome.value] if call.method.startswith("create") else []
                assert errors(actor.run(Call("switch_to_branch", ("main",)))) == []
        listed = [row["branch_id"] for row in ours.run(Call("list_branches"))[0].value]
    finally:
        ours.close()
        sdk.close()
    assert len(set(branches)) == len(branches) == 2 * ROUNDS
    assert listed == ["main", *branches]
    main = contents(path, "conversation")["main"]
    for name in ("ours", "sdk"):
        expected = [f"{name} {number}.{part}" for number in range(ROUNDS) for part in range(AT_ONCE)]
        assert [text for text in main if text and text.startswith(name)] == expected
    assert_sound(path)
