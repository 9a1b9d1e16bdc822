"""Damage is named, mended where that loses nothing, and salvaged where it cannot be mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from advchat_storage import CheckReport, Store
from tests.storage.scenes import CONVERSATION, Scene, assistant, user

PAGE = 4096
"""Bytes in a page of SQLite's, unless a file says otherwise."""


async def _healthy(path: Path, turns: int = 3) -> None:
    async with Scene.open(path) as scene:
        for number in range(1, turns + 1):
            await scene.ask(f"q{number}", cost_nano=1, input_tokens=1, output_tokens=1)
        await scene.fork(2, name="fork")
        await scene.index()


def _damage(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement)


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def _check(path: Path, *, repair: bool = False) -> CheckReport:
    async with Store(path) as store:
        return await store.check(repair=repair)


async def _items(path: Path, branch: str = "main") -> Sequence[object]:
    async with Store(path) as store, store.session(CONVERSATION, branch_id=branch) as session:
        return await session.get_items()


async def test_a_healthy_file_is_well_and_repairing_leaves_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)

    assert await _check(path, repair=True) == CheckReport(str(path), ok=True, findings=())
    assert _names(tmp_path) == ["a.db"]


async def test_a_running_program_is_no_finding(scene: Scene) -> None:
    await scene.store.begin_run(
        run_id="mine", conversation_id=CONVERSATION, branch_id="main", prompt="q", item=user("q")
    )

    assert (await scene.store.check()).ok


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("DELETE FROM agent_messages WHERE id = 6", "1 places on branches whose message is gone"),
        ("DELETE FROM agent_sessions", "6 messages without their conversation's row"),
        (
            "UPDATE message_structure SET sequence_number = 3 WHERE branch_id = 'main' AND sequence_number = 4",
            "1 sequence numbers used twice on a branch",
        ),
        (
            "INSERT INTO turn_usage (session_id, user_turn_number) VALUES ('nobody', 1)",
            "1 usage rows without their conversation's row",
        ),
        (
            "INSERT INTO advchat_turns (session_id, message_id, branch_id, turn, status) "
            "VALUES ('talk', 999, 'main', 9, 'completed')",
            "1 turn states whose turn is gone",
        ),
        (
            "UPDATE advchat_turns SET status = 'running' WHERE message_id = 1",
            "1 turns marked as running that no process answers",
        ),
        (
            "INSERT INTO advchat_journal VALUES "
            "('r', 'talk', 'main', 9, 999, 'p', '', '', '2026-01-01', '2026-01-01', 0, 'elsewhere', '')",
            "1 journal entries of turns that are gone",
        ),
        (
            "UPDATE advchat_conversations SET current_branch = 'nowhere'",
            "1 conversations whose current branch is gone",
        ),
    ],
)
async def test_a_fault_is_named_and_mended_after_a_backup(tmp_path: Path, damage: str, finding: str) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    _damage(path, damage)

    found = await _check(path)
    assert not found.ok
    assert finding in found.findings
    assert found.repaired == ()

    mended = await _check(path, repair=True)
    assert mended.ok
    assert f"mended {finding}" in mended.repaired
    (backup,) = (tmp_path / name for name in _names(tmp_path) if name.endswith(".backup"))
    assert backup.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(path)) as now, closing(sqlite3.connect(backup)) as then:
        assert then.execute("SELECT count(*) FROM agent_messages").fetchone() == (
            now.execute("SELECT count(*) FROM agent_messages").fetchone()
        )
    assert (await _check(path)).ok


async def test_messages_that_lost_their_places_are_shown_on_a_branch_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    _damage(path, "DELETE FROM message_structure WHERE message_id IN (5, 6)")

    assert (await _check(path)).findings == ("2 messages on no branch",)
    assert (await _check(path, repair=True)).ok
    assert list(await _items(path, "found_again")) == [user("q3"), assistant("Answer to q3")]
    assert len(await _items(path)) == 4


