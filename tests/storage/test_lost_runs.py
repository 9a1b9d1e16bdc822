"""What a killed process was asking: a request of unknown cost, and no sum without a sign of it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import RequestRecord, Store
from tests.storage.scenes import CONVERSATION, Scene, request

ROOT = Path(__file__).parents[2]


async def _kill_while_answering(scene: Scene, *rows: RequestRecord) -> None:
    """Have another process begin the run ``lost``, put down what it had recorded, and kill it."""
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
    for row in rows:
        await scene.store.record(CONVERSATION, replace(row, run_id="lost"))
    async with Store(scene.store.path) as other:
        assert (await other.usage()).requests == len(rows), "a run that lives is not lost"
    child.kill()
    await child.wait()


async def _reopened(scene: Scene) -> list[RequestRecord]:
    """Give the ledger as a program sees it that starts now."""
    async with Store(scene.store.path) as store:
        return await store.requests()


async def test_a_request_that_was_on_its_way_is_a_row_of_unknown_cost(scene: Scene) -> None:
    await _kill_while_answering(scene)
    (row,) = await _reopened(scene)
    assert (row.run_id, row.branch_id, row.turn, row.status) == ("lost", "main", 1, "stopped")
    assert (row.input_tokens, row.output_tokens, row.total_tokens, row.cost_nano) == (None,) * 4
    assert row.estimated_output_tokens == 5, "19 characters of answer and reasoning"

    usage = await scene.store.usage()
    assert (usage.requests, usage.cost_nano, usage.at_least) == (1, None, True)
    assert (await scene.store.turn_headers(CONVERSATION, "main", 0, 9))[0].usage == usage


async def test_it_counts_once_however_often_the_file_is_opened(scene: Scene) -> None:
    await _kill_while_answering(scene)
    for _ in range(3):
        assert len(await _reopened(scene)) == 1
    await scene.store.resolve_interrupted("lost", "keep")
    assert len(await _reopened(scene)) == 1


@pytest.mark.parametrize("decision", ["keep", "discard"])
async def test_a_store_that_was_open_all_along_learns_of_it(scene: Scene, decision: str) -> None:
    await _kill_while_answering(scene)
    if decision == "keep":
        assert await scene.store.resolve_interrupted("lost", "keep")
    else:
        await scene.ask("Next", input_tokens=1, output_tokens=1, cost_nano=9)
    usage = await scene.store.usage()
    assert (usage.at_least, "cost_nano" in usage.unknown) == (True, True)


@pytest.mark.parametrize(
    ("recorded", "asking"),
    [
        ({"status": "completed", "tools": ("look",)}, True),
        ({"status": "failed"}, True),
        ({"status": "completed"}, False),
        ({"status": "stopped"}, False),
        ({"status": "refused"}, False),
    ],
)
async def test_a_run_that_had_its_last_answer_was_asking_nothing(
    scene: Scene, recorded: dict[str, Any], asking: bool
) -> None:
    row = request(input_tokens=10, output_tokens=5, cost_nano=7, **recorded)
    await _kill_while_answering(scene, row)
    rows = await _reopened(scene)
    assert [row.run_id for row in rows] == ["lost"] * (2 if asking else 1)
    usage = await scene.store.usage()
    assert (usage.cost_nano, usage.at_least) == (7, asking)
    if asking:
        assert (rows[1].model_asked, rows[1].provider, rows[1].model) == ("gpt-test", "openai", None)
        assert rows[1].estimated_output_tokens is None


async def test_an_agent_that_was_asked_by_another_is_not_the_end(scene: Scene) -> None:
    outer = request(tools=("ask_helper",), cost_nano=1, input_tokens=1, output_tokens=1)
    helper = request(agent="Helper", cost_nano=2, input_tokens=1, output_tokens=1)
    await _kill_while_answering(scene, outer, helper)
    assert [row.agent for row in await _reopened(scene)] == ["Assistant", "Helper", "Helper"]
    assert (await scene.store.usage()).at_least
