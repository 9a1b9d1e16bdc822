"""A random workload that tells what it is about to do and what has been acknowledged.

Owns the operations, run by a child process against the session, and the same operations on a plain model
of a conversation, run by the test. Knows nothing of the file's tables.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.models import RequestRecord

Operation = tuple[str, Any]


@dataclass
class Expected:
    """What a conversation holds, as far as the operations of the workload go."""

    branches: dict[str, list[str]] = field(default_factory=lambda: {"main": []})
    requests: dict[str, tuple[int, int]] = field(default_factory=dict)

    def after(self, operation: Operation) -> Expected:
        """Give what it holds once the operation is done."""
        kind, value = operation
        done = deepcopy(self)
        if kind == "add":
            branch, texts = value
            done.branches[branch].extend(texts)
        elif kind == "pop":
            done.branches[value].pop()
        elif kind == "fork":
            source, turn, name = value
            done.branches[name] = self.branches[source][: _start_of(self.branches[source], turn)]
        elif kind == "delete":
            del done.branches[value]
        elif kind == "request":
            name, tokens = value
            done.requests[name] = tokens
        return done


def _start_of(texts: list[str], turn: int) -> int:
    users = [index for index, text in enumerate(texts) if text.startswith("user")]
    return users[turn - 1]


def choose(expected: Expected, rng: random.Random, tag: str) -> Operation:
    """Choose an operation that makes sense."""
    branch = rng.choice(list(expected.branches))
    texts = expected.branches[branch]
    others = [name for name in expected.branches if name != "main"]
    kind = rng.choices(["add", "request", "fork", "pop", "delete"], [6, 3, 2, 1, 1 if len(others) < 4 else 4])[
        0
    ]
    if kind == "request":
        return "request", (tag, (rng.randrange(1000), rng.randrange(1000)))
    if kind == "fork" and any(text.startswith("user") for text in texts):
        turns = sum(text.startswith("user") for text in texts)
        return "fork", (branch, rng.randint(1, turns), f"branch-{tag}")
    if kind == "pop" and len(texts) > 1:
        return "pop", branch
    if kind == "delete" and others:
        return "delete", rng.choice(others)
    words = [f"{rng.choice(['user', 'assistant'])} {tag}.{number}" for number in range(rng.randint(1, 5))]
    return "add", (branch, words)


def item(text: str) -> dict[str, str]:
    """Give the message for a text of the model."""
    return {"role": text.split(maxsplit=1)[0], "content": text}


async def perform(session: AdvancedSQLiteSession, operation: Operation) -> None:
    """Do an operation."""
    kind, value = operation
    if kind == "add":
        branch, texts = value
        await session.on_branch(branch).add_items([item(text) for text in texts])
    elif kind == "pop":
        await session.on_branch(value).pop_item()
    elif kind == "fork":
        source, turn, name = value
        await session.fork(turn, source=source, branch_id=name)
    elif kind == "delete":
        await session.delete_branch(value)
    else:
        name, tokens = value
        await session.record_request(record(name, *tokens))


def record(name: str, input_tokens: int, output_tokens: int, branch: str = "main") -> RequestRecord:
    """Give a ledger entry."""
    moment = "2026-01-01T00:00:00.000000+00:00"
    return RequestRecord(
        request_id=name,
        run_id=name,
        branch_id=branch,
        turn=1,
        agent=None,
        model_asked="m",
        model="m",
        provider=None,
        api="responses",
        started_at=moment,
        first_token_at=None,
        finished_at=moment,
        status="completed",
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
    )


def usage_result(input_tokens: int, output_tokens: int) -> Any:
    """Give what ``store_run_usage`` reads of a result."""
    usage: Mapping[str, Any] = {
        "requests": 1,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "input_tokens_details": None,
        "output_tokens_details": None,
    }
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=SimpleNamespace(**usage)))


def work_until_killed(pipe: Connection, path: str, seed: int, expected: Expected) -> None:
    """Work without end: tell each operation before it is begun, and again once it is acknowledged."""
    rng = random.Random(seed)

    async def work() -> None:
        nonlocal expected
        session = AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True)
        number = 0
        while True:
            number += 1
            operation = choose(expected, rng, f"{seed}-{number}")
            pipe.send(("begin", operation))
            await perform(session, operation)
            pipe.send(("done", operation))
            expected = expected.after(operation)

    asyncio.run(work())


def append_fork_delete(pipe: Connection, path: str, name: str, count: int) -> None:
    """Append, fork and delete on one conversation, telling what was acknowledged."""
    rng = random.Random(name)

    async def work() -> None:
        session = AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True)
        mine: list[str] = []
        for number in range(count):
            kind = rng.choices(["add", "fork", "delete"], [8, 1, 1])[0]
            if kind == "fork":
                mine.append(await session.fork(rng.randint(1, 3), source="main"))
                pipe.send(("fork", mine[-1]))
            elif kind == "delete" and mine:
                await session.delete_branch(mine.pop(rng.randrange(len(mine))))
                pipe.send(("delete", None))
            else:
                text = f"{name} {number}"
                await session.add_items(
                    [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
                )
                pipe.send(("add", text))
        pipe.send(("left", mine))
        await session.close()

    try:
        asyncio.run(work())
    except Exception as error:
        pipe.send(("error", repr(error)))
        raise
    finally:
        pipe.close()
