"""Files that the SDK's own classes made, and an upgrade that was interrupted."""

from __future__ import annotations

import asyncio
import importlib
import random
import shutil
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.store import Store
from tests.storage.faults.processes import started
from tests.storage.faults.stored import assert_sound, plain
from tests.storage.faults.workload import usage_result

SdkSession = importlib.import_module("agents.extensions.memory").AdvancedSQLiteSession


def turns(first: int, last: int) -> list[Any]:
    return [
        item
        for number in range(first, last + 1)
        for item in (
            {"role": "user", "content": f"question {number}"},
            {"role": "assistant", "content": f"answer {number}"},
        )
    ]


def names(items: list[Any]) -> list[str]:
    return [item["content"] for item in items]


async def test_the_plain_class_made_it(path: Path) -> None:
    made = SQLiteSession("c", path)
    await made.add_items(turns(1, 3))
    made.close()

    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        assert await session.get_items() == turns(1, 3)
        assert [turn["content"] for turn in await session.get_conversation_turns()] == [
            "question 1",
            "question 2",
            "question 3",
        ]
        await session.add_items(turns(4, 4))
        branch = await session.create_branch_from_turn(2)
        assert await session.get_items() == turns(1, 1)
        await session.delete_branch(branch, force=True)
        assert await session.pop_item() == turns(4, 4)[1]
        assert await session.get_items() == turns(1, 4)[:-1]
    assert_sound(path)

    again = SQLiteSession("c", path)
    assert await again.get_items() == turns(1, 4)[:-1]
    again.close()


async def made_by_the_sdk(path: Path) -> None:
    made = SdkSession(session_id="c", db_path=path, create_tables=True)
    await made.add_items(turns(1, 3))
    await made.store_run_usage(sdk_usage(100, 20))
    await made.create_branch_from_turn(3, "plan")
    await made.add_items(turns(9, 9))
    await made.store_run_usage(sdk_usage(50, 5))
    made.close()


def sdk_usage(input_tokens: int, output_tokens: int) -> Any:
    from agents.usage import Usage
    from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

    result = usage_result(input_tokens, output_tokens)
    result.context_wrapper.usage = Usage(
        requests=1,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
    )
    return result


async def test_the_advanced_class_made_it(path: Path) -> None:
    await made_by_the_sdk(path)
    async with AdvancedSQLiteSession(session_id="c", db_path=path) as session:
        assert await session.get_items() == turns(1, 3)
        assert await session.get_items(branch_id="plan") == turns(1, 2) + turns(9, 9)
        tree = await session.branch_tree()
        assert [(branch.branch_id, branch.parent, branch.fork_turn) for branch in tree] == [
            ("main", None, None),
            ("plan", "main", 3),
        ]
        assert (await session.get_session_usage() or {})["total_tokens"] == 175
    async with Store(path) as store:
        usage = await store.usage(conversation_id="c")
        assert (usage.requests, usage.input_tokens, usage.output_tokens) == (2, 150, 25)
        hits = await store.search("question 9")
        assert [(hit.conversation_id, hit.branch_id, hit.turn) for hit in hits] == [("c", "plan", 3)]
    assert_sound(path)

    back = SdkSession(session_id="c", db_path=path, create_tables=True)
    await back.switch_to_branch("plan")
    assert await back.get_items() == turns(1, 2) + turns(9, 9)
    back.close()


def _open(pipe: Connection, path: str) -> None:
    async def read() -> int:
        async with AdvancedSQLiteSession(session_id="c", db_path=path) as session:
            return len(await session.get_items())

    pipe.send("begin")
    pipe.send(asyncio.run(read()))


@pytest.fixture
def big_sdk_file(path: Path) -> Path:
    """A file by the SDK's class with enough in it for its adoption to take a while."""

    async def make() -> None:
        await made_by_the_sdk(path)
        made = SdkSession(session_id="c", db_path=path, create_tables=True)
        await made.add_items(turns(10, 1500))
        made.close()

    asyncio.run(make())
    return path


async def test_case_63_interrupted_upgrade(big_sdk_file: Path, tmp_path: Path) -> None:
    rng = random.Random(63)
    interrupted = 0
    for number in range(12):
        copy = tmp_path / f"copy-{number}.db"
        shutil.copy(big_sdk_file, copy)
        with started(_open, str(copy)) as (process, pipe):
            assert pipe.recv() == "begin"
            until = time.perf_counter() + rng.random() * 0.02
            while time.perf_counter() < until:
                pass
            interrupted += not pipe.poll()
            process.kill()
        async with AdvancedSQLiteSession(session_id="c", db_path=copy) as session:
            assert await session.get_items() == turns(1, 3) + turns(10, 1500)
            assert await session.get_items(branch_id="plan") == turns(1, 2) + turns(9, 9)
            assert (await session.get_session_usage() or {})["total_tokens"] == 175
        async with Store(copy) as store:
            assert (await store.usage(conversation_id="c")).total_tokens == 175
        assert_sound(copy)
        with plain(copy) as connection:
            assert connection.execute("SELECT count(*) FROM advchat_migrations").fetchone()[0] >= 1
    assert interrupted > 0, "some process was killed before it was done"
