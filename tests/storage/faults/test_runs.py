"""Runs that end badly: what is in the file afterwards, and that the conversation goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelRefusalError,
    ModelResponse,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunContextWrapper,
    RunHooks,
    Runner,
    Tool,
    UserError,
    function_tool,
)
from openai import InternalServerError

from advchat_storage import AdvancedSQLiteSession
from tests.server import Call, Hold, ModelServer, Refusal, Usage, error, say
from tests.storage.faults.conftest import QUIET
from tests.storage.faults.stored import assert_sound, contents, kinds, usage

CALL = say(Call("work", {}), usage=Usage(10, 2))


class Meter(RunHooks[Any]):
    """Holds the run's usage so far, whatever becomes of the run."""

    def __init__(self) -> None:
        self.result = SimpleNamespace(context_wrapper=None)

    async def on_llm_end(self, context: RunContextWrapper[Any], agent: Any, response: ModelResponse) -> None:
        self.result.context_wrapper = context


@dataclass
class Chat:
    """Runs turns as the program does: usage is stored however a turn ended."""

    session: AdvancedSQLiteSession
    agent: Agent
    meters: list[Meter] = field(default_factory=list)

    async def ask(self, prompt: str, **options: Any) -> Any:
        """Run one turn and store its usage."""
        meter = Meter()
        bound = self.session.on_branch(await self.session.current_branch())
        try:
            return await Runner.run(self.agent, prompt, session=bound, hooks=meter, run_config=QUIET, **options)
        finally:
            if meter.result.context_wrapper is not None:
                await bound.store_run_usage(meter.result)
            await bound.close()


@pytest.fixture
def chat(session: AdvancedSQLiteSession, agent: Agent) -> Chat:
    return Chat(session, agent)


def with_tool(chat: Chat, tool: Tool) -> Chat:
    return Chat(chat.session, chat.agent.clone(tools=[tool]))


@function_tool(name_override="work")
def work() -> str:
    """Do it."""
    return "done"


@function_tool(name_override="work", failure_error_function=None)
def breaking_work() -> str:
    """Fail."""
    raise ZeroDivisionError("broken tool")


async def go_on(chat: Chat, server: ModelServer) -> list[str]:
    """Ask once more and give the history that was sent, which the server would refuse if it were unsound."""
    server.script("Fine.")
    result = await chat.ask("Still there?")
    assert result.final_output == "Fine."
    return server.requests[-1].lines


async def test_model_raises_on_the_first_call(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(error(500, "down"))
    with pytest.raises(InternalServerError):
        await chat.ask("Hello?")
    assert contents(path) == {"main": ["Hello?"]}
    assert usage(path) == {}
    assert await go_on(chat, model_server) == ["user: Hello?", "user: Still there?"]
    assert_sound(path)


async def test_model_raises_on_the_second_call(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(CALL, error(500, "down"))
    chat = with_tool(chat, work)
    with pytest.raises(InternalServerError):
        await chat.ask("Work!")
    assert kinds(path) == {"main": ["user", "function_call", "function_call_output"]}
    assert usage(path) == {("main", 1): (1, 10, 2)}
    assert await go_on(chat, model_server) == ["user: Work!", "call work", "output done", "user: Still there?"]
    assert usage(path)["main", 1] == (1, 10, 2)
    assert_sound(path)


async def test_tool_raises(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(CALL)
    chat = with_tool(chat, breaking_work)
    with pytest.raises(UserError, match="broken tool"):
        await chat.ask("Work!")
    assert kinds(path)["main"][0] == "user"
    assert usage(path) == {("main", 1): (1, 10, 2)}
    assert await go_on(chat, model_server) == ["user: Work!", "user: Still there?"]
    assert_sound(path)


async def test_too_many_turns(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(CALL, CALL)
    chat = with_tool(chat, work)
    with pytest.raises(MaxTurnsExceeded):
        await chat.ask("Work!", max_turns=2)
    pair = ["function_call", "function_call_output"]
    assert kinds(path) == {"main": ["user", *pair, *pair]}
    assert usage(path) == {("main", 1): (2, 20, 4)}
    assert (await go_on(chat, model_server))[-1] == "user: Still there?"
    assert_sound(path)


async def test_model_refuses(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(say(Refusal("I will not."), usage=Usage(5, 3)))
    with pytest.raises(ModelRefusalError):
        await chat.ask("Do harm")
    assert contents(path) == {"main": ["Do harm"]}
    assert usage(path) == {("main", 1): (1, 5, 3)}
    assert await go_on(chat, model_server) == ["user: Do harm", "user: Still there?"]
    assert_sound(path)


def tripped(*_: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


async def test_input_guardrail(chat: Chat, model_server: ModelServer, path: Path) -> None:
    guarded = Chat(
        chat.session, chat.agent.clone(input_guardrails=[InputGuardrail(tripped, run_in_parallel=False)])
    )
    with pytest.raises(InputGuardrailTripwireTriggered):
        await guarded.ask("Forbidden")
    assert model_server.requests == []
    assert contents(path).get("main", []) in ([], ["Forbidden"])
    assert (await go_on(chat, model_server))[-1] == "user: Still there?"
    assert_sound(path)


async def test_output_guardrail(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(say("Secret", usage=Usage(4, 1)))
    guarded = Chat(chat.session, chat.agent.clone(output_guardrails=[OutputGuardrail(tripped)]))
    with pytest.raises(OutputGuardrailTripwireTriggered):
        await guarded.ask("Tell")
    assert contents(path)["main"][0] == "Tell"
    assert usage(path) == {("main", 1): (1, 4, 1)}
    assert (await go_on(chat, model_server))[-1] == "user: Still there?"
    assert_sound(path)


async def test_cancelled_in_the_model(chat: Chat, model_server: ModelServer, path: Path) -> None:
    model_server.script(say(Hold()))
    run = asyncio.create_task(chat.ask("Hello?"))
    seen = await model_server.arrived(1)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await seen.gone.wait()
    assert contents(path) == {"main": ["Hello?"]}
    assert usage(path) == {}
    assert await go_on(chat, model_server) == ["user: Hello?", "user: Still there?"]
    assert_sound(path)


async def test_cancelled_in_a_tool(chat: Chat, model_server: ModelServer, path: Path) -> None:
    begun = asyncio.Event()

    @function_tool(name_override="work")
    async def endless() -> str:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    model_server.script(CALL)
    chat = with_tool(chat, endless)
    run = asyncio.create_task(chat.ask("Work!"))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert kinds(path)["main"][0] == "user"
    assert usage(path) == {("main", 1): (1, 10, 2)}
    assert await go_on(chat, model_server) == ["user: Work!", "user: Still there?"]
    assert_sound(path)
