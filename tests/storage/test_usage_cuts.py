"""Random ledgers: whatever the cut and the scope, the rows add up to what the single requests say."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from advchat_storage import RequestRecord, Store, UsageSum
from advchat_storage.usage_cuts import CutName
from tests.storage.scenes import CONVERSATION, Scene, request, user

CUTS: tuple[CutName, ...] = get_args(CutName)
COUNTS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
FIELDS = (*COUNTS, "total_tokens", "cost_nano")
START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
"""The night in which many clocks go back."""

Sums = dict[str, int | None]


def total_of(row: RequestRecord) -> Sums:
    """What a request says, the total it implies included."""
    values: Sums = {name: getattr(row, name) for name in FIELDS}
    if values["total_tokens"] is None and row.input_tokens is not None and row.output_tokens is not None:
        values["total_tokens"] = row.input_tokens + row.output_tokens
    return values


def added(parts: Iterable[Sums]) -> Sums:
    """Add up what is known; None where nothing is."""
    listed = list(parts)
    found: Sums = {}
    for name in FIELDS:
        known = [value for part in listed if (value := part[name]) is not None]
        found[name] = sum(known) if known else None
    return found


def unknown_in(rows: Sequence[RequestRecord]) -> frozenset[str]:
    """Name the fields that some request does not know."""
    return frozenset(name for row in rows for name, value in total_of(row).items() if value is None)


def fields_of(usage: UsageSum) -> Sums:
    return {name: getattr(usage, name) for name in FIELDS}


async def random_ledger(scene: Scene, chance: random.Random) -> list[RequestRecord]:
    """Fill a store with conversations, forks, deletions and requests of every kind; give the requests."""
    written = []
    names = [CONVERSATION, "second", "third"]
    for name in names[1:]:
        await scene.store.create_conversation(conversation_id=name)
    branches = {name: ["main"] for name in names}
    for number in range(60):
        name = chance.choice(names)
        scene.conversation = name
        branch = chance.choice(branches[name])
        await scene.ask(f"prompt {number}", branch=branch)
        async with scene.store.session(name) as session:
            turns = await session.get_conversation_turns(branch)
            if chance.random() < 0.2:
                made = await session.fork(chance.choice(turns)["turn"], source=branch)
                branches[name].append(made)
        for _ in range(chance.choice((0, 1, 1, 3))):
            row = random_request(chance, branch, len(turns))
            assert await scene.store.record(name, row)
            written.append(row)
        if len(branches[name]) > 1 and chance.random() < 0.15:
            await remove(scene.store, name, branches[name].pop(), chance)
    if chance.random() < 0.5:
        await scene.store.delete_conversation("third")
    return written


async def remove(store: Store, conversation: str, branch: str, chance: random.Random) -> None:
    """Take a branch away, to the bin or for good."""
    async with store.session(conversation) as session:
        if await session.current_branch() == branch:
            await session.switch_to_branch("main")
        if chance.random() < 0.5:
            await session.bin_branch(branch)
        else:
            await session.delete_branch(branch, force=True)


def random_request(chance: random.Random, branch: str, turn: int) -> RequestRecord:
    moment = START + timedelta(minutes=chance.randrange(40 * 24 * 60))
    counts: dict[str, Any] = {
        name: None if chance.random() < 0.15 else chance.randrange(10_000) for name in COUNTS
    }
    return request(
        branch,
        turn,
        model=chance.choice(("gpt-4.1", "gpt-4.1-mini", "nobody's", None)),
        cost_nano=None if chance.random() < 0.2 else chance.randrange(10**9),
        tools=chance.choice(((), ("look",), ("find", "look"))),
        status=chance.choice(("completed", "stopped", "failed")),
        started_at=moment.isoformat(),
        first_token_at=None,
        finished_at=moment.isoformat(),
        **counts,
    )


@pytest.mark.parametrize("seed", range(3))
async def test_case_51_every_cut_of_a_random_ledger_adds_up(scene: Scene, seed: int) -> None:
    chance = random.Random(seed)
    written = await random_ledger(scene, chance)
    store = scene.store
    stored = await store.requests()
    assert sorted(row.request_id for row in stored) == sorted(row.request_id for row in written)

    middle = (START + timedelta(days=20)).isoformat()
    scopes: list[tuple[dict[str, Any], list[RequestRecord]]] = [
        ({}, stored),
        ({"conversation_id": "second"}, [row for row in stored if row.conversation_id == "second"]),
        (
            {"conversation_id": CONVERSATION, "branch_id": "main"},
            [row for row in stored if row.conversation_id == CONVERSATION and row.branch_id == "main"],
        ),
        ({"since": middle}, [row for row in stored if row.finished_at >= _utc(middle)]),
        ({"until": middle}, [row for row in stored if row.finished_at < _utc(middle)]),
    ]
    for scope, rows in scopes:
        expected = added(map(total_of, rows))
        whole = await store.usage(**scope)
        assert (whole.requests, fields_of(whole), whole.unknown) == (len(rows), expected, unknown_in(rows))
        for cut in CUTS:
            found = [part.usage for part in await store.usage_by(cut, **scope)]
            assert sum(part.requests for part in found) == len(rows)
            assert added(map(fields_of, found)) == expected, (cut, scope)
            assert frozenset().union(*(part.unknown for part in found)) == whole.unknown
            assert any(part.at_least for part in found) == whole.at_least


@pytest.mark.parametrize("seed", range(3))
async def test_own_and_binned_spend_are_the_whole(scene: Scene, seed: int) -> None:
    written = await random_ledger(scene, random.Random(f"own {seed}"))
    store = scene.store
    binned, live, whole = [await store.usage(binned=wanted) for wanted in (True, False, None)]
    assert added([fields_of(binned), fields_of(live)]) == fields_of(whole)
    assert binned.requests + live.requests == whole.requests == len(written)
    for conversation in await store.conversations():
        ident = conversation.conversation_id
        async with store.session(ident) as session:
            branches = await session.branch_tree()
        own = [(await store.branch_usage(ident, branch.branch_id)).own for branch in branches]
        shown = await store.usage(conversation_id=ident, binned=False)
        assert added(map(fields_of, own)) == fields_of(shown)


async def test_a_field_that_one_request_does_not_tell_is_a_lower_bound(scene: Scene) -> None:
    await scene.store.begin_run(
        run_id="r", conversation_id=CONVERSATION, branch_id="main", prompt="x", item=user("x")
    )
    told: dict[str, Any] = {"input_tokens": 10, "output_tokens": 5, "cost_nano": 7, "reasoning_tokens": 0}
    await scene.store.record(CONVERSATION, request(**told, cached_tokens=4))
    await scene.store.record(CONVERSATION, request(**told))

    usage = await scene.store.usage()
    assert (usage.cached_tokens, usage.cache_write_tokens, usage.at_least) == (4, None, False)
    assert usage.unknown == {"cached_tokens", "cache_write_tokens"}


def _utc(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(UTC).isoformat(timespec="microseconds")
