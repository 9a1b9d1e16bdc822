"""Cancelled writes: settled either way, never half, and the cancellation goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from tests.storage.faults.stored import assert_sound, contents, plain


def batch(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


async def turn_of_the_loop() -> None:
    """Let every task run as far as it can."""
    for _ in range(5):
        came_round = asyncio.Event()
        asyncio.get_running_loop().call_soon(came_round.set)
        await came_round.wait()


def block_until_stored(path: Path, count: int) -> None:
    """Hold the event loop until the file shows ``count`` messages, so that no task can have heard of it."""
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        while connection.execute("SELECT count(*) FROM agent_messages").fetchone() != (count,):
            pass


async def test_cancelled_between_commit_and_return(session: AdvancedSQLiteSession, path: Path) -> None:
    await session.add_items(batch("first"))
    with plain(path) as locker:
        locker.execute("BEGIN IMMEDIATE")
        adding = asyncio.create_task(session.add_items(batch("second", "third")))
        await turn_of_the_loop()
    block_until_stored(path, 3)
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert contents(path) == {"main": ["first", "second", "third"]}
    assert_sound(path)


async def test_cancelled_twice_while_the_file_is_locked(session: AdvancedSQLiteSession, path: Path) -> None:
    await session.add_items(batch("first"))
    with plain(path) as locker:
        locker.execute("BEGIN IMMEDIATE")
        adding = asyncio.create_task(session.add_items(batch("second", "third")))
        for _ in range(2):
            await turn_of_the_loop()
            adding.cancel()
        await turn_of_the_loop()
        assert not adding.done(), "the outcome is not settled while another process holds the lock"
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert contents(path)["main"] in (["first"], ["first", "second", "third"])
    settled = contents(path)
    await session.add_items(batch("fourth"))
    assert contents(path)["main"] == [*settled["main"], "fourth"]
    assert_sound(path)


async def test_cancelled_before_it_began(session: AdvancedSQLiteSession, path: Path) -> None:
    await session.add_items(batch("first"))
    adding = asyncio.create_task(session.add_items(batch("never")))
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert contents(path) == {"main": ["first"]}


@pytest.mark.parametrize("cancelled", range(5))
async def test_one_of_many_is_cancelled(session: AdvancedSQLiteSession, path: Path, cancelled: int) -> None:
    tasks = [asyncio.create_task(session.add_items(batch(f"{n}a", f"{n}b"))) for n in range(5)]
    await turn_of_the_loop()
    tasks[cancelled].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    others = [text for n in range(5) if n != cancelled for text in (f"{n}a", f"{n}b")]
    stored = contents(path)["main"]
    assert [text for text in stored if not text.startswith(str(cancelled))] == others
    assert [text for text in stored if text.startswith(str(cancelled))] in (
        [],
        [f"{cancelled}a", f"{cancelled}b"],
    )
    assert stored == sorted(stored), "writes happen in the order of the calls"
    assert_sound(path)


async def test_cancelled_fork_is_whole_or_nothing(session: AdvancedSQLiteSession, path: Path) -> None:
    await session.add_items(batch("first", "second"))
    with plain(path) as locker:
        locker.execute("BEGIN IMMEDIATE")
        forking = asyncio.create_task(session.create_branch_from_turn(2, "plan"))
        await turn_of_the_loop()
        forking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await forking
    branches = {row["branch_id"]: row for row in await session.list_branches()}
    current = next(name for name, row in branches.items() if row["is_current"])
    assert current == ("plan" if "plan" in branches else "main")
    if "plan" in branches:
        assert contents(path)["plan"] == ["first"]
    assert_sound(path)
