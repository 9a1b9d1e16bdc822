"""Where branches hang, whoever made them and whatever became of their parents."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from advchat_storage import Branch
from tests.storage.scenes import CONVERSATION, Scene, sdk_session, user


async def _talk(scene: Scene, turns: int, branch: str = "main", *, stem: str = "q") -> None:
    for number in range(1, turns + 1):
        await scene.ask(f"{stem}{number}", branch=branch)


async def _branch(scene: Scene, name: str) -> Branch:
    async with scene.store.session(CONVERSATION) as session:
        return next(branch for branch in await session.branch_tree() if branch.branch_id == name)


async def test_an_empty_conversation_is_one_root(scene: Scene) -> None:
    assert await scene.places() == [("main", None, None)]


async def test_a_fork_hangs_under_its_source_at_its_first_own_turn(scene: Scene) -> None:
    await _talk(scene, 3)
    await scene.fork(2, name="before")
    await scene.fork(2, name="after", after=True)

    assert await scene.places() == [("main", None, None), ("before", "main", 2), ("after", "main", 3)]
    assert (await _branch(scene, "before")).fork_kind == "before"
    assert (await _branch(scene, "after")).fork_kind == "after"


async def test_a_fork_at_turn_one_is_a_real_branch_under_main(scene: Scene) -> None:
    await _talk(scene, 1)
    await scene.fork(1, name="fresh")

    fresh = await _branch(scene, "fresh")
    assert (fresh.parent, fresh.fork_turn, fresh.message_count) == ("main", 1, 0)


async def test_a_fork_of_a_turn_inherited_from_a_grandparent_hangs_under_who_made_it(scene: Scene) -> None:
    await _talk(scene, 3)
    await scene.fork(3, name="child")
    await _talk(scene, 2, "child", stem="c")
    await scene.fork(2, source="child", name="of-main")
    await scene.fork(3, source="child", name="sibling")
    await scene.fork(4, source="child", name="of-child")

    assert (await scene.places())[2:] == [
        ("of-main", "main", 2),
        ("sibling", "main", 3),
        ("of-child", "child", 4),
    ]


async def test_case_67_children_of_a_deleted_parent_hang_under_the_next_that_shares_their_turns(
    scene: Scene,
) -> None:
    await _talk(scene, 2)
    await scene.fork(2, name="parent")
    await _talk(scene, 3, "parent", stem="p")
    await scene.fork(4, source="parent", name="first")
    await scene.ask("f", branch="first")
    await scene.fork(3, source="parent", name="second")
    await scene.delete("parent")

    # Turn 2 of both was made by the deleted branch; the older of them holds it first now.
    assert await scene.places() == [
        ("main", None, None),
        ("first", "main", 2),
        ("second", "first", 3),
    ]


async def test_children_of_a_binned_parent_are_no_orphans_and_return_with_it(scene: Scene) -> None:
    await _talk(scene, 2)
    await scene.fork(2, name="parent")
    await scene.ask("p", branch="parent")
    await scene.fork(2, source="parent", name="child", after=True)
    await scene.bin("parent")

    assert await scene.places() == [("main", None, None), ("child", "main", 2)]
    async with scene.store.session(CONVERSATION) as session:
        assert [branch.branch_id for branch in await session.binned_branches()] == ["parent"]
        await session.restore_branch("parent")
    assert await scene.places() == [("main", None, None), ("parent", "main", 2), ("child", "parent", 3)]


async def test_a_parent_that_rewrites_its_turns_shares_less(scene: Scene) -> None:
    await _talk(scene, 3)
    await scene.fork(3, name="child", after=True)
    await scene.pop("main", 4)
    await _talk(scene, 2, stem="new")

    assert await scene.places() == [("main", None, None), ("child", "main", 2)]


async def test_a_branch_popped_below_its_fork_point_parts_where_it_ends(scene: Scene) -> None:
    await _talk(scene, 3)
    await scene.fork(3, name="child")
    await scene.pop("child", 2)
    assert await scene.places() == [("main", None, None), ("child", "main", 2)]
    await scene.pop("child", 2)
    assert await scene.places() == [("main", None, None), ("child", "main", 1)]


async def test_equal_and_backward_clocks_change_nothing(scene: Scene, tmp_path: Path) -> None:
    await _talk(scene, 2)
    for name in ("a", "b", "c"):
        await scene.fork(2, name=name)
        await scene.ask(name, branch=name)
    before = await scene.places()
    with sqlite3.connect(scene.store.path) as connection:
        connection.execute("UPDATE message_structure SET created_at = '2001-01-01 00:00:00'")
        connection.execute("UPDATE message_structure SET created_at = '1999-01-01' WHERE branch_id = 'c'")
        connection.execute("UPDATE advchat_branches SET created_at = '2001-01-01T00:00:00.000000+00:00'")
    connection.close()

    assert await scene.places() == before
    assert [name for name, _, _ in before] == ["main", "a", "b", "c"]


async def test_empty_branches_keep_their_order_among_those_the_sdk_makes(scene: Scene) -> None:
    await _talk(scene, 2)
    await scene.fork(1, name="first")
    with sdk_session(scene.store.path) as sdk:
        await sdk.create_branch_from_turn(2, "second")
    await scene.fork(1, name="third")
    await scene.ask("late", branch="first")

    assert [name for name, _, _ in await scene.places()] == ["main", "first", "second", "third"]


async def test_the_tree_of_a_file_that_only_the_sdk_wrote(tmp_path: Path) -> None:
    path = tmp_path / "sdk.db"
    with sdk_session(path) as sdk:
        for number in range(1, 4):
            await sdk.add_items([user(f"q{number}"), {"role": "assistant", "content": "a"}])
        await sdk.create_branch_from_turn(3, "child")
        await sdk.add_items([user("c3"), {"role": "assistant", "content": "a"}, user("c4")])
        await sdk.create_branch_from_turn(4, "grandchild")
        await sdk.add_items([user("g4")])
        await sdk.create_branch_from_turn(2, "of-main")
        await sdk.create_branch_from_turn(1, "root-like")
        await sdk.add_items([user("other")])
    async with Scene.open(path) as scene:
        assert await scene.places() == [
            ("main", None, None),
            ("child", "main", 3),
            ("grandchild", "child", 4),
            ("of-main", "main", 2),
            ("root-like", "main", 1),
        ]
        child = await _branch(scene, "child")
        assert (child.fork_kind, child.user_turns, child.message_count) == ("derived", 4, 7)
        assert child.created_at
        assert child.last_used_at >= child.created_at


async def test_the_tree_is_the_same_after_a_restart_and_after_the_sdk_worked_on_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "conversations.db"
    async with Scene.open(path) as scene:
        await _talk(scene, 3)
        await scene.fork(2, name="ours")
        await scene.ask("o", branch="ours")
        before = await scene.places()
    with sdk_session(path) as sdk:
        await sdk.switch_to_branch("ours")
        await sdk.add_items([user("more")])
    async with Scene.open(path) as scene:
        assert await scene.places() == before
        assert (await _branch(scene, "ours")).user_turns == 3


async def test_a_branch_that_the_sdk_deleted_is_gone(scene: Scene) -> None:
    await _talk(scene, 2)
    await scene.fork(2, name="doomed")
    with sdk_session(scene.store.path) as sdk:
        await sdk.delete_branch("doomed")

    assert await scene.places() == [("main", None, None)]


async def test_own_cost_is_what_was_paid_on_the_branch_for_turns_it_shows(scene: Scene) -> None:
    await scene.ask("one", cost_nano=100, input_tokens=1, output_tokens=1)
    await scene.ask("two", cost_nano=200, input_tokens=1, output_tokens=1)
    await scene.fork(2, name="fork")
    await scene.ask("other two", branch="fork", cost_nano=None)

    assert ((await _branch(scene, "main")).own_cost_nano, (await _branch(scene, "main")).own_cost_at_least) == (
        300,
        False,
    )
    assert ((await _branch(scene, "fork")).own_cost_nano, (await _branch(scene, "fork")).own_cost_at_least) == (
        None,
        True,
    )
    await scene.pop("main", 2)
    assert (await _branch(scene, "main")).own_cost_nano == 100


async def test_turns_before_the_first_user_message_are_shared_too(scene: Scene) -> None:
    async with scene.store.session(CONVERSATION) as session:
        await session.add_items([{"role": "system", "content": "Be brief."}])
    await scene.ask("one")
    await scene.fork(1, name="fork")

    fork = await _branch(scene, "fork")
    assert (fork.parent, fork.fork_turn, fork.message_count, fork.user_turns) == ("main", 1, 1, 0)


async def test_a_branch_tells_the_model_that_answered_last(scene: Scene) -> None:
    await scene.ask("one", model="small")
    await scene.ask("two", model="large")
    await scene.fork(1, name="asked")
    await scene.ask("three", branch="asked", model=None, model_asked="wanted")
    await scene.fork(1, name="silent")

    models = {name: (await _branch(scene, name)).model for name in ("main", "asked", "silent")}
    assert models == {"main": "large", "asked": "wanted", "silent": None}
