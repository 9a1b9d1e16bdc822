"""What the storage benchmark measures of the event loop: how long anything waits beside heavy work."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from advchat_storage import AdvancedSQLiteSession
from benchmarks.storage_files import CONVERSATION


@dataclass(frozen=True)
class Waits:
    """Seconds of the work, and of the longest wait beside it."""

    work: float
    longest: float


async def reads_beside_a_fork(path: Path, turn: int) -> Waits:
    """Fork a long branch, and read beside it all the while."""
    async with AdvancedSQLiteSession(session_id=CONVERSATION, db_path=path) as session:
        await session.get_items(limit=20)
        begun = time.perf_counter()
        forking = asyncio.create_task(session.fork(turn))
        longest = 0.0
        while not forking.done():
            asked = time.perf_counter()
            await session.get_items(limit=20, branch_id="main")
            longest = max(longest, time.perf_counter() - asked)
        await forking
        return Waits(time.perf_counter() - begun, longest)


async def loop_beside_an_opening(path: Path) -> Waits:
    """Open a file; give the longest time for which the event loop did nothing else."""
    longest, last, done = 0.0, time.perf_counter(), False

    async def beat() -> None:
        nonlocal longest, last
        while not done:
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    begun = time.perf_counter()
    session = AdvancedSQLiteSession(session_id=CONVERSATION, db_path=path)
    await session.get_items(limit=1)
    work = time.perf_counter() - begun
    done = True
    await beating
    await session.close()
    return Waits(work, longest)
