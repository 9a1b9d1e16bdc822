"""Files of other ages and makers: claimed, upgraded with a backup, refused, or safe after an interruption."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.errors import ForeignSchemaError, NewerSchemaError
from advchat_storage.migrations import MIGRATIONS, Migration, applied_version, prepare
from advchat_storage.ownership import Tables
from tests.storage.scenes import assistant, sdk_session, sdk_usage, user

TABLES = Tables()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A file as the first version made it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        prepare(made, True, tables=TABLES, path=str(path), migrations=MIGRATIONS[:1])
        yield made


def add_column(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE advchat_drafts ADD COLUMN colour TEXT")


def fail_half_way(connection: sqlite3.Connection) -> None:
    add_column(connection)
    raise KeyboardInterrupt


NEXT = Migration(len(MIGRATIONS) + 1, "drafts have a colour", add_column)


def colours(connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute("PRAGMA table_info(advchat_drafts)") if row[1] == "colour"]


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_every_migration_is_recorded_once(connection: sqlite3.Connection, path: Path) -> None:
    for _ in range(2):
        assert prepare(connection, True, tables=TABLES, path=str(path))
    recorded = connection.execute("SELECT version, name FROM advchat_migrations").fetchall()
    assert recorded == [(migration.version, migration.name) for migration in MIGRATIONS]


def test_looking_changes_nothing(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert not prepare(connection, False, tables=TABLES, path=str(path))
        assert connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,)


def test_case_63_an_upgrade_backs_the_file_up_first(connection: sqlite3.Connection, path: Path) -> None:
    migrations = (*MIGRATIONS, NEXT)
    connection.execute("INSERT INTO advchat_drafts VALUES ('c', 'main', 'kept', '2026')")
    before = applied_version(connection)
    assert not prepare(connection, False, tables=TABLES, path=str(path), migrations=migrations)
    assert prepare(connection, True, tables=TABLES, path=str(path), migrations=migrations)
    assert applied_version(connection) == NEXT.version
    assert colours(connection) == ["colour"]
    backup = path.with_name(f"{path.name}.version-{before}.backup")
    assert backup.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("SELECT draft FROM advchat_drafts").fetchone() == ("kept",)
        assert applied_version(copy) == before
        assert colours(copy) == []


def test_case_63_an_interrupted_upgrade_is_as_if_it_never_began(
    connection: sqlite3.Connection, path: Path
) -> None:
    prepare(connection, True, tables=TABLES, path=str(path))
    broken = Migration(NEXT.version, NEXT.name, fail_half_way)
    with pytest.raises(KeyboardInterrupt):
        prepare(connection, True, tables=TABLES, path=str(path), migrations=(*MIGRATIONS, broken))
    assert not connection.in_transaction
    assert applied_version(connection) == MIGRATIONS[-1].version
    assert colours(connection) == []
    assert prepare(connection, True, tables=TABLES, path=str(path), migrations=(*MIGRATIONS, NEXT))
    assert colours(connection) == ["colour"]


def test_case_63_a_newer_file_is_refused_and_left_alone(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("INSERT INTO advchat_migrations VALUES (999, 'from the future', '2030')")
    with pytest.raises(NewerSchemaError, match=r"chat\.db.*Update advchat"):
        prepare(connection, True, tables=TABLES, path=str(path))


@pytest.mark.parametrize(
    ("structure_keys", "usage_keys"),
    [
        ("", "FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id)"),
        (
            "FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id), "
            "FOREIGN KEY (session_id) REFERENCES others(session_id), "
            "FOREIGN KEY (message_id) REFERENCES agent_messages(id)",
            "FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id)",
        ),
        (
            "FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id), "
            "FOREIGN KEY (message_id) REFERENCES agent_messages(id)",
            "FOREIGN KEY (session_id) REFERENCES others(session_id)",
        ),
    ],
)
@pytest.mark.parametrize("create_tables", [True, False])
def test_a_file_without_one_clear_owner_is_refused(
    path: Path, structure_keys: str, usage_keys: str, create_tables: bool
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        keys = f", {structure_keys}" if structure_keys else ""
        connection.execute(
            f"CREATE TABLE message_structure (id INTEGER, session_id TEXT, message_id INTEGER{keys})"
        )
        connection.execute(f"CREATE TABLE turn_usage (id INTEGER, session_id TEXT, {usage_keys})")
    with pytest.raises(ForeignSchemaError):
        AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=create_tables)


async def test_a_file_of_an_older_sdk_gets_what_it_lacks(path: Path) -> None:
    with sdk_session(path) as sdk:
        await sdk.add_items([user("1"), user("2")])
        await sdk.create_branch_from_turn(2, "old")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE branch_reservations")
        connection.execute("DROP TABLE session_clear_generations")
    async with AdvancedSQLiteSession(session_id="talk", db_path=path, create_tables=True) as session:
        assert [row["branch_id"] for row in await session.list_branches()] == ["main", "old"]
        await session.delete_branch("old")
        with pytest.raises(ValueError, match="already been used"):
            await session.create_branch_from_turn(1, "old")
        await session.clear_session()
        assert await session.get_items() == []


async def test_the_plain_sessions_history_is_on_main(path: Path) -> None:
    history = [assistant("Welcome"), user("1"), assistant("one"), user("2")]
    plain: Any = SQLiteSession("talk", path)
    await plain.add_items(history)
    async with AdvancedSQLiteSession(session_id="talk", db_path=path, create_tables=True) as session:
        assert await session.get_items() == history
        assert [turn["content"] for turn in await session.get_conversation_turns()] == ["1", "2"]
        await plain.add_items([assistant("two"), user("3")])
        await session.add_items([assistant("three")])
        await session.create_branch_from_turn(3, "b")
        await session.add_items([user("of b")])
        await session.delete_branch("b", force=True)
        assert await plain.get_items() == [*history, assistant("two"), user("3"), assistant("three")]
        assert await session.get_items() == await plain.get_items()
        assert await session.pop_item() == assistant("three")
        await plain.add_items([assistant("again")])
        assert await session.pop_item() == assistant("again")
    plain.close()


async def test_older_plain_messages_come_before_what_the_sdk_added(path: Path) -> None:
    plain: Any = SQLiteSession("talk", path)
    await plain.add_items([user("1"), assistant("one"), user("2")])
    with sdk_session(path) as sdk:
        await sdk.add_items([user("3")])
        await sdk.store_run_usage(sdk_usage(10, 2))
        async with AdvancedSQLiteSession(session_id="talk", db_path=path) as session:
            for either in (session, sdk):
                contents = [turn["content"] for turn in await either.get_conversation_turns()]
                assert contents == ["1", "2", "3"]
                usage = await either.get_turn_usage()
                assert [(row["user_turn_number"], row["input_tokens"]) for row in usage] == [(3, 10)]
    plain.close()
