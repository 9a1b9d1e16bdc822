"""Branches beyond the SDK's: empty ones, those after a turn, bound sessions, the bin, resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession, Branch
from tests.storage.scenes import assistant, sdk_session, sdk_usage, user

TALK = [user("1"), assistant("one"), user("2"), assistant("two")]


def opened(path: Path | str = ":memory:", **keywords: Any) -> AdvancedSQLiteSession:
    return AdvancedSQLiteSession(session_id="talk", db_path=path, create_tables=True, **keywords)


async def names(session: AdvancedSQLiteSession) -> list[str]:
    return [row["branch_id"] for row in await session.list_branches()]


async def tree(session: AdvancedSQLiteSession) -> dict[str, Branch]:
    return {branch.branch_id: branch for branch in await session.branch_tree()}


async def test_a_fork_at_turn_1_is_a_real_branch(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(1, "fresh")
    async with opened(path) as session:
        listed = {row["branch_id"]: row for row in await session.list_branches()}
        assert (listed["fresh"]["message_count"], listed["fresh"]["user_turns"]) == (0, 0)
        await session.switch_to_branch("fresh")
        await session.add_items([user("new")])
        assert await session.get_items() == [user("new")]
        assert await session.pop_item() == user("new")
        assert await names(session) == ["main", "fresh"]
        await session.delete_branch("fresh", force=True)
        assert await names(session) == ["main"]
        assert await session.current_branch() == "main"


async def test_main_popped_empty_can_be_reached() -> None:
    async with opened() as session:
        await session.add_items([user("1")])
        await session.create_branch_from_turn(1, "b")
        await session.add_items([user("other")])
        await session.switch_to_branch("main")
        await session.pop_item()
        await session.switch_to_branch("b")
        await session.switch_to_branch("main")
        assert await names(session) == ["main", "b"]


async def test_branching_after_a_turn_the_last_included() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        await session.create_branch_after_turn(2, "copy", title="A copy")
        assert await session.get_items() == TALK
        await session.switch_to_branch("main")
        await session.create_branch_after_turn(1, "half", switch=False)
        assert await session.current_branch() == "main"
        assert await session.get_items(branch_id="half") == TALK[:2]
        branches = await tree(session)
        assert (branches["copy"].title, branches["copy"].fork_kind) == ("A copy", "after")
        assert (branches["half"].parent, branches["half"].fork_turn) == ("main", 2)


async def test_a_fork_of_any_branch_without_switching() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        made = await session.fork(2, title="Plan B", title_source="auto")
        await session.fork(1, source=made, kind="after", branch_id="deeper", switch=True)
        assert await session.current_branch() == "deeper"
        assert await session.get_items() == TALK[:2]
        assert (await tree(session))[made].title == "Plan B"
        with pytest.raises(ValueError, match="in branch 'deeper'"):
            await session.fork(2)


async def test_forks_share_messages_and_keep_their_times(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as session:
        await session.add_items(TALK)
        with session._locked_connection() as connection:
            connection.execute("UPDATE agent_messages SET created_at = '2020-01-01 00:00:00'")
        await session.create_branch_from_turn(2, "b")
        assert [turn["timestamp"] for turn in await session.get_conversation_turns()] == ["2020-01-01 00:00:00"]
        await session.delete_branch("b", force=True)
        assert await session.get_items() == TALK
        with session._locked_connection() as connection:
            assert connection.execute("SELECT COUNT(*) FROM agent_messages").fetchone() == (4,)
            assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


async def test_deleting_takes_the_messages_that_no_other_branch_shows() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "b")
        await session.add_items([user("of b")])
        await session.fork(2, kind="after", source="b", branch_id="child")
        await session.add_items([assistant("only b")])
        await session.delete_branch("b", force=True)
        assert await session.get_items(branch_id="child") == [*TALK[:2], user("of b")]
        with session._locked_connection() as connection:
            assert connection.execute("SELECT COUNT(*) FROM agent_messages").fetchone() == (5,)


async def test_a_bound_session_ignores_every_switch(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "b")
        bound = session.on_branch("b")
        assert (bound.bound_branch, session.bound_branch) == ("b", None)
        await session.switch_to_branch("main")
        await bound.add_items([user("b only")])
        await bound.create_branch_from_turn(2, "c")
        assert await bound.current_branch() == "b"
        assert await bound.get_items() == [*TALK[:2], user("b only")]
        assert await session.get_items() == TALK
        with pytest.raises(ValueError, match="bound to branch 'b'"):
            await bound.switch_to_branch("main")
        await session.close()
        assert await bound.pop_item() == user("b only")
        await bound.close()


async def test_case_73_a_bound_session_cannot_bring_its_branch_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as session:
        await session.add_items(TALK)
        await session.fork(2, branch_id="b")
        async with session.on_branch("b") as bound:
            await session.delete_branch("b")
            for refused in (bound.add_items([user("late")]), bound.get_items(), bound.pop_item()):
                with pytest.raises(ValueError, match=r"^Branch 'b' does not exist$"):
                    await refused
        assert await names(session) == ["main"]


async def test_who_still_stands_on_a_deleted_branch_cannot_bring_it_back(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session, opened(path) as other:
        await session.add_items(TALK)
        await session.fork(2, branch_id="b")
        await other.switch_to_branch("b")
        await session.delete_branch("b")
        with pytest.raises(ValueError, match="does not exist"):
            await other.add_items([user("late")])
        assert await other.get_items() == []
        await other.switch_to_branch("main")
        assert await other.get_items() == TALK


async def test_case_69_the_current_branch_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "older")
        await session.switch_to_branch("main")
        await session.create_branch_from_turn(2, "newer")
        await session.switch_to_branch("older")
    async with opened(path) as session:
        assert await session.current_branch() == "main"
    async with opened(path, resume_branch=True) as session:
        assert await session.get_items() == TALK[:2]
        assert await session.current_branch() == "older"
        await session.add_items([user("more")])
        assert len(await session.get_items(branch_id="older")) == 3
        await session.delete_branch("older", force=True)
    async with opened(path, resume_branch=True) as session:
        assert await session.current_branch() == "main"


async def test_a_current_branch_that_the_sdk_deleted_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "b")
    with sdk_session(path) as sdk:
        await sdk.delete_branch("b")
    async with opened(path, resume_branch=True) as session:
        assert await session.current_branch() == "main"
        assert await names(session) == ["main"]


async def test_empty_branches_go_when_the_sdk_clears(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(1, "empty")
        with sdk_session(path) as sdk:
            await sdk.clear_session()
        assert await session.get_items() == []
        assert session._current_branch_id == "main"
        assert await names(session) == []
        with pytest.raises(ValueError, match="does not exist"):
            await session.switch_to_branch("empty")


async def test_the_bin_keeps_a_branch_whole_and_out_of_sight(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with opened(path) as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "b")
        await session.add_items([user("of b")])
        await session.store_run_usage(sdk_usage(10, 2))
        await session.bin_branch("b")
        assert await session.current_branch() == "main"
        assert await names(session) == ["main"]
        assert list(await tree(session)) == ["main"]
        assert [branch.branch_id for branch in await session.binned_branches()] == ["b"]
        with sdk_session(path) as sdk:
            assert [row["branch_id"] for row in await sdk.list_branches()] == ["b", "main"]
        await session.restore_branch("b")
        assert await names(session) == ["main", "b"]
        assert await session.get_items(branch_id="b") == [*TALK[:2], user("of b")]
        with pytest.raises(ValueError, match="Cannot delete the 'main' branch"):
            await session.bin_branch("main")
        with pytest.raises(ValueError, match="does not exist"):
            await session.bin_branch("nowhere")


async def test_case_75_an_automatic_title_never_replaces_one_that_somebody_gave() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(2, "b")
        assert await session.rename_branch("b", "Guess", source="auto")
        assert await session.rename_branch("b", "Mine")
        assert not await session.rename_branch("b", "Guess again", source="auto")
        assert (await tree(session))["b"].title == "Mine"
        assert await session.rename_branch("main", "Root")
        assert (await tree(session))["main"].title == "Root"
        with pytest.raises(ValueError, match="does not exist"):
            await session.rename_branch("nowhere", "x")


async def test_pins_and_news() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        await session.pin_branch("main", True)
        await session.mark_unread("main", True)
        main = (await tree(session))["main"]
        assert (main.pinned, main.unread) == (True, True)
        await session.pin_branch("main", False)
        await session.mark_unread("main", False)
        main = (await tree(session))["main"]
        assert (main.pinned, main.unread) == (False, False)


async def test_carried_turns_are_new_messages_with_a_note() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        await session.create_branch_from_turn(1, "b")
        await session.carry_turns("main", [2, 1], "b")
        assert await session.get_items() == [*TALK[2:], *TALK[:2]]
        assert await session.pop_item() == TALK[1]
        assert await session.get_items(branch_id="main") == TALK
        with pytest.raises(ValueError, match="Turn 9 does not exist in branch 'main'"):
            await session.carry_turns("main", [1, 9], "b")
        assert len(await session.get_items()) == 3


async def test_open_turn_tells_turn_and_message() -> None:
    async with opened() as session:
        await session.add_items(TALK)
        assert await session.open_turn(user("3")) == (3, 5)
        assert await session.get_items(limit=1) == [user("3")]


async def test_a_branch_that_the_sdk_made_is_an_ordinary_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with sdk_session(path) as sdk:
        await sdk.add_items(TALK)
        await sdk.create_branch_from_turn(2, "theirs")
        async with opened(path) as session:
            assert await names(session) == ["main", "theirs"]
            await session.switch_to_branch("theirs")
            await session.pop_item()
            await session.pop_item()
            assert await names(session) == ["main", "theirs"], "emptied by a pop, not deleted"
            await session.add_items([user("new")])
            await session.delete_branch("theirs", force=True)
        assert [row["branch_id"] for row in await sdk.list_branches()] == ["main"]
