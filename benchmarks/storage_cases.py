"""What the storage benchmark measures, operation by operation.

Owns each operation's preparation, its timed call, and how often it is repeated. Knows neither files' making
nor tables.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from agents.usage import Usage
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from benchmarks.storage_files import CONVERSATION, NEEDLE, SMALL

Session = Any


@dataclass
class Ground:
    """An open session and what a case must know of its conversation."""

    session: Session
    last_turn: int
    branches: int
    fork: str = ""


Step = Callable[[Ground], Awaitable[Any]]


@dataclass(frozen=True)
class Case:
    """One operation."""

    name: str
    run: Step
    before: Step | None = None
    """Done before each repetition, untimed."""
    after: Step | None = None
    session: str = CONVERSATION
    touches_all: bool = False
    """Whether it touches every message of the branch, rather than as many rows at every size."""


def _batch(count: int) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": "What is new, and what is to be done about it?"}
        for number in range(count)
    ]


def _usage() -> SimpleNamespace:
    usage = Usage(
        requests=1,
        input_tokens=100,
        output_tokens=20,
        total_tokens=120,
        input_tokens_details=InputTokensDetails(cached_tokens=10, cache_write_tokens=0),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=5),
    )
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=usage))


async def _refill(ground: Ground) -> None:
    await ground.session.add_items(_batch(2))


async def _fork(ground: Ground) -> None:
    ground.fork = await ground.session.create_branch_from_turn(ground.last_turn)


async def _fork_and_leave(ground: Ground) -> None:
    await _fork(ground)
    await ground.session.switch_to_branch("main")


async def _delete(ground: Ground) -> None:
    await ground.session.delete_branch(ground.fork, force=True)


async def _switch(ground: Ground) -> None:
    await ground.session.switch_to_branch("branch-1" if ground.branches > 1 else "main")
    await ground.session.switch_to_branch("main")


CASES = (
    Case("get_items(limit=20)", lambda ground: ground.session.get_items(limit=20)),
    Case("get_items(limit=50)", lambda ground: ground.session.get_items(limit=50)),
    Case("get_items()", lambda ground: ground.session.get_items(), touches_all=True),
    Case("get_items() of 10 beside all", lambda ground: ground.session.get_items(), session=SMALL),
    Case("add_items of 1", lambda ground: ground.session.add_items(_batch(1))),
    Case("add_items of 4", lambda ground: ground.session.add_items(_batch(4))),
    Case("add_items of 100", lambda ground: ground.session.add_items(_batch(100))),
    Case("pop_item", lambda ground: ground.session.pop_item(), before=_refill),
    Case("fork at the last turn", _fork, after=_delete, touches_all=True),
    Case(
        "delete_branch",
        _delete,
        before=_fork_and_leave,
        touches_all=True,
    ),
    Case("list_branches", lambda ground: ground.session.list_branches()),
    Case(
        "list_branches after an append",
        lambda ground: ground.session.list_branches(),
        before=_refill,
        touches_all=True,
    ),
    Case("switch_to_branch, twice", _switch),
    Case(
        "find_turns_by_content", lambda ground: ground.session.find_turns_by_content(NEEDLE), touches_all=True
    ),
    Case("store_run_usage", lambda ground: ground.session.store_run_usage(_usage())),
    Case("get_turn_usage", lambda ground: ground.session.get_turn_usage()),
    Case("get_session_usage", lambda ground: ground.session.get_session_usage()),
)
"""In the order of measuring; the file is as new for each."""


async def timed(case: Case, ground: Ground) -> float:
    """Run one repetition; give its seconds."""
    if case.before is not None:
        await case.before(ground)
    begun = time.perf_counter()
    await case.run(ground)
    seconds = time.perf_counter() - begun
    if case.after is not None:
        await case.after(ground)
    return seconds


async def timed_opening(make_session: Callable[[], Session]) -> float:
    """Open, read one item, close; give the seconds to the item."""
    begun = time.perf_counter()
    session = make_session()
    await session.get_items(limit=1)
    seconds = time.perf_counter() - begun
    session.close()
    return seconds
