"""The ledger: every request once, whatever branches do, and sums that say what they do not know."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from advchat_storage import PriceChange, UsageCut, UsageSum
from advchat_storage.usage_cuts import CutName
from tests.storage.scenes import CONVERSATION, Scene, request, sdk_session, sdk_usage, user

CUTS: tuple[CutName, ...] = get_args(CutName)


def _added(cuts: list[UsageCut]) -> tuple[int, int, int, int, bool]:
    """Add up a report's rows."""
    sums = [cut.usage for cut in cuts]
    return (
        sum(usage.requests for usage in sums),
        sum(usage.input_tokens or 0 for usage in sums),
        sum(usage.output_tokens or 0 for usage in sums),
        sum(usage.cost_nano or 0 for usage in sums),
        any(usage.at_least for usage in sums),
    )


def _parts(usage: UsageSum) -> tuple[int, int, int, int, bool]:
    return _added([UsageCut({}, usage)])


@pytest.fixture
def berlin() -> Iterator[None]:
    """Put this process into a time zone of its own."""
    if sys.platform == "win32":
        pytest.skip("Windows cannot change a process's time zone")
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


async def test_a_request_comes_back_as_it_was_written(scene: Scene) -> None:
    await scene.ask("one")
    written = request(
        input_tokens=10,
        cached_tokens=4,
        output_tokens=5,
        cost_nano=7,
        tools=("a", "b", "a"),
        error="odd \ud800",
    )
    assert await scene.store.record(CONVERSATION, written)

    (read,) = await scene.store.requests(conversation_id=CONVERSATION)
    assert (read.tools, read.cached_tokens, read.reasoning_tokens) == (("a", "b", "a"), 4, None)
    assert read.total_tokens == 15
    assert read.error == "odd \ufffd"
    assert read.conversation_id == CONVERSATION
    assert read.started_at == "2026-11-29T10:00:00.000000+00:00"


async def test_a_second_write_of_one_request_counts_nothing(scene: Scene) -> None:
    await scene.ask("one")
    first = request(request_id="same", input_tokens=10, output_tokens=5, cost_nano=7)
    assert await scene.store.record(CONVERSATION, first)
    assert not await scene.store.record(CONVERSATION, request(request_id="same", input_tokens=99))

    usage = await scene.store.usage()
    assert (usage.requests, usage.input_tokens, usage.cost_nano) == (1, 10, 7)


async def test_requests_are_in_the_order_written_and_a_limit_keeps_the_newest(scene: Scene) -> None:
    await scene.ask("one")
    for name in ("a", "b", "c"):
        await scene.store.record(CONVERSATION, request(request_id=name))

    assert [row.request_id for row in await scene.store.requests()] == ["a", "b", "c"]
    assert [row.request_id for row in await scene.store.requests(limit=2)] == ["b", "c"]


async def test_nothing_known_is_none_and_not_zero(scene: Scene) -> None:
    assert await scene.store.usage() == UsageSum()
    await scene.ask("one")
    await scene.store.record(CONVERSATION, request(status="failed"))

    usage = await scene.store.usage()
    assert (usage.requests, usage.input_tokens, usage.total_tokens, usage.cost_nano) == (1, None, None, None)
    assert usage.at_least


async def test_case_54_an_unknown_price_makes_the_total_a_lower_bound(scene: Scene) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=5, cost_nano=700)
    assert not (await scene.store.usage()).at_least
    await scene.ask("two", input_tokens=10, output_tokens=5, cost_nano=None)

    usage = await scene.store.usage()
    assert (usage.cost_nano, usage.at_least) == (700, True)
    conversation = await scene.store.conversation(CONVERSATION)
    assert conversation is not None
    assert (conversation.cost_nano, conversation.cost_at_least) == (700, True)


async def test_case_55_an_estimate_stands_beside_the_facts(scene: Scene) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=5, cost_nano=1)
    await scene.ask("two", status="stopped", estimated_output_tokens=40)

    usage = await scene.store.usage()
    assert (usage.output_tokens, usage.estimated_output_tokens, usage.at_least) == (5, 40, True)


