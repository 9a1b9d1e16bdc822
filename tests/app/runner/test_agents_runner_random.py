"""Random conversations: every history is one that providers accept, and the ledger equals the account."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from advchat.config import Api
from advchat.events import TextDelta
from tests.app.runner.kit import Chat, MakeChat
from tests.server import (
    Answer,
    Call,
    Cut,
    Drop,
    Fail,
    Hold,
    ModelServer,
    Part,
    Reasoning,
    Refusal,
    Text,
    Usage,
    error,
    rate_limited,
    say,
)

TOOLS = '''
from agents import Agent, function_tool

@function_tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

@function_tool(failure_error_function=None)
def boom() -> str:
    """Fails."""
    raise RuntimeError("boom")

agent = Agent(name="Random", tools=[look, boom])
'''


def _usage(chance: random.Random) -> Usage | None:
    if chance.random() < 0.15:
        return None
    given = chance.randint(1, 5000)
    output = chance.randint(1, 900)
    return Usage(
        given, output, cached=chance.randint(0, given), cache_write=0, reasoning=chance.randint(0, output)
    )


def _ending(chance: random.Random) -> list[Answer]:
    """The answer that ends a turn, in whichever way."""
    thought: list[Part] = [Reasoning("Hm", encrypted="z")] if chance.random() < 0.4 else []
    usage = _usage(chance)
    words = Text("word " * chance.randint(1, 9), size=5)
    kind = chance.randrange(10)
    endings: dict[int, list[Answer]] = {
        0: [say(*thought, words, Hold())],
        1: [say(*thought, Hold())],
        2: [say(*thought, words, Cut())],
        3: [say(*thought, words, Drop())],
        4: [say(*thought, words, Fail())],
        5: [say(*thought, words, finish="length", usage=usage)],
        6: [say(*thought, words, finish="content_filter", usage=usage)],
        7: [say(*thought, Refusal("No."), usage=usage)],
        8: [error(400, "refused")],
        9: [say(*thought, words, Call("boom"), usage=usage)],
    }
    return endings[kind] if chance.random() < 0.6 else [say(*thought, words, usage=usage)]


def _turn(chance: random.Random) -> list[Answer]:
    answers: list[Answer] = []
    for _ in range(chance.choice([0, 0, 1, 2])):
        calls = [Call("look", {"at": str(n)}) for n in range(chance.randint(1, 2))]
        thought: list[Part] = [Reasoning("So")] if chance.random() < 0.4 else []
        answers.append(say(*thought, *calls, usage=_usage(chance)))
    if chance.random() < 0.1:
        answers.append(rate_limited(0))
    return [*answers, *_ending(chance)]


async def _one(chat: Chat, server: ModelServer, answers: list[Answer], prompt: str) -> None:
    """Answer one prompt; a stream that the server holds is stopped."""
    server.script(*answers)
    held = any(isinstance(part, Hold) for part in getattr(answers[-1], "parts", ()))
    answer = chat.start(prompt)
    if held:
        await server.arrived(len(server.requests) + len(answers))
        if any(isinstance(part, Text) for part in getattr(answers[-1], "parts", ())):
            await chat.saw(TextDelta)
        chat.runner.stop(chat.run_id)
    await answer


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize("seed", range(4))
async def test_ledger_and_history_hold(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path, api: Api, seed: int
) -> None:
    chance = random.Random(f"{api} {seed}")
    file = tmp_path / "random_agent.py"
    file.write_text(TOOLS)
    chat = await make_chat(api=api, agent=f"{file}:agent")
    for number in range(25):
        if number and chance.random() < 0.15:
            session = chat.session()
            turns = await session.get_conversation_turns()
            turn = chance.choice(turns)["turn"]
            chat.branch = await session.fork(turn, kind=chance.choice(["before", "after"]))
            await session.close()
        await _one(chat, model_server, _turn(chance), f"Prompt {number}")
    bad = [seen.body for seen in model_server.requests if seen.fault is not None]
    assert bad == []
    told = [served for served in model_server.account if served.told]
    rows = await chat.store.requests(conversation_id=chat.conversation)
    known = [row for row in rows if row.total_tokens]
    assert sum(row.input_tokens or 0 for row in known) == sum(served.usage.input for served in told)
    assert sum(row.cached_tokens or 0 for row in known) == sum(served.usage.cached or 0 for served in told)
    assert sum(row.output_tokens or 0 for row in known) == sum(served.usage.output for served in told)
    assert len(known) == len(told)
    assert len(rows) == len(model_server.requests)
