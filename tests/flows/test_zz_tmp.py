"""The bill: random conversations in several processes, held against the server's own account."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import RequestRecord, Store
from tests.flows.truth import Answers, User, cost, open_desk, options
from tests.server import ModelServer

ROOT = Path(__file__).parents[2]
STEPS = 60
COUNTS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")

Line = tuple[Any, ...]
"""Model as answered, tokens, nano-dollars."""


def account(server: ModelServer) -> Counter[Line]:
    """What the server told of each request that it billed."""
    return Counter(
        (
            served.model,
            served.usage.input,
            served.usage.cached,
            served.usage.cache_write,
            served.usage.output,
            served.usage.reasoning,
            cost(served.model, served.usage),
        )
        for served in server.account
        if served.told
    )


def ledger(rows: list[RequestRecord]) -> Counter[Line]:
    """What we know of each request that cost anything."""
    return Counter(
        (row.model, *(getattr(row, name) for name in COUNTS), row.cost_nano) for row in rows if row.total_tokens
    )


async def hold_against(server: ModelServer, path: str) -> list[RequestRecord]:
    """Compare the file with the account, request by request and sum by sum; gives the file's requests."""
    expected = account(server)
    async with Store(path) as store:
        rows = await store.requests()
        whole, binned, live = [await store.usage(binned=wanted) for wanted in (None, True, False)]
        days = await store.usage_by("day")
    assert ledger(rows) == expected
    lines = list(expected.elements())
    assert whole.input_tokens == sum(line[1] for line in lines)
    assert whole.cached_tokens == sum(line[2] or 0 for line in lines)
    assert whole.output_tokens == sum(line[4] for line in lines)
    assert whole.total_tokens == sum(line[1] + line[4] for line in lines)
    assert whole.cost_nano == sum(line[6] or 0 for line in lines)
    assert whole.cost_nano == (binned.cost_nano or 0) + (live.cost_nano or 0)
    assert whole.cost_nano == sum(day.usage.cost_nano or 0 for day in days)
    assert len(rows) == whole.requests == binned.requests + live.requests
    return rows


@asynccontextmanager
async def other_user(db: Path, server: ModelServer, *more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that uses the same file; killed at the end at the latest."""
    words = [str(db), server.base_url, "other", str(STEPS // 3), *more]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.flows.truth", *words,
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


@pytest.mark.parametrize(("api", "other_api", "seed"), [("responses", "chat", n) for n in range(3, 9)] + [("chat", "responses", n) for n in range(9, 14)])
async def test_every_token_is_accounted_for(
    db: Path, tmp_path: Path, model_server: ModelServer, api: str, other_api: str, seed: int
) -> None:
    model_server.default = Answers(seed)
    chosen = options(tmp_path)
    desk = open_desk(str(db), model_server.base_url, *chosen, "--api", api)
    try:
        await desk.start()
        async with other_user(db, model_server, *chosen, "--new", "--api", other_api) as other:
            await User(desk, f"user {seed}").use(STEPS)
            assert other.stdout is not None
            assert await other.stdout.readline() == b"waiting\n"
            before = await hold_against(model_server, str(db))
            await desk.close()
            assert await hold_against(model_server, str(db)) == before, "a restart changes nothing"
            assert len(before) == len(model_server.requests) - 1, "all but what the other still waits for"
            other.kill()
            await other.wait()
    finally:
        await desk.close()
    after = await hold_against(model_server, str(db))
    assert len(after) == len(model_server.requests)
    assert (after[-1].status, after[-1].total_tokens, after[-1].cost_nano) == ("stopped", None, None)
    assert await hold_against(model_server, str(db)) == after, "another start changes nothing"
    assert len({row.model_asked for row in after}) > 3
    assert any(row.tools for row in after)
    assert {row.status for row in after} >= {"completed", "stopped", "failed"}
