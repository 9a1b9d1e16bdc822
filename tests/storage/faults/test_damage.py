"""Damaged files: what can be read is read, nothing is made worse, and the refusal names file and way out."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.errors import CorruptDatabaseError, NewerSchemaError, NotADatabaseError, StorageError
from tests.storage.faults.stored import assert_sound, plain

PAGE_SIZE = 4096


def message(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"message {number} " + "x" * 1000}


@pytest.fixture
def filled(path: Path) -> Path:
    """A closed file of some hundred pages."""

    async def fill() -> None:
        async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
            await session.add_items([message(number) for number in range(300)])

    asyncio.run(fill())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


async def attempt(path: Path, method: str = "get_items", *args: Any) -> Any:
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        return await getattr(session, method)(*args)


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_refusal(error: StorageError, path: Path) -> None:
    assert error.path == str(path)
    assert str(path) in str(error)
    assert error.way_out
    assert error.way_out in str(error)


async def test_corrupt_rows_are_passed_over(filled: Path) -> None:
    with plain(filled) as connection:
        connection.execute('UPDATE agent_messages SET message_data = \'{"role": "user"\' WHERE id = 299')
        connection.execute("UPDATE agent_messages SET message_data = x'ff00ff' WHERE id = 298")
        connection.execute("UPDATE agent_messages SET message_data = '' WHERE id = 297")
    assert [item["content"].split()[1] for item in await attempt(filled, "get_items", 3)] == [
        "294",
        "295",
        "299",
    ]
    assert len(await attempt(filled)) == 297
    await attempt(filled, "add_items", [message(300)])
    assert len(await attempt(filled)) == 298
    assert_sound(filled)


def spoil_page_of(path: Path, text: str) -> None:
    """Overwrite the page that holds a text."""
    data = bytearray(path.read_bytes())
    start = data.index(text.encode()) // PAGE_SIZE * PAGE_SIZE
    data[start : start + PAGE_SIZE] = b"\xff" * PAGE_SIZE
    path.write_bytes(data)


async def test_a_corrupt_page(filled: Path) -> None:
    spoil_page_of(filled, '"message 150 ')
    with pytest.raises(CorruptDatabaseError) as refused:
        await attempt(filled)
    assert_refusal(refused.value, filled)
    assert "advchat check" in refused.value.way_out
    newest = await attempt(filled, "get_items", 5)
    assert [item["content"].split()[1] for item in newest] == ["295", "296", "297", "298", "299"]


async def test_a_truncated_file(filled: Path) -> None:
    size = filled.stat().st_size
    with filled.open("r+b") as file:
        file.truncate(size // 2 // PAGE_SIZE * PAGE_SIZE)
    before = fingerprint(filled)
    for method, args in (("get_items", ()), ("add_items", ([message(300)],)), ("list_branches", ())):
        with pytest.raises(CorruptDatabaseError) as refused:
            await attempt(filled, method, *args)
        assert_refusal(refused.value, filled)
    assert fingerprint(filled) == before, "a damaged file is left as it is"


@pytest.mark.parametrize("content", [b"Dear diary,\n" * 500, b"SQLite format 3\0" + b"\xff" * 9000, b"short"])
async def test_no_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for method, args in (("get_items", ()), ("add_items", ([message(1)],))):
        with pytest.raises(NotADatabaseError) as refused:
            await attempt(path, method, *args)
        assert_refusal(refused.value, path)
    assert path.read_bytes() == content


async def test_an_empty_file_is_a_new_one(path: Path) -> None:
    path.touch()
    await attempt(path, "add_items", [message(1)])
    assert await attempt(path) == [message(1)]


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as refused:
        await attempt(tmp_path)
    assert_refusal(refused.value, tmp_path)


async def test_case_63_a_newer_schema(filled: Path) -> None:
    with plain(filled) as connection:
        connection.execute("INSERT INTO advchat_migrations VALUES (999, 'from the future', '2030')")
    before = fingerprint(filled)
    for method, args in (("get_items", ()), ("add_items", ([message(1)],))):
        with pytest.raises(NewerSchemaError) as refused:
            await attempt(filled, method, *args)
        assert_refusal(refused.value, filled)
        assert "Update advchat" in refused.value.way_out
    assert fingerprint(filled) == before
