"""Closing from two sides at once: the program's end and the garbage collector."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from advchat_storage.opening import open_writer
from advchat_storage.workers import Worker

LEFT_OPEN = """
import asyncio, sys
from advchat_storage import AdvancedSQLiteSession

async def main():
    def opened():
        return AdvancedSQLiteSession(session_id="s", db_path=sys.argv[1], create_tables=True)

    closed, left_open = opened(), opened()
    tasks = [asyncio.create_task(closed.add_items([{"role": "user", "content": "x"}])) for _ in range(20)]
    await asyncio.gather(*tasks)
    await closed.close()
    print(len(await left_open.get_items()))

asyncio.run(main())
"""


@pytest.mark.parametrize("attempt", range(12))
def test_a_program_that_leaves_a_session_open_ends_without_a_word(tmp_path: Path, attempt: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, str(tmp_path / f"{attempt}.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "20\n", "")


def test_a_connection_closed_by_many_closes_once_and_all_wait_for_that(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    worker = Worker(lambda: open_writer(path), path)
    worker.submit(lambda connection: connection.execute("SELECT 1")).result()
    together = threading.Barrier(8)
    futures: list[Future[None]] = []

    def close() -> None:
        together.wait()
        futures.append(worker.finish())

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(futures) == 8
    assert len(set(futures)) == 1
    assert futures[0].result(timeout=30) is None
    with pytest.raises(RuntimeError, match="closed"):
        worker.submit(lambda connection: None)
