"""The tables of the file: the SDK's to the letter, ours beside them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agents.extensions.memory import AdvancedSQLiteSession as SdkSession

from advchat_storage import AdvancedSQLiteSession
from tests.storage.scenes import sdk_session, user

SDK_TABLES = (
    "agent_sessions",
    "agent_messages",
    "message_structure",
    "turn_usage",
    "branch_reservations",
    "session_clear_generations",
)


@pytest.fixture(params=[("agent_sessions", "agent_messages"), ("talks", "Some_Items")])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path, tuple[str, str]]:
    """A file that our class made and one that the SDK's class made, of the same base tables."""
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    names = {"sessions_table": request.param[0], "messages_table": request.param[1]}
    for session_class, path in ((AdvancedSQLiteSession, ours), (SdkSession, theirs)):
        session_class(session_id="c", db_path=path, create_tables=True, **names).close()
    return ours, theirs, request.param


def described(path: Path, table: str) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
        return {
            "columns": connection.execute(f"PRAGMA table_xinfo({table})").fetchall(),
            "foreign keys": sorted(row[1:] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
            "indexes": {
                row[1]: (row[2:], connection.execute(f"PRAGMA index_xinfo('{row[1]}')").fetchall())
                for row in indexes
                if not row[1].startswith("advchat_")
            },
            "counts up": connection.execute(
                "SELECT sql LIKE '%AUTOINCREMENT%' FROM sqlite_master WHERE name = ?", (table,)
            ).fetchone(),
        }


def test_the_sdks_tables_are_exactly_the_sdks(files: tuple[Path, Path, tuple[str, str]]) -> None:
    ours, theirs, names = files
    for table in (*names, *SDK_TABLES[2:]):
        assert described(ours, table) == described(theirs, table), table


def test_what_is_ours_is_named_so(files: tuple[Path, Path, tuple[str, str]]) -> None:
    ours, theirs, _ = files
    query = "SELECT type, name FROM sqlite_master"
    with closing(sqlite3.connect(ours)) as mine, closing(sqlite3.connect(theirs)) as other:
        beyond = set(mine.execute(query)) - set(other.execute(query))
        missing = set(other.execute(query)) - set(mine.execute(query))
    assert not missing
    assert {
        name for _, name in beyond if not name.removeprefix("sqlite_autoindex_").startswith("advchat_")
    } == set()


def test_the_files_journal_is_a_write_ahead_log(files: tuple[Path, Path, tuple[str, str]]) -> None:
    with closing(sqlite3.connect(files[0])) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_rows_are_written_as_the_sdk_writes_them(tmp_path: Path) -> None:
    items = [
        {"role": "assistant", "content": "Welcome"},
        user("1"),
        {"type": "function_call", "name": "add", "call_id": "c"},
        user("2"),
    ]
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    async with AdvancedSQLiteSession(session_id="talk", db_path=ours, create_tables=True) as session:
        with sdk_session(theirs) as sdk:
            for either in (session, sdk):
                await either.add_items(items)
                await either.create_branch_from_turn(2, "b")
                await either.add_items([user("3")])
                await either.switch_to_branch("main")
                await either.pop_item()
                await either.add_items([user("4")])
    columns = (
        "id, session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, "
        "branch_turn_number, tool_name"
    )
    with closing(sqlite3.connect(ours)) as mine, closing(sqlite3.connect(theirs)) as other:
        for query in (
            f"SELECT {columns} FROM message_structure ORDER BY id",
            "SELECT id, session_id, message_data FROM agent_messages ORDER BY id",
            "SELECT session_id, branch_id FROM branch_reservations ORDER BY rowid",
            "SELECT session_id FROM agent_sessions",
        ):
            assert mine.execute(query).fetchall() == other.execute(query).fetchall()
