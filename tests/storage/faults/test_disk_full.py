"""A disk that fills up: history as it was, one typed refusal, and work again once there is space."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.errors import DiskFullError, StorageError
from tests.storage.faults.processes import started
from tests.storage.faults.stored import assert_sound, contents

PAGE = "x" * 20_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a file system needs rights that this user lacks; the quota test stands in")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def fill(session: AdvancedSQLiteSession) -> int:
    """Append until it is refused; give how many were acknowledged."""
    for number in range(1000):
        try:
            await session.add_items([{"role": "user", "content": f"{number} {PAGE}"}])
        except DiskFullError:
            return number
    raise AssertionError("the disk never filled up")


async def test_case_60_disk_full(small_disk: Path) -> None:
    path = small_disk / "chat.db"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 400_000)
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        stored = await fill(session)
        assert stored > 0
        with pytest.raises(DiskFullError) as refused:
            await session.add_items([{"role": "user", "content": PAGE}])
        assert str(path) in str(refused.value)
        assert "space" in refused.value.way_out
        assert len(await session.get_items()) == stored, "what was acknowledged can be read"

        ballast.unlink()
        await session.add_items([{"role": "user", "content": f"after {PAGE}"}])
    assert [text.split()[0] for text in contents(path)["main"]] == [*map(str, range(stored)), "after"]
    assert_sound(path)


async def test_case_60_no_space_to_begin_with(small_disk: Path) -> None:
    path = small_disk / "chat.db"
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(b"x" * 2_000_000)
    session = AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True)
    with pytest.raises(StorageError, match=r"chat\.db"):
        await session.add_items([{"role": "user", "content": "Hello"}])
    ballast.unlink()
    await session.add_items([{"role": "user", "content": "Hello"}])
    await session.close()
    assert contents(path) == {"main": ["Hello"]}


def _under_a_quota(pipe: Connection, path: str) -> None:
    import asyncio
    import signal

    async def work() -> None:
        async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
            await session.add_items([{"role": "user", "content": "first"}])
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
            acknowledged = 0
            try:
                for number in range(1000):
                    await session.add_items([{"role": "user", "content": f"{number} {PAGE}"}])
                    acknowledged = number + 1
            except StorageError as error:
                pipe.send((acknowledged, type(error).__name__, str(error), error.way_out))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            await session.add_items([{"role": "user", "content": "after"}])
            pipe.send("done")

    asyncio.run(work())


def test_a_quota_on_the_file(path: Path) -> None:
    with started(_under_a_quota, str(path)) as (_, pipe):
        acknowledged, kind, message, way_out = pipe.recv()
        assert pipe.recv() == "done"
    assert kind == "DiskFullError"
    assert str(path) in message
    assert "space" in way_out
    found = [text.split()[0] for text in contents(path)["main"]]
    assert found == ["first", *map(str, range(acknowledged)), "after"]
    assert_sound(path)