async def test_case_51_forks_recount_nothing(scene: Scene) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=1, cost_nano=11)
    await scene.ask("two", input_tokens=20, output_tokens=2, cost_nano=22)
    for name in ("a", "b", "c"):
        await scene.fork(2, name=name, after=True)
        await scene.ask(name, branch=name, input_tokens=30, output_tokens=3, cost_nano=33)

    assert (await scene.store.usage()).input_tokens == 10 + 20 + 3 * 30
    spent = await scene.store.branch_usage(CONVERSATION, "b")
    assert (spent.own.cost_nano, spent.inherited.cost_nano) == (33, 33)
    turns = await scene.store.turn_usages(CONVERSATION, "b")
    assert [(cut.keys["turn"], cut.usage.cost_nano) for cut in turns] == [(1, 11), (2, 22), (3, 33)]


async def test_a_turn_is_found_from_every_branch_that_shares_it(scene: Scene) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=1, cost_nano=11)
    await scene.fork(1, name="fork", after=True)

    from_fork = await scene.store.usage(conversation_id=CONVERSATION, branch_id="fork", turn=1)
    assert from_fork.cost_nano == 11
    assert (await scene.store.usage(conversation_id=CONVERSATION, branch_id="fork")).requests == 0
    headers = await scene.store.turn_headers(CONVERSATION, "fork", 0, 9)
    assert headers[0].usage.cost_nano == 11


async def test_what_popped_binned_and_deleted_turns_cost_stays_shown_apart(scene: Scene) -> None:
    await scene.ask("one", input_tokens=1, output_tokens=1, cost_nano=1)
    await scene.ask("popped", input_tokens=1, output_tokens=1, cost_nano=10)
    for name, cost in (("binned", 100), ("deleted", 1000), ("alive", 10000)):
        await scene.fork(1, name=name, after=True)
        await scene.ask(name, branch=name, input_tokens=1, output_tokens=1, cost_nano=cost)
    await scene.pop("main", 2)
    await scene.bin("binned")
    await scene.delete("deleted")

    store = scene.store
    assert (await store.usage(conversation_id=CONVERSATION)).cost_nano == 11111
    assert (await store.usage(conversation_id=CONVERSATION, binned=True)).cost_nano == 1110
    assert (await store.usage(conversation_id=CONVERSATION, binned=False)).cost_nano == 10001
    own = [(await store.branch_usage(CONVERSATION, name)).own.cost_nano or 0 for name in ("main", "alive")]
    assert own == [1, 10000]
    marks = {cut.keys["branch_id"]: cut.keys["binned"] for cut in await store.usage_by("branch")}
    assert marks == {"main": False, "binned": True, "deleted": True, "alive": False}


async def test_a_new_turn_in_the_place_of_a_popped_one_does_not_inherit_its_cost(scene: Scene) -> None:
    await scene.ask("old", input_tokens=1, output_tokens=1, cost_nano=10)
    await scene.pop("main", 2)
    await scene.ask("new", input_tokens=1, output_tokens=1, cost_nano=5)

    turn = await scene.store.usage(conversation_id=CONVERSATION, branch_id="main", turn=1)
    assert turn.cost_nano == 5
    assert (await scene.store.usage(binned=True)).cost_nano == 10


async def test_a_response_that_comes_after_its_turn_was_removed_is_kept_as_binned(scene: Scene) -> None:
    await scene.ask("one")
    await scene.pop("main", 2)
    await scene.store.record(CONVERSATION, request(turn=1, input_tokens=1, output_tokens=1, cost_nano=10))

    assert (await scene.store.usage(binned=True)).cost_nano == 10
    assert (await scene.store.usage()).cost_nano == 10


async def test_clearing_and_deleting_a_conversation_keep_what_it_cost(scene: Scene) -> None:
    await scene.ask("one", input_tokens=1, output_tokens=1, cost_nano=10)
    async with scene.store.session(CONVERSATION) as session:
        await session.clear_session()
    assert (await scene.store.usage(binned=True)).cost_nano == 10
    await scene.store.delete_conversation(CONVERSATION)

    assert (await scene.store.usage()).cost_nano == 10
    (cut,) = await scene.store.usage_by("conversation")
    assert cut.keys == {"conversation_id": CONVERSATION, "title": None}


