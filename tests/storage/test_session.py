"""The session's own contract: history, limits, messages of refusals, settings, closing."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import SessionSettings
from agents.memory import Session

from advchat_storage import AdvancedSQLiteSession
from tests.storage.scenes import assistant, sdk_usage, user


def opened(path: Path | str = ":memory:", conversation: str = "c", **keywords: Any) -> AdvancedSQLiteSession:
    return AdvancedSQLiteSession(session_id=conversation, db_path=path, create_tables=True, **keywords)


async def test_it_is_a_session_to_the_sdk() -> None:
    async with opened() as session:
        assert isinstance(session, Session)


async def test_limits() -> None:
    items = [user("1"), assistant("2"), user("3")]
    async with opened() as session:
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[1:]
        assert await session.get_items(limit=99) == items
        assert await session.get_items(limit=0) == []
        assert await session.get_items(limit=-1) == items
        assert await session.get_items(branch_id="nowhere") == []


@pytest.mark.parametrize("settings", [SessionSettings(limit=1), {"limit": 1}])
async def test_the_settings_limit_is_the_default(settings: Any) -> None:
    async with opened(session_settings=settings) as session:
        assert isinstance(session.session_settings, SessionSettings)
        await session.add_items([user("1"), user("2")])
        assert await session.get_items() == [user("2")]
        assert await session.get_items(limit=-1) == [user("1"), user("2")]


@pytest.mark.parametrize("settings", [{"limits": 1}, 5])
async def test_other_settings_are_refused(settings: Any) -> None:
    with pytest.raises(TypeError):
        opened(session_settings=settings)


async def test_rows_that_are_not_json_are_passed_over_and_never_counted(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as session:
        await session.add_items([user("1"), assistant("2"), user("3")])
        with session._locked_connection() as connection:
            connection.execute("UPDATE agent_messages SET message_data = '{' WHERE id = 3")
        assert await session.get_items(limit=1) == [assistant("2")]
        assert [turn["turn"] for turn in await session.get_conversation_turns()] == [1]
        assert await session.pop_item() == assistant("2")
        assert await session.get_items() == [user("1")]


async def test_a_batch_that_cannot_be_stored_leaves_the_history_as_it_was() -> None:
    async with opened() as session:
        await session.add_items([user("1")])
        with pytest.raises(TypeError):
            await session.add_items([user("2"), {"role": "user", "content": object()}])
        with pytest.raises(TypeError):
            await session.add_items([user("2")] * 100 + [{"role": "user", "content": object()}])
        assert await session.get_items() == [user("1")]


async def test_an_empty_batch_is_nothing() -> None:
    async with opened() as session:
        await session.add_items([])
        assert await session.get_items() == []
        assert await session.list_branches() == []
        assert await session.pop_item() is None


async def test_what_comes_before_the_first_user_message_is_turn_0() -> None:
    async with opened() as session:
        await session.add_items([assistant("Welcome"), user("Hi"), assistant("Hello")])
        assert {turn: len(items) for turn, items in (await session.get_conversation_by_turns()).items()} == {
            0: 1,
            1: 2,
        }
        assert [turn["turn"] for turn in await session.get_conversation_turns()] == [1]
        assert await session.create_branch_from_turn(1, "again") == "again"
        assert await session.get_items() == [assistant("Welcome")]


async def test_turns_as_the_sdk_shows_them() -> None:
    async with opened() as session:
        await session.add_items([user("x" * 101), user([{"type": "input_text", "text": "y"}])])
        first, second = await session.get_conversation_turns()
        assert set(first) == {"turn", "content", "full_content", "timestamp", "can_branch"}
        assert (first["turn"], first["content"], first["full_content"]) == (1, "x" * 100 + "...", "x" * 101)
        assert first["can_branch"] is True
        assert second["content"] == '[{"type": "input_text", "text": "y"}]'
        (found,) = await session.find_turns_by_content("X" * 101)
        assert found["content"] == "x" * 101


@pytest.mark.parametrize("term", ["100%", "a_b", "back\\slash", "it's", '"quoted"', "~", "", "\n"])
async def test_a_search_term_means_itself(term: str) -> None:
    async with opened() as session:
        await session.add_items([user(f"before {term} after"), user("nothing"), user([{"text": f"<{term}>"}])])
        found = [turn["turn"] for turn in await session.find_turns_by_content(term)]
        assert found == ([1, 2, 3] if term == "" else [1, 3])


async def test_a_message_without_content_is_no_error_to_search() -> None:
    async with opened() as session:
        await session.add_items([{"role": "user"}, user(None), user(5), user([None, 5, {"text": None}])])
        assert await session.find_turns_by_content("n") == []
        with pytest.raises(ValueError, match=r"^No user turns found containing 'n'$"):
            await session.create_branch_from_content("n")


async def test_refusals_in_the_words_that_callers_match_on() -> None:
    async with opened() as session:
        await session.add_items([user("1"), user("2")])
        await session.create_branch_from_turn(2, "taken")
        refusals: list[tuple[Any, str]] = [
            (session.create_branch_from_turn(1, " \t"), "Branch name cannot be empty"),
            (session.create_branch_from_turn(9, ""), "Branch name cannot be empty"),
            (session.create_branch_from_turn(9), "Turn 9 does not contain a user message in branch 'taken'"),
            (session.create_branch_from_turn(0), "Turn 0 does not contain a user message in branch 'taken'"),
            (
                session.create_branch_from_turn(1, "main"),
                "Branch ID 'main' has already been used. Choose a new branch ID.",
            ),
            (
                session.create_branch_from_turn(1, "taken"),
                "Branch ID 'taken' has already been used. Choose a new branch ID.",
            ),
            (session.create_branch_from_content("zzz"), "No user turns found containing 'zzz'"),
            (session.switch_to_branch("nowhere"), "Branch 'nowhere' does not exist"),
            (session.switch_to_branch(""), "Branch '' does not exist"),
            (session.delete_branch("nowhere"), "Branch 'nowhere' does not exist"),
            (session.delete_branch("taken "), "Branch 'taken ' does not exist"),
            (session.delete_branch(" "), "Branch ID cannot be empty"),
            (session.delete_branch("main", force=True), "Cannot delete the 'main' branch"),
            (
                session.delete_branch("taken"),
                "Cannot delete current branch 'taken'. Use force=True or switch branches first",
            ),
        ]
        for refused, message in refusals:
            with pytest.raises(ValueError) as caught:  # noqa: PT011  # The whole message is compared below.
                await refused
            assert str(caught.value) == message


async def test_a_branch_id_is_kept_to_the_letter() -> None:
    async with opened() as session:
        await session.add_items([user("1")])
        for name in (" draft ", "draft", "Main", "a\0b", "'; --", "\u200b"):
            assert await session.create_branch_from_turn(1, name) == name
            await session.add_items([user("1")])
        assert [row["branch_id"] for row in await session.list_branches()][1:] == [
            " draft ",
            "draft",
            "Main",
            "a\0b",
            "'; --",
            "\u200b",
        ]


async def test_generated_ids_differ_within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_700_000_000.9)
    async with opened() as session:
        await session.add_items([user("1"), user("2")])
        made = []
        for _ in range(3):
            made.append(await session.create_branch_from_turn(2))
            await session.switch_to_branch("main")
        made.append(await session.create_branch_after_turn(2))
    stem = "branch_from_turn_2_1700000000"
    assert made == [stem, f"{stem}_2", f"{stem}_3", "branch_after_turn_2_1700000000"]


async def test_used_ids_stay_used_after_delete_and_clear(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items([user("1")])
        await session.create_branch_from_turn(1, "deleted")
        await session.delete_branch("deleted", force=True)
        await session.create_branch_from_turn(1, "cleared")
        await session.clear_session()
    async with opened(path) as session:
        await session.add_items([user("1")])
        for name in ("deleted", "cleared"):
            with pytest.raises(ValueError, match="already been used"):
                await session.create_branch_from_turn(1, name)


async def test_custom_base_tables_under_any_name(tmp_path: Path) -> None:
    for number, name in enumerate(("items", '"my items"', "[select]", "`a-b`", "Ünïcode", 'quo"te')):
        path = tmp_path / f"{number}.db"
        async with opened(path, sessions_table="talks", messages_table=name) as session:
            await session.add_items([user("1"), user("2")])
            await session.create_branch_from_turn(2, "b")
            assert await session.get_items() == [user("1")]
        with pytest.raises(ValueError, match="already belongs"):
            opened(path, sessions_table="talks", messages_table="others")
        with pytest.raises(ValueError, match="already belongs"):
            opened(path)


async def test_a_second_pair_is_refused_while_the_first_is_still_at_work(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as first:
        with pytest.raises(ValueError, match="file of its own"):
            opened(path, messages_table="others")
        async with AdvancedSQLiteSession(session_id="c", db_path=path) as second:
            await first.add_items([user("1")])
            assert await second.get_items() == [user("1")]


@pytest.mark.parametrize("path", [":memory:", "missing.db", "plain.db"])
async def test_a_file_that_nobody_claimed_needs_create_tables(tmp_path: Path, path: str) -> None:
    (tmp_path / "plain.db").touch()
    where = path if path == ":memory:" else tmp_path / path
    with pytest.raises(ValueError, match="create_tables=True"):
        AdvancedSQLiteSession(session_id="c", db_path=where)
    assert not (tmp_path / "missing.db").exists()


async def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "chat.db"
    async with opened(path) as session:
        await session.add_items([user("1")])
        for file in path.parent.iterdir():
            assert file.stat().st_mode & 0o777 == 0o600


async def test_closing(tmp_path: Path) -> None:
    session = opened(tmp_path / "chat.db")
    await session.add_items([user("1")])
    session.close()
    await session.close()
    for refused in (
        session.add_items([user("2")]),
        session.add_items([]),
        session.get_items(),
        session.pop_item(),
        session.clear_session(),
        session.list_branches(),
        session.switch_to_branch("main"),
        session.create_branch_from_turn(1),
        session.delete_branch("b"),
        session.get_turn_usage(),
        session.current_branch(),
    ):
        with pytest.raises(RuntimeError, match="is closed"):
            await refused
    with pytest.raises(RuntimeError, match="is closed"):
        session.on_branch("main")
    assert [file.name for file in tmp_path.iterdir()] == ["chat.db"], "the journal went into the file"


async def test_close_works_plainly_without_an_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"

    def use() -> None:
        session = opened(path)
        asyncio.run(session.add_items([user("1")]))
        asyncio.run(session.add_items([user("2")]))
        session.close()
        assert [file.name for file in tmp_path.iterdir()] == ["chat.db"]

    await asyncio.to_thread(use)
    async with opened(path) as session:
        assert await session.get_items() == [user("1"), user("2")]


async def test_a_forgotten_session_gives_its_file_back(tmp_path: Path) -> None:
    session: AdvancedSQLiteSession | None = opened(tmp_path / "chat.db")
    assert session is not None
    await session.add_items([user("1")])
    session = None
    gc.collect()
    async with opened(tmp_path / "chat.db") as again:
        assert await again.get_items() == [user("1")]


def test_a_session_that_nobody_closed_never_holds_the_process(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from advchat_storage import AdvancedSQLiteSession\n"
        "session = AdvancedSQLiteSession(session_id='c', db_path=sys.argv[1], create_tables=True)\n"
        "memory = AdvancedSQLiteSession(session_id='c', create_tables=True)\n"
        "asyncio.run(session.add_items([{'role': 'user', 'content': '1'}]))\n"
        "asyncio.run(memory.add_items([{'role': 'user', 'content': '1'}]))\n"
        "assert not {'agents', 'openai', 'textual', 'pydantic_core'} & set(sys.modules)\n"
    )
    path = tmp_path / "chat.db"
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, str(path)],
        timeout=30,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    assert [file.name for file in tmp_path.iterdir()] == ["chat.db"]


async def test_switches_are_logged_by_the_logger_given(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("of-my-own")
    with caplog.at_level(logging.DEBUG, logger="of-my-own"):
        async with opened(logger=logger) as session:
            await session.add_items([user("my secret")])
            await session.create_branch_from_turn(1, "b")
            await session.switch_to_branch("main")
    assert {record.name for record in caplog.records if "branch" in record.message} == {"of-my-own"}
    assert "secret" not in caplog.text


async def test_usage_that_cannot_be_read_is_logged_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    async with opened() as session:
        await session.add_items([user("1")])
        odd: tuple[Any, ...] = (None, object(), sdk_usage(10**30, 1))
        for result in odd:
            await session.store_run_usage(result)
        assert await session.get_turn_usage() == []
    await session.store_run_usage(sdk_usage(1, 1))
    assert caplog.text.count("Failed to store session usage") == 4
