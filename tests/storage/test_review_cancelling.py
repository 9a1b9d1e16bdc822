"""What a caller sees who was cancelled more than once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.storage.scenes import sdk_session, user


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "the SDK's"])
async def test_the_first_of_several_cancellations_goes_on(tmp_path: Path, ours: bool) -> None:
    with sdk_session(tmp_path / "s.db", "s") as sdk:
        if not ours:
            await _cancel_twice(sdk)
            return
    from advchat_storage import AdvancedSQLiteSession

    async with AdvancedSQLiteSession(session_id="s", db_path=tmp_path / "s.db") as session:
        await _cancel_twice(session)


async def _cancel_twice(session: Any) -> None:
    task = asyncio.create_task(session.add_items([user("Hello")] * 200))
    await asyncio.sleep(0)
    task.cancel("first")
    await asyncio.sleep(0)
    task.cancel("second")
    with pytest.raises(asyncio.CancelledError, match="first"):
        await task
    assert len(await session.get_items()) == 200