@pytest.mark.parametrize("cut", CUTS)
async def test_the_rows_of_every_cut_add_up_to_the_total(scene: Scene, cut: CutName) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=1, cost_nano=11, tools=("search", "fetch"))
    await scene.ask("two", input_tokens=20, output_tokens=2, cost_nano=22, model="other", tools=("fetch",))
    await scene.fork(2, name="fork")
    await scene.ask("three", branch="fork", input_tokens=30, output_tokens=None, cost_nano=None, model=None)
    await scene.store.record(CONVERSATION, request(turn=1, finished_at="2026-11-30T23:59:59+00:00"))
    await scene.pop("main", 2)
    await scene.bin("fork")

    rows = await scene.store.usage_by(cut)
    assert len(rows) > 1 or cut == "conversation"
    assert _added(rows) == _parts(await scene.store.usage())


async def test_a_request_that_called_two_tools_counts_for_the_first(scene: Scene) -> None:
    await scene.ask("one", input_tokens=1, output_tokens=1, cost_nano=5, tools=("search", "fetch"))
    await scene.ask("two", input_tokens=1, output_tokens=1, cost_nano=7, tools=())

    costs = {cut.keys["tool"]: cut.usage.cost_nano for cut in await scene.store.usage_by("tool")}
    assert costs == {"search": 5, None: 7}


@pytest.mark.usefixtures("berlin")
async def test_days_are_those_of_the_calendar_here(scene: Scene) -> None:
    await scene.ask("one")
    await scene.store.record(CONVERSATION, request(cost_nano=1, finished_at="2026-11-29T22:59:59.9+00:00"))
    await scene.store.record(CONVERSATION, request(cost_nano=2, finished_at="2026-11-29T23:00:00+00:00"))

    days = {cut.keys["day"]: cut.usage.cost_nano for cut in await scene.store.usage_by("day")}
    assert days == {"2026-11-29": 1, "2026-11-30": 2}


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2026-11-29T12:00:00+00:00", None, 2),
        ("2026-11-29T14:00:00+02:00", None, 2),
        ("2026-11-30", None, 0),
        (None, "2026-11-29T12:00:00+00:00", 1),
        ("2026-11-29", "2026-11-30", 3),
    ],
)
async def test_since_is_inclusive_until_is_not_and_zones_are_understood(
    scene: Scene, since: str | None, until: str | None, expected: int
) -> None:
    await scene.ask("one")
    for hour, cost in (("11", 1), ("12", 2)):
        await scene.store.record(
            CONVERSATION, request(cost_nano=cost, finished_at=f"2026-11-29T{hour}:00:00+00:00")
        )

    assert ((await scene.store.usage(since=since, until=until)).cost_nano or 0) == expected


async def test_times_of_generation_and_of_the_first_token(scene: Scene) -> None:
    await scene.ask("one", input_tokens=1, output_tokens=50)
    await scene.ask("two", input_tokens=1, output_tokens=50, first_token_at=None)
    await scene.ask("three", status="stopped")

    usage = await scene.store.usage()
    assert usage.seconds == pytest.approx(2.0 + 3.0)
    assert usage.first_token_seconds == pytest.approx(1.0)


async def test_costs_set_anew(scene: Scene) -> None:
    await scene.ask("one", request_id="known", input_tokens=1, output_tokens=1, cost_nano=5)
    changed = await scene.store.reprice(
        [PriceChange("known", 9, "config", "7", None), PriceChange("nobody", 1, None, None, None)]
    )

    assert changed == 1
    (row,) = await scene.store.requests()
    assert (row.cost_nano, row.price_source, row.price_version) == (9, "config", "7")


async def test_an_unknown_cut_is_refused(scene: Scene) -> None:
    with pytest.raises(ValueError, match="choose turn, branch"):
        await scene.store.usage_by("weekday")  # type: ignore[arg-type]  # The mistake under test.


