"""A file or a folder that cannot be written: it is read where it can be, and writing is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from tests.storage.faults.processes import started

NOBODY = 65534
HELLO = {"role": "user", "content": "Hello"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that an ordinary user can reach; pytest's own are for their owner alone."""
    made = Path(tempfile.mkdtemp(prefix="readonly-"))
    made.chmod(0o777)
    yield made
    made.chmod(0o777)
    shutil.rmtree(made)


def _read_and_write(pipe: Connection, path: str) -> None:
    """As an ordinary user: read, try to write, read again; tell what came of it."""
    if os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    async def attempt(session: AdvancedSQLiteSession, method: str, *args: Any) -> Any:
        try:
            return await getattr(session, method)(*args)
        except Exception as error:
            return type(error).__name__, str(error)

    async def work() -> list[Any]:
        async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
            steps: list[tuple[str, tuple[Any, ...]]] = [
                ("get_items", ()),
                ("add_items", ([HELLO],)),
                ("get_items", ()),
            ]
            return [await attempt(session, method, *args) for method, args in steps]

    pipe.send(asyncio.run(work()))


def outcome(path: Path) -> list[Any]:
    with started(_read_and_write, str(path)) as (_, pipe):
        told: list[Any] = pipe.recv()
        return told


def make(path: Path) -> None:
    async def fill() -> None:
        async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
            await session.add_items([HELLO])

    asyncio.run(fill())


def test_read_only_file(folder: Path) -> None:
    path = folder / "chat.db"
    make(path)
    path.chmod(0o444)
    before, refused, after = outcome(path)
    assert before == after == [HELLO]
    assert refused[0] == "ReadOnlyError"
    assert str(path) in refused[1]
    assert "writable" in refused[1]


def test_case_61_read_only_folder(folder: Path) -> None:
    path = folder / "chat.db"
    make(path)
    path.chmod(0o444)
    folder.chmod(0o555)
    before, refused, after = outcome(path)
    assert before == after == [HELLO]
    assert refused[0] == "ReadOnlyError"
    assert str(path) in refused[1]


def test_file_in_a_folder_that_cannot_be_written(folder: Path) -> None:
    folder.chmod(0o555)
    for told in outcome(folder / "new.db"):
        kind, message = told
        assert kind == "CannotOpenError"
        assert str(folder / "new.db") in message
        assert "rights" in message


def test_unreadable_file(folder: Path) -> None:
    path = folder / "chat.db"
    make(path)
    path.chmod(0o000)
    for told in outcome(path):
        kind, message = told
        assert kind in {"CannotOpenError", "ReadOnlyError"}
        assert str(path) in message


def test_case_66_missing_parents_and_odd_names(tmp_path: Path) -> None:
    path = tmp_path / "not there" / "größe 北京 #?%" / "chat.db"
    make(path)
    assert path.is_file()
    assert path.stat().st_mode & 0o777 == 0o600
