"""Runs in the file: begun and ended as one, and told apart when their process is lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from advchat_storage import BranchBusyError, JournalEntry, processes
from advchat_storage.processes import Process, alive, this_process
from tests.storage.scenes import CONVERSATION, Scene, user

ROOT = Path(__file__).parents[2]


async def _begin(scene: Scene, run: str, *, branch: str = "main", prompt: str = "Hello") -> tuple[int, int]:
    return await scene.store.begin_run(
        run_id=run, conversation_id=CONVERSATION, branch_id=branch, prompt=prompt, item=user(prompt)
    )


async def _items(scene: Scene, branch: str = "main") -> list[object]:
    async with scene.store.session(CONVERSATION, branch_id=branch) as session:
        return list(await session.get_items())


async def _status(scene: Scene, branch: str = "main") -> list[str]:
    return [header.status for header in await scene.store.turn_headers(CONVERSATION, branch, 0, 99)]


@asynccontextmanager
async def _other_process(scene: Scene) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a program that has begun a run and journaled half an answer; kill it at the end at the latest."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.storage.lost_process",
        scene.store.path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"begun\n"
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def test_a_run_begins_with_its_prompt_on_disk(scene: Scene) -> None:
    await scene.store.save_draft(CONVERSATION, "main", "Hello")
    turn, message = await _begin(scene, "run")

    assert turn == 1
    assert await _items(scene) == [user("Hello")]
    assert await _status(scene) == ["running"]
    assert await scene.store.draft(CONVERSATION, "main") == ""
    (shown,) = await scene.store.turns(CONVERSATION, "main", 0, 1)
    assert (shown.message_id, shown.item_ids) == (message, (message,))
    assert await scene.store.interrupted() == []


async def test_a_run_that_cannot_begin_leaves_nothing(scene: Scene) -> None:
    await scene.store.save_draft(CONVERSATION, "gone", "Hello")
    with pytest.raises(ValueError, match="does not exist"):
        await _begin(scene, "run", branch="gone")
    await _begin(scene, "same")
    with pytest.raises(sqlite3.IntegrityError):
        await _begin(scene, "same", prompt="Again")

    assert await _items(scene) == [user("Hello")]
    assert await scene.store.draft(CONVERSATION, "gone") == "Hello"


async def test_a_run_that_ended_has_its_status_and_no_journal(scene: Scene) -> None:
    await _begin(scene, "run")
    assert await scene.store.journal("run", partial="Half")
    assert await scene.store.end_run("run", "failed", "The key was refused")

    assert await _status(scene) == ["failed"]
    (turn,) = await scene.store.turns(CONVERSATION, "main", 0, 1)
    assert turn.error == "The key was refused"
    assert not await scene.store.end_run("run", "completed")
    assert not await scene.store.journal("run", partial="More")
    assert await _status(scene) == ["failed"]


async def test_a_status_is_shared_by_every_branch_that_shows_the_turn(scene: Scene) -> None:
    await _begin(scene, "run")
    await scene.store.end_run("run", "stopped")
    await scene.fork(1, name="fork", after=True)

    assert await _status(scene, "fork") == ["stopped"]


async def test_a_living_process_is_never_taken_for_lost(scene: Scene) -> None:
    async with _other_process(scene):
        assert await scene.store.interrupted() == []
        assert await _status(scene) == ["running"]


async def test_case_58_two_programs_never_answer_on_one_branch_at_once(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="free", after=True)
    async with _other_process(scene) as child:
        with pytest.raises(BranchBusyError, match=rf"process {child.pid}\)") as refusal:
            await _begin(scene, "mine")
        assert scene.store.path in str(refusal.value)
        await _begin(scene, "mine", branch="free")


async def test_what_a_killed_process_had_is_offered(scene: Scene) -> None:
    async with _other_process(scene) as child:
        child.kill()
        await child.wait()
        (lost,) = await scene.store.interrupted(CONVERSATION)

    assert (lost.run_id, lost.branch_id, lost.turn) == ("lost", "main", 1)
    assert (lost.prompt, lost.partial, lost.reasoning) == ("Tell me", "Half an ans", "thinking")
    assert not lost.alive
    assert await _status(scene) == ["interrupted"]
    assert await scene.store.interrupted("another") == []


@pytest.mark.parametrize("choice", ["keep", "discard"])
async def test_a_lost_answer_is_kept_or_discarded(scene: Scene, choice: str) -> None:
    async with _other_process(scene) as child:
        child.kill()
        await child.wait()
    assert await scene.store.resolve_interrupted("lost", "keep" if choice == "keep" else "discard")

    kept = [{"role": "assistant", "content": "Half an ans"}] if choice == "keep" else []
    assert await _items(scene) == [user("Tell me"), *kept]
    assert await _status(scene) == ["interrupted"]
    assert await scene.store.interrupted() == []
    assert not await scene.store.resolve_interrupted("lost", "keep")


async def test_a_new_prompt_keeps_the_lost_answer_before_it(scene: Scene) -> None:
    async with _other_process(scene) as child:
        child.kill()
        await child.wait()
    await _begin(scene, "next", prompt="Go on")

    assert await _items(scene) == [
        user("Tell me"),
        {"role": "assistant", "content": "Half an ans"},
        user("Go on"),
    ]
    assert await _status(scene) == ["interrupted", "running"]


async def test_a_lost_run_of_a_turn_that_is_gone_is_not_offered(scene: Scene) -> None:
    async with _other_process(scene) as child:
        child.kill()
        await child.wait()
    await scene.pop("main")

    assert await scene.store.interrupted() == []
    assert await scene.store.resolve_interrupted("lost", "keep")
    assert await _items(scene) == []


async def test_a_lost_answer_never_lands_behind_newer_turns(scene: Scene) -> None:
    async with _other_process(scene) as child:
        child.kill()
        await child.wait()
    async with scene.store.session(CONVERSATION, branch_id="main") as session:
        await session.add_items([user("By another program")])
    assert await scene.store.resolve_interrupted("lost", "keep")

    assert await _items(scene) == [user("Tell me"), user("By another program")]


async def test_a_run_of_this_process_cannot_be_resolved_as_lost(scene: Scene) -> None:
    await _begin(scene, "mine")

    assert not await scene.store.resolve_interrupted("mine", "discard")
    assert await _status(scene) == ["running"]


async def test_a_partial_answer_of_odd_text_is_kept(scene: Scene) -> None:
    await _begin(scene, "run")
    await scene.store.journal("run", partial="a\ud800b\0c")
    with sqlite3.connect(scene.store.path) as connection:
        connection.execute("UPDATE advchat_journal SET pid = 0")
    connection.close()

    (lost,) = await scene.store.interrupted()
    assert isinstance(lost, JournalEntry)
    assert lost.partial == "a\ufffdb\0c"


def test_a_process_is_known_by_more_than_its_number() -> None:
    mine = this_process()
    assert mine.pid == os.getpid()
    assert alive(mine, last_sign="2001-01-01T00:00:00+00:00")
    if mine.started:
        assert not alive(Process(mine.pid, mine.host, "another start"), last_sign="2001-01-01T00:00:00+00:00")


def test_a_process_elsewhere_lives_while_it_gives_signs() -> None:
    elsewhere = Process(1, "another machine", "")
    assert alive(elsewhere, last_sign=_ago(processes.ELSEWHERE_SECONDS / 2))
    assert not alive(elsewhere, last_sign=_ago(processes.ELSEWHERE_SECONDS * 2))


def _ago(seconds: float) -> str:
    from datetime import UTC, datetime, timedelta

    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