async def test_usage_that_the_sdk_writes_counts_and_a_second_run_adds(scene: Scene) -> None:
    with sdk_session(scene.store.path) as sdk:
        await sdk.add_items([user("one")])
        await sdk.store_run_usage(sdk_usage(100, 20, requests=2, cached=64))
        await sdk.store_run_usage(sdk_usage(9, 1))

    usage = await scene.store.usage()
    assert (usage.requests, usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 109, 21, 130)
    assert (usage.cached_tokens, usage.cost_nano, usage.at_least) == (64, None, True)
    (cut,) = await scene.store.turn_usages(CONVERSATION, "main")
    assert (cut.keys["turn"], cut.usage.total_tokens) == (1, 130)


async def test_usage_that_the_sdk_wrote_before_the_file_was_ours_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "sdk.db"
    with sdk_session(path) as sdk:
        await sdk.add_items([user("one")])
        await sdk.store_run_usage(sdk_usage(100, 20))
    for _ in range(2):
        async with Scene.open(path) as scene:
            assert (await scene.store.usage()).total_tokens == 120


async def test_zeros_all_over_mean_that_the_provider_told_nothing(scene: Scene) -> None:
    with sdk_session(scene.store.path) as sdk:
        await sdk.add_items([user("one")])
        await sdk.store_run_usage(sdk_usage(0, 0))

    usage = await scene.store.usage()
    assert (usage.requests, usage.input_tokens, usage.at_least) == (1, None, True)


async def test_recorded_requests_and_their_run_usage_count_once(scene: Scene) -> None:
    await scene.ask("one", input_tokens=100, output_tokens=20, cost_nano=5)
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await session.store_run_usage(sdk_usage(100, 20))
        assert (await session.get_turn_usage(1))["total_tokens"] == 120

    usage = await scene.store.usage()
    assert (usage.requests, usage.total_tokens, usage.cost_nano, usage.at_least) == (1, 120, 5, False)


async def test_run_usage_without_recorded_requests_counts_by_itself(scene: Scene) -> None:
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await session.add_items([user("one")])
        await session.store_run_usage(sdk_usage(100, 20))
        await session.store_run_usage(sdk_usage(9, 1))

    assert (await scene.store.usage()).total_tokens == 130


async def test_what_recorded_requests_leave_over_of_a_run_stays(scene: Scene) -> None:
    await scene.ask("one", input_tokens=100, output_tokens=20, cost_nano=5)
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await session.store_run_usage(sdk_usage(130, 27, requests=3))

    usage = await scene.store.usage()
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (3, 130, 27)
    assert usage.at_least


async def test_a_run_of_the_sdk_in_a_turn_that_we_recorded_adds(scene: Scene) -> None:
    await scene.ask("one", input_tokens=100, output_tokens=20, cost_nano=5)
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await session.store_run_usage(sdk_usage(100, 20))
    with sdk_session(scene.store.path) as sdk:
        await sdk.store_run_usage(sdk_usage(9, 1))
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await scene.store.record(CONVERSATION, request(input_tokens=3, output_tokens=2, cost_nano=1))
        await session.store_run_usage(sdk_usage(3, 2))

    usage = await scene.store.usage()
    assert (usage.requests, usage.total_tokens) == (3, 120 + 10 + 5)


async def test_a_run_that_used_nothing_takes_nothing_off_an_earlier_one(scene: Scene) -> None:
    with sdk_session(scene.store.path) as sdk:
        await sdk.add_items([user("one")])
        await sdk.store_run_usage(sdk_usage(9, 1))
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await scene.store.record(CONVERSATION, request(status="stopped"))
        await session.store_run_usage(sdk_usage(0, 0, requests=0))

    usage = await scene.store.usage()
    assert (usage.requests, usage.total_tokens) == (2, 10)


async def test_the_sdk_can_write_usage_whose_details_are_no_json(scene: Scene) -> None:
    await scene.ask("one")
    with sqlite3.connect(scene.store.path) as connection:
        connection.execute(
            "INSERT INTO turn_usage (session_id, branch_id, user_turn_number, requests, input_tokens, "
            "output_tokens, total_tokens, input_tokens_details, output_tokens_details) "
            "VALUES (?, 'main', 1, 1, 5, 5, 10, '{oops', '{\"reasoning_tokens\": \"many\"}')",
            (CONVERSATION,),
        )
    connection.close()

    usage = await scene.store.usage()
    assert (usage.total_tokens, usage.cached_tokens, usage.reasoning_tokens) == (10, None, None)
