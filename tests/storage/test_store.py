"""The store as a whole: its life, its sessions, its copies."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import advchat_storage
from advchat_storage import AdvancedSQLiteSession, CannotOpenError, NotADatabaseError, Store
from tests.storage.scenes import CONVERSATION, Scene, assistant, request, user


async def test_nothing_is_opened_before_the_first_call(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.db"
    store = Store(path)
    assert not path.exists()
    assert store.path == str(path)
    assert await store.conversations() == []
    assert path.exists()
    await store.close()


async def test_a_closed_store_says_so_and_closing_again_is_no_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.db")
    await store.open()
    await store.close()
    await store.close()

    with pytest.raises(RuntimeError, match="closed"):
        await store.conversations()
    with pytest.raises(RuntimeError, match="closed"):
        await store.begin_run(run_id="r", conversation_id="c", branch_id="main", prompt="p", item=user("p"))


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Scene.open(path) as scene:
        await scene.ask("one", input_tokens=10, output_tokens=5, cost_nano=3)
        await scene.fork(1, name="fork", after=True)
        kept = (
            await scene.store.conversations(),
            await scene.store.turns(CONVERSATION, "fork", 0, 9),
            await scene.store.usage(),
            await scene.places(),
        )
    async with Scene.open(path) as scene:
        assert kept == (
            await scene.store.conversations(),
            await scene.store.turns(CONVERSATION, "fork", 0, 9),
            await scene.store.usage(),
            await scene.places(),
        )


async def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, " * 100)
    store = Store(path)
    with pytest.raises(NotADatabaseError, match=r"notes\.txt"):
        await store.open()
    await store.close()
    assert path.read_text().startswith("not a database")


async def test_sessions_are_on_the_current_branch_or_bound(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="fork")
    async with scene.store.session(CONVERSATION) as session:
        await session.switch_to_branch("fork")
    async with scene.store.session(CONVERSATION) as resumed:
        assert await resumed.current_branch() == "fork"
        assert resumed.bound_branch is None
    async with scene.store.session(CONVERSATION, branch_id="main") as bound:
        assert bound.bound_branch == "main"
        assert await bound.get_items() == [user("one"), assistant("Answer to one")]


async def test_a_session_outlives_its_store(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "a.db") as scene:
        await scene.ask("one")
        session = scene.store.session(CONVERSATION)
    assert len(await session.get_items()) == 2
    await session.close()


async def test_a_store_in_memory_shares_it_with_its_sessions() -> None:
    async with Scene.open(":memory:") as scene:
        await scene.ask("one", input_tokens=1, output_tokens=1, cost_nano=1)
        await scene.fork(1, name="fork", after=True)
        await scene.index()

        assert scene.store.path == ":memory:"
        assert await scene.places() == [("main", None, None), ("fork", "main", 2)]
        assert (await scene.store.usage()).cost_nano == 1
        assert len(await scene.store.search("one")) == 2
        assert (await scene.store.check(repair=True)).ok


async def test_two_stores_of_one_process_see_each_other(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "a.db") as one, Scene.open(tmp_path / "a.db") as other:
        await one.ask("one")
        await other.ask("two")
        assert [turn.turn for turn in await one.store.turns(CONVERSATION, "main", 0, 9)] == [1, 2]


async def test_many_calls_at_once_lose_nothing(scene: Scene) -> None:
    await scene.ask("one")
    await asyncio.gather(
        *(
            scene.store.record(CONVERSATION, request(input_tokens=1, output_tokens=1, cost_nano=1))
            for _ in range(200)
        ),
        *(scene.store.save_draft(CONVERSATION, "main", f"draft {number}") for number in range(50)),
        *(scene.store.search("one") for _ in range(20)),
    )

    assert (await scene.store.usage()).cost_nano == 200
    assert await scene.store.draft(CONVERSATION, "main") == "draft 49"


async def test_a_file_with_base_tables_of_other_names_is_served(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    session = AdvancedSQLiteSession(
        session_id="theirs",
        db_path=path,
        create_tables=True,
        sessions_table="my sessions",
        messages_table="my messages",
    )
    await session.add_items([user("needle"), assistant("found")])
    await session.close()
    async with Store(path) as store:
        (found,) = await store.conversations()
        assert (found.conversation_id, found.title) == ("theirs", "needle")
        assert [turn.items[1] for turn in await store.turns("theirs", "main", 0, 9)] == [assistant("found")]
        assert [hit.turn for hit in await store.search("needle")] == [1]
        async with store.session("theirs") as mine:
            assert len(await mine.get_items()) == 2
        assert (await store.check()).ok
        await store.delete_conversation("theirs")
        assert await store.conversations() == []


async def test_what_the_plain_session_wrote_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    await _plain(path, "theirs", [user("needle one"), assistant("1"), user("two")])
    async with Store(path) as store:
        (found,) = await store.conversations()
        assert (found.title, found.user_turns, found.branches) == ("needle one", 2, 1)
        assert [turn.turn for turn in await store.turns("theirs", "main", 0, 9)] == [1, 2]
        assert [hit.turn for hit in await store.search("needle")] == [1]
    await _plain(path, "theirs", [user("three")])
    await _plain(path, "another", [user("elsewhere")])
    async with Store(path) as store:
        assert [turn.turn for turn in await store.turns("theirs", "main", 0, 9)] == [1, 2, 3]
        assert await store.turn_count("another", "main") == 1
        assert (await store.check()).ok


async def _plain(path: Path, conversation: str, items: list[dict[str, Any]]) -> None:
    from agents.memory import SQLiteSession

    session = SQLiteSession(conversation, path)
    await session.add_items(items)  # type: ignore[arg-type]  # Its items are typed one kind at a time.
    session.close()


async def test_identifiers_that_no_file_can_hold_find_nothing_and_break_nothing(scene: Scene) -> None:
    odd = "a\ud800"
    await scene.store.create_conversation(conversation_id=odd)

    assert await scene.store.turn_count(odd, odd) == 0
    assert await scene.store.turns(odd, odd, 0, 9) == []
    assert (await scene.store.usage(conversation_id=odd, branch_id=odd, turn=1)).requests == 0
    assert await scene.store.search("x", conversation_id=odd, branch_id=odd) == []
    assert await scene.store.conversation(odd) is not None


async def test_a_backup_is_whole_private_and_never_overwrites(scene: Scene, tmp_path: Path) -> None:
    await scene.ask("one")
    target = await scene.store.backup(tmp_path / "copies" / "copy.db")
    assert target.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("SELECT count(*) FROM agent_messages").fetchone() == (2,)
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    with pytest.raises(CannotOpenError, match="exists already"):
        await scene.store.backup(target)
    with pytest.raises(CannotOpenError, match="exists already"):
        await scene.store.backup(scene.store.path)
    with pytest.raises(CannotOpenError):
        await scene.store.backup(target / "below-a-file.db")
    assert sorted(file.name for file in target.parent.iterdir()) == ["copy.db"]


async def test_a_backup_can_be_opened_and_written(scene: Scene, tmp_path: Path) -> None:
    await scene.ask("one")
    target = await scene.store.backup(tmp_path / "copy.db")
    async with Scene.open(target) as copy:
        await copy.ask("two")
        assert await copy.store.turn_count(CONVERSATION, "main") == 2
    assert await scene.store.turn_count(CONVERSATION, "main") == 1


def test_importing_the_store_brings_neither_the_sdk_nor_a_screen() -> None:
    seen = subprocess.run(
        [sys.executable, "-c", "from advchat_storage import Store; import sys; print(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "advchat_storage.store" in seen
    assert {"agents", "openai", "textual", "rich", "advchat", "pydantic"}.isdisjoint(seen)


def test_every_public_name_is_there() -> None:
    assert all(hasattr(advchat_storage, name) for name in advchat_storage.__all__)
    assert list(advchat_storage.__all__) == sorted(advchat_storage.__all__)
