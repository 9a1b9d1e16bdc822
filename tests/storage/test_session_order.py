"""Order and place of writes: as called, on the branch of the call, in whichever loop, whoever cancels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from advchat_storage import AdvancedSQLiteSession
from tests.storage.scenes import assistant, sdk_session, sdk_usage, user


@pytest.fixture(params=[":memory:", "chat.db"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> AdvancedSQLiteSession:
    path = request.param if request.param == ":memory:" else tmp_path / request.param
    return AdvancedSQLiteSession(session_id="talk", db_path=path, create_tables=True)


async def test_writes_happen_in_the_order_of_the_calls(session: AdvancedSQLiteSession) -> None:
    await asyncio.gather(*(session.add_items([user(str(number))]) for number in range(50)))
    assert [item["content"] for item in await session.get_items()] == [str(number) for number in range(50)]
    popped = await asyncio.gather(*(session.pop_item() for _ in range(50)))
    assert [item["content"] for item in popped] == [str(number) for number in reversed(range(50))]
    await session.close()


async def test_the_branch_of_the_call_is_written_even_if_another_task_switches(
    session: AdvancedSQLiteSession,
) -> None:
    await session.add_items([user("1"), user("2")])
    with session._locked_connection():
        writing = [
            asyncio.create_task(session.create_branch_from_turn(2, "b")),
            asyncio.create_task(session.add_items([user("onto main")])),
            asyncio.create_task(session.store_run_usage(sdk_usage(10, 2))),
        ]
        await asyncio.sleep(0)
    await asyncio.gather(*writing)
    assert await session.current_branch() == "b"
    assert await session.get_items() == [user("1")]
    assert await session.get_items(branch_id="main") == [user("1"), user("2"), user("onto main")]
    usage = await session.get_turn_usage(3, branch_id="main")
    assert usage["input_tokens"] == 10
    await session.close()


async def test_an_append_queued_before_a_delete_cannot_bring_the_branch_back(
    session: AdvancedSQLiteSession,
) -> None:
    await session.add_items([user("1"), user("2")])
    await session.create_branch_from_turn(2, "b")
    await asyncio.gather(session.add_items([user("late")]), session.delete_branch("b", force=True))
    assert [row["branch_id"] for row in await session.list_branches()] == ["main"]
    assert await session.get_items(branch_id="b") == []
    assert await session.get_items() == [user("1"), user("2")]
    await session.close()


async def test_usage_lands_on_the_turn_of_the_call(session: AdvancedSQLiteSession) -> None:
    await session.add_items([user("1")])
    await asyncio.gather(
        session.store_run_usage(sdk_usage(10, 2)),
        session.add_items([assistant("one"), user("2")]),
        session.store_run_usage(sdk_usage(20, 3)),
        session.pop_item(),
        session.store_run_usage(sdk_usage(30, 4)),
    )
    usage = await session.get_turn_usage(1)
    assert usage["input_tokens"] == 30
    assert len(await session.get_turn_usage()) == 1
    await session.close()


async def test_a_cancelled_write_is_settled_before_the_cancellation_goes_on(
    session: AdvancedSQLiteSession,
) -> None:
    await session.add_items([user("1")])
    with session._locked_connection():
        first = asyncio.create_task(session.add_items([user("2")]))
        second = asyncio.create_task(session.add_items([user("3")]))
        await asyncio.sleep(0)
        first.cancel("stop")
        await asyncio.sleep(0)
        first.cancel("stop again")
        await asyncio.sleep(0)
        assert not first.done()
    with pytest.raises(asyncio.CancelledError):
        await first
    await second
    assert [item["content"] for item in await session.get_items()] == ["1", "2", "3"]
    await session.close()


async def test_a_failed_write_holds_up_nobody(session: AdvancedSQLiteSession) -> None:
    await session.add_items([user("1")])
    results: Sequence[object] = await asyncio.gather(
        session.create_branch_from_turn(9, "b"),
        session.add_items([user("2")]),
        session.create_branch_from_turn(2, "b"),
        return_exceptions=True,
    )
    assert isinstance(results[0], ValueError)
    assert list(results[1:]) == [None, "b"]
    await session.close()


async def test_several_event_loops_one_after_another(session: AdvancedSQLiteSession) -> None:
    def use() -> list[str]:
        for number in range(3):
            asyncio.run(session.add_items([user(str(number))]))
        found: list[str] = [item["content"] for item in asyncio.run(session.get_items())]
        return found

    assert await asyncio.to_thread(use) == ["0", "1", "2"]
    await session.add_items([user("3")])
    assert len(await session.get_items()) == 4
    await session.close()


async def test_a_clear_by_another_puts_everybody_on_main(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with (
        AdvancedSQLiteSession(session_id="talk", db_path=path, create_tables=True) as session,
        AdvancedSQLiteSession(session_id="talk", db_path=path) as other,
    ):
        await session.add_items([user("1"), user("2")])
        for clearing in ("ours", "theirs"):
            await session.create_branch_from_turn(1, f"{clearing} branch")
            if clearing == "ours":
                await other.clear_session()
            else:
                with sdk_session(path) as sdk:
                    await sdk.clear_session()
            assert await session.get_items() == []
            assert session._current_branch_id == "main"
            await session.add_items([user("1")])
            assert await session.get_items(branch_id="main") == [user("1")]


async def test_the_sdk_follows_our_clear(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with sdk_session(path) as sdk:
        async with AdvancedSQLiteSession(session_id="talk", db_path=path) as session:
            await sdk.add_items([user("1")])
            await sdk.create_branch_from_turn(1, "b")
            await session.clear_session()
            await sdk.add_items([user("new")])
            assert await session.get_items(branch_id="main") == [user("new")]


async def test_a_read_waits_for_no_writer(tmp_path: Path) -> None:
    async with AdvancedSQLiteSession(
        session_id="talk", db_path=tmp_path / "chat.db", create_tables=True
    ) as session:
        await session.add_items([user("1")])
        with session._locked_connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(session.add_items([user("2")]))
            assert await session.get_items() == [user("1")]
            assert [row["branch_id"] for row in await session.list_branches()] == ["main"]
            async with AdvancedSQLiteSession(session_id="new", db_path=tmp_path / "chat.db") as another:
                assert await another.get_items() == []
            assert not writing.done()
            connection.execute("ROLLBACK")
        await writing
        assert await session.get_items() == [user("1"), user("2")]
