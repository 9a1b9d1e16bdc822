"""Another process holds the file's lock: reads go on, writes wait and are done, and an endless hold is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advchat_storage import AdvancedSQLiteSession, opening
from advchat_storage.errors import LockedError
from tests.storage.faults.processes import locked_elsewhere
from tests.storage.faults.stored import assert_sound, contents, ledger
from tests.storage.faults.workload import record

HELLO = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "paid for"}


@pytest.mark.parametrize("seconds", [2, 40])
async def test_locked_for_a_while(session: AdvancedSQLiteSession, path: Path, seconds: int) -> None:
    await session.add_items([HELLO])
    with locked_elsewhere(path, seconds):
        writing = asyncio.gather(
            session.add_items([ANSWER]),
            session.record_request(record("r1", 10, 2)),
            session.create_branch_from_turn(1, "plan"),
        )
        assert await session.get_items() == [HELLO], "a read waits for nobody"
        assert not writing.done()
        await writing
    assert contents(path) == {"main": ["Hello", "paid for"]}
    assert ledger(path) == {"r1": (10, 2)}
    assert [row["branch_id"] for row in await session.list_branches()] == ["main", "plan"]
    assert_sound(path)


async def test_opening_a_locked_file(session: AdvancedSQLiteSession, path: Path) -> None:
    await session.add_items([HELLO])
    await session.close()
    with locked_elsewhere(path, 2):
        async with AdvancedSQLiteSession(session_id="c", db_path=path) as again:
            assert await again.get_items() == [HELLO]
            await again.add_items([ANSWER])
    assert contents(path) == {"main": ["Hello", "paid for"]}


async def test_locked_for_longer_than_we_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.2)
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        await session.add_items([HELLO])
        with locked_elsewhere(path, 60) as holder:
            with pytest.raises(LockedError) as refused:
                await session.add_items([ANSWER])
            assert str(path) in str(refused.value)
            assert "try again" in refused.value.way_out
            assert await session.get_items() == [HELLO]
            holder.communicate("let go")
        await session.add_items([ANSWER])
        assert await session.get_items() == [HELLO, ANSWER]
    assert_sound(path)