async def test_mending_loses_no_message_and_keeps_their_order(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    before = await _items(path)
    _damage(
        path,
        "DELETE FROM agent_sessions",
        "UPDATE message_structure SET sequence_number = 3 WHERE branch_id = 'main' AND sequence_number = 4",
    )
    assert (await _check(path, repair=True)).ok

    assert await _items(path) == before
    async with Scene.open(path) as scene:
        await scene.ask("later")
    assert list(await _items(path))[-2:] == [user("later"), assistant("Answer to later")]


async def test_a_damaged_index_of_the_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        root = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'idx_structure_turn'"
        ).fetchone()[0]
        other = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_structure_branch'")
        # Rows written while the index points elsewhere are missing from it afterwards.
        connection.execute(
            "UPDATE sqlite_master SET sql = sql || ' WHERE id < 3' WHERE name = 'idx_structure_turn'"
        )
        assert root
        assert other.fetchone()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("REINDEX idx_structure_turn")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ' WHERE id < 3', '') WHERE name = 'idx_structure_turn'"
        )

    found = await _check(path)
    assert not found.ok
    assert any("index" in line for line in found.findings)
    mended = await _check(path, repair=True)
    assert mended.ok
    assert "indexes made anew" in mended.repaired
    assert len(await _items(path)) == 6


async def test_a_damaged_search_index_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    _damage(path, "UPDATE advchat_search_long_data SET block = X'00112233' WHERE id > 10")

    found = await _check(path)
    assert [line for line in found.findings if line.startswith("the search index is damaged")]
    assert (await _check(path, repair=True)).ok
    async with Store(path) as store:
        assert [hit.excerpt for hit in await store.search("answer to q2")] == ["Answer to q2"]
        assert (await store.check()).ok


async def test_what_can_be_read_of_a_damaged_file_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Scene.open(path) as scene:
        for number in range(300):
            await scene.ask(f"q{number}", "word " * 100)
    _overwrite_a_page_with(path, b'"role": "user", "content": "q150"')

    found = await _check(path)
    assert not found.ok
    assert "new file" in found.findings[-1]
    saved = await _check(path, repair=True)
    assert not saved.ok
    (target,) = (tmp_path / name for name in _names(tmp_path) if name.endswith(".salvaged"))
    assert str(target) in saved.repaired[0]
    assert any("agent_messages" in line for line in saved.findings)
    assert target.stat().st_mode & 0o077 == 0

    assert (await _check(target, repair=True)).ok
    assert 400 < len(await _items(target)) < 600


async def test_a_truncated_file_is_named_and_saved_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Scene.open(path) as scene:
        for number in range(100):
            await scene.ask(f"q{number}", "word " * 100)
    _cut_off(path)

    found = await _check_unopened(path)
    assert not found.ok
    saved = await _check_unopened(path, repair=True)
    assert "salvaged" in saved.repaired[0]
    (target,) = (tmp_path / name for name in _names(tmp_path) if name.endswith(".salvaged"))
    assert (await _check(target, repair=True)).ok
    assert (await _items(target))[0] == user("q0")


async def test_a_file_of_which_nothing_can_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await _healthy(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))

    found = await _check_unopened(path, repair=True)
    assert not found.ok
    assert "go back to a backup" in found.findings[-1]
    assert not any("salvaged" in name for name in _names(tmp_path))


async def _check_unopened(path: Path, *, repair: bool = False) -> CheckReport:
    """Check a file that may be too damaged to open."""
    store = Store(path)
    try:
        return await store.check(repair=repair)
    finally:
        await store.close()


def _cut_off(path: Path) -> None:
    """Lose the end of a file, behind the pages that list its tables."""
    listing = max(_pages_with(path, b"CREATE "))
    pages = path.stat().st_size // PAGE
    assert listing < pages - 5
    with path.open("r+b") as file:
        file.truncate((listing + pages) // 2 * PAGE)


def _overwrite_a_page_with(path: Path, words: bytes) -> None:
    """Destroy the page on which a row lies."""
    with path.open("r+b") as file:
        file.seek(_pages_with(path, words)[0] * PAGE)
        file.write(b"\xff" * PAGE)


def _pages_with(path: Path, words: bytes) -> list[int]:
    content = path.read_bytes()
    return [
        number
        for number in range(len(content) // PAGE)
        if words in content[number * PAGE : (number + 1) * PAGE]
    ]
