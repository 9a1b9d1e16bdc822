"""Composer text, kept per branch."""

from __future__ import annotations

from pathlib import Path

from tests.storage.scenes import CONVERSATION, Scene


async def test_a_draft_survives_a_restart_per_branch(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Scene.open(path) as scene:
        await scene.ask("one")
        await scene.fork(1, name="fork")
        await scene.store.save_draft(CONVERSATION, "main", "for main\n  twice")
        await scene.store.save_draft(CONVERSATION, "fork", "for the fork")
    async with Scene.open(path) as scene:
        assert await scene.store.draft(CONVERSATION, "main") == "for main\n  twice"
        assert await scene.store.draft(CONVERSATION, "fork") == "for the fork"
        assert await scene.store.draft("another", "main") == ""


async def test_a_newer_draft_replaces_and_an_empty_one_forgets(scene: Scene) -> None:
    await scene.store.save_draft(CONVERSATION, "main", "old")
    await scene.store.save_draft(CONVERSATION, "main", "new")
    assert await scene.store.draft(CONVERSATION, "main") == "new"
    await scene.store.save_draft(CONVERSATION, "main", "")
    assert await scene.store.draft(CONVERSATION, "main") == ""


async def test_sending_clears_the_draft_of_that_branch_alone(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="fork")
    for branch in ("main", "fork"):
        await scene.store.save_draft(CONVERSATION, branch, branch)
    await scene.ask("two")

    assert await scene.store.draft(CONVERSATION, "main") == ""
    assert await scene.store.draft(CONVERSATION, "fork") == "fork"


async def test_a_deleted_branch_takes_its_draft_along(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="fork")
    await scene.store.save_draft(CONVERSATION, "fork", "gone")
    await scene.delete("fork")

    assert await scene.store.draft(CONVERSATION, "fork") == ""


async def test_odd_text_comes_back_usable(scene: Scene) -> None:
    await scene.store.save_draft(CONVERSATION, "main", "nul \0 pair \ud83d\ude00 lone \ud800 \u202e")

    assert await scene.store.draft(CONVERSATION, "main") == "nul \0 pair \U0001f600 lone \ufffd \u202e"
