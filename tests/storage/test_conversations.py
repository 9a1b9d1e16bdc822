"""Conversations: listed, found, named, changed, deleted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from advchat_storage import Conversation, Store
from tests.storage.scenes import CONVERSATION, Scene, assistant, request, sdk_session, user


async def _only(store: Store) -> Conversation:
    (found,) = await store.conversations()
    return found


async def test_a_new_conversation_is_empty_and_has_an_id_of_its_own(tmp_path: Path) -> None:
    async with Store(tmp_path / "a.db") as store:
        first = await store.create_conversation("Plans", model="gpt-test", instructions="Be brief.")
        second = await store.create_conversation()

        assert first.conversation_id != second.conversation_id
        assert (first.title, first.title_source, first.model, first.instructions) == (
            "Plans",
            "manual",
            "gpt-test",
            "Be brief.",
        )
        assert (second.title, second.title_source) == ("", "none")
        assert (first.branches, first.user_turns, first.current_branch) == (1, 0, "main")
        assert (first.cost_nano, first.cost_at_least, first.budget_nano) == (None, False, None)


@pytest.mark.parametrize("taken", [CONVERSATION, "  ", ""])
async def test_an_id_that_is_taken_or_blank_is_refused(scene: Scene, taken: str) -> None:
    with pytest.raises(ValueError, match=r"exists already|cannot be empty"):
        await scene.store.create_conversation(conversation_id=taken)


async def test_a_conversation_that_only_the_sdk_wrote_is_one_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "sdk.db"
    with sdk_session(path, "theirs") as sdk:
        await sdk.add_items(
            [user("  Where is\nthe Golden Gate?  "), assistant("In San Francisco."), user("And?")]
        )
        await sdk.create_branch_from_turn(2, "other")
    async with Store(path) as store:
        found = await _only(store)

    assert found.conversation_id == "theirs"
    assert (found.title, found.title_source) == ("Where is the Golden Gate?", "auto")
    assert (found.branches, found.user_turns, found.current_branch) == (2, 2, "main")
    assert found.created_at.endswith("+00:00")


async def test_the_first_prompt_names_a_conversation_that_nobody_named(scene: Scene) -> None:
    await scene.ask("How do I boil an egg?")
    await scene.ask("And a second one?")

    found = await _only(scene.store)
    assert (found.title, found.title_source) == ("How do I boil an egg?", "auto")


async def test_a_long_first_prompt_is_cut_and_a_wordless_one_names_nothing(scene: Scene) -> None:
    async with scene.store.session(CONVERSATION) as session:
        await session.add_items([user([{"type": "input_image", "image_url": "data:,"}])])
    assert (await _only(scene.store)).title == ""
    other = await scene.store.create_conversation(conversation_id="long")
    async with scene.store.session("long") as session:
        await session.add_items([user("word " * 50)])

    found = await scene.store.conversation(other.conversation_id)
    assert found is not None
    assert len(found.title) <= 60
    assert found.title.endswith("…")


async def test_case_75_an_automatic_title_never_replaces_a_manual_one(scene: Scene) -> None:
    store = scene.store
    assert await store.update_conversation(CONVERSATION, title="Mine")
    assert not await store.update_conversation(CONVERSATION, title="Theirs", title_source="auto")
    await scene.ask("First prompt")
    assert (await _only(store)).title == "Mine"

    assert await store.update_conversation(CONVERSATION, title="Also mine", title_source="manual")
    assert (await _only(store)).title == "Also mine"


async def test_an_emptied_title_is_derived_again(scene: Scene) -> None:
    await scene.store.update_conversation(CONVERSATION, title="Mine")
    await scene.ask("First prompt")
    await scene.store.update_conversation(CONVERSATION, title="")

    assert ((await _only(scene.store)).title, (await _only(scene.store)).title_source) == (
        "First prompt",
        "auto",
    )


async def test_an_update_changes_what_is_given_and_nothing_else(scene: Scene) -> None:
    store = scene.store
    await store.update_conversation(CONVERSATION, title="T", model="m", instructions="i", budget_nano=5)
    await store.update_conversation(CONVERSATION, model=None, budget_nano=None)

    found = await _only(store)
    assert (found.title, found.model, found.instructions, found.budget_nano) == ("T", None, "i", None)
    with pytest.raises(ValueError, match="does not exist"):
        await store.update_conversation("nobody", title="x")


async def test_the_archive_is_a_list_of_its_own(scene: Scene) -> None:
    await scene.store.update_conversation(CONVERSATION, archived=True)

    assert await scene.store.conversations() == []
    (found,) = await scene.store.conversations(archived=True)
    assert found.archived


async def test_the_list_is_by_last_activity_and_comes_in_pages(tmp_path: Path) -> None:
    async with Store(tmp_path / "a.db") as store:
        for name in ("a", "b", "c"):
            await store.create_conversation(conversation_id=name)
        async with store.session("a") as session:
            await session.add_items([user("again")])

        assert [found.conversation_id for found in await store.conversations()] == ["a", "c", "b"]
        assert [found.conversation_id for found in await store.conversations(limit=1, offset=1)] == ["c"]
        assert await store.conversations(limit=0) == []
        await store.update_conversation("b", title="renaming is no activity")
        assert next(found.conversation_id for found in await store.conversations()) == "a"


async def test_equal_clocks_are_told_apart_by_what_was_written_last(tmp_path: Path) -> None:
    path = tmp_path / "sdk.db"
    for name in ("one", "two", "one"):
        with sdk_session(path, name) as sdk:
            await sdk.add_items([user("hello")])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE agent_sessions SET updated_at = '2026-11-29 10:00:00'")
    connection.close()
    async with Store(path) as store:
        assert [found.conversation_id for found in await store.conversations()] == ["one", "two"]


async def test_finding_by_id_then_title_then_the_only_beginning(tmp_path: Path) -> None:
    async with Store(tmp_path / "a.db") as store:
        await store.create_conversation("Trip to Rome", conversation_id="one")
        await store.create_conversation("Trip to Paris", conversation_id="two")
        await store.create_conversation("two", conversation_id="three")
        await store.create_conversation("Trip to Rome", conversation_id="four")

        async def find(text: str) -> str | None:
            found = await store.conversation(text)
            return None if found is None else found.conversation_id

        assert await find("two") == "two"
        assert await find("Trip to Rome") == "four"
        assert await find("trip to p") == "two"
        assert await find("thr") == "three"
        assert await find("Trip") is None
        assert await find("nothing") is None
        assert await find(" ") is None


async def test_binned_and_deleted_branches_are_not_counted(scene: Scene) -> None:
    await scene.ask("one")
    for name in ("kept", "binned", "deleted"):
        await scene.fork(1, name=name)
    await scene.bin("binned")
    await scene.delete("deleted")

    assert (await _only(scene.store)).branches == 2


async def test_the_turns_are_those_of_the_current_branch(scene: Scene) -> None:
    await scene.ask("one")
    await scene.ask("two")
    async with scene.store.session(CONVERSATION) as session:
        await session.create_branch_from_turn(2, "short")

    found = await _only(scene.store)
    assert (found.current_branch, found.user_turns) == ("short", 1)
    await scene.delete("short")
    found = await _only(scene.store)
    assert (found.current_branch, found.user_turns) == ("main", 2)


async def test_a_deleted_conversation_is_gone_whole(scene: Scene) -> None:
    await scene.ask("secret words")
    await scene.store.save_draft(CONVERSATION, "main", "half a secret")
    await scene.store.record(CONVERSATION, request(cost_nano=1))
    await scene.store.delete_conversation(CONVERSATION)

    assert await scene.store.conversations() == []
    assert await scene.store.draft(CONVERSATION, "main") == ""
    assert await scene.store.search("secret") == []
    assert await scene.store.turn_count(CONVERSATION, "main") == 0
    await scene.store.delete_conversation("nobody")


async def test_a_title_that_no_file_can_hold_is_kept_readable(scene: Scene) -> None:
    await scene.store.update_conversation(CONVERSATION, title="a\ud800b\nc")

    assert (await _only(scene.store)).title == "a\ufffdb c"
