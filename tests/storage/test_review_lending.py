"""The writer's connection lent to a caller, and what the caller may do to it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advchat_storage import AdvancedSQLiteSession
from tests.storage.scenes import user


@pytest.mark.parametrize("path", ["file", ":memory:"])
async def test_a_transaction_that_a_borrower_left_open_stops_no_later_write(tmp_path: Path, path: str) -> None:
    file = path if path == ":memory:" else tmp_path / "s.db"
    async with AdvancedSQLiteSession(session_id="s", db_path=file, create_tables=True) as session:
        await session.add_items([user("kept")])
        with pytest.raises(KeyError):
            fail_halfway(session)
        with session._locked_connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
        await session.add_items([user("added")])
        assert await session.get_items() == [user("kept"), user("added")]


@pytest.mark.parametrize("path", ["file", ":memory:"])
async def test_who_has_the_connection_is_given_it_again(tmp_path: Path, path: str) -> None:
    file = path if path == ":memory:" else tmp_path / "s.db"
    async with AdvancedSQLiteSession(session_id="s", db_path=file, create_tables=True) as session:
        with session._locked_connection() as outer:
            with session._locked_connection() as inner:
                assert inner is outer
            assert session._get_connection() is outer
            queued = asyncio.create_task(session.add_items([user("waits")]))
            await asyncio.sleep(0)
            assert not queued.done()
        await queued
        assert await session.get_items() == [user("waits")]


def fail_halfway(session: AdvancedSQLiteSession) -> None:
    with session._locked_connection() as connection:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM agent_messages")
        raise KeyError
