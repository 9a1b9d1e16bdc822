"""Runs that are stopped: what is told, what is kept, and what the next request holds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from advchat.config import Api
from advchat.events import ReasoningDelta, ToolFinished, ToolStarted, Waiting
from advchat.models.scope import Patience
from tests.app.runner.kit import MakeChat
from tests.server import Call, Hold, ModelServer, Reasoning, Text, Wait, rate_limited, say

APIS = pytest.mark.parametrize("api", ["responses", "chat"])

TOOLS = '''
import asyncio
import threading
from agents import Agent, function_tool

RELEASE = threading.Event()

@function_tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

@function_tool
async def hang() -> str:
    """Never ends."""
    await asyncio.get_running_loop().create_future()
    return "never"

@function_tool
def block() -> str:
    """Blocks its thread."""
    RELEASE.wait(20)
    return "late"

@function_tool
async def cling() -> str:
    """Does not let itself be cancelled."""
    for _ in range(4):
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            pass
    return "clung"

agent = Agent(name="Slow", tools=[look, hang, block, cling])
'''


@pytest.fixture
def slow_agent(tmp_path: Path) -> str:
    file = tmp_path / "slow.py"
    file.write_text(TOOLS)
    return f"{file}:agent"


@APIS
async def test_case_33_esc_ends_a_stream_that_the_server_holds(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Text("par", size=3), Hold()))
    answer = chat.start("Hi")
    await chat.said("par")
    chat.runner.stop(chat.run_id)
    result = await answer  # The server holds on until the client leaves: its help is not needed.
    assert (result.outcome, result.error, result.partial) == ("stopped", None, "par")
    await model_server.requests[0].gone.wait()


async def test_case_33_silence_is_given_up(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(patience=Patience(idle_seconds=0.05))
    model_server.script(say(Text("par", size=3), Hold()))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial) == ("interrupted", "par")
    assert result.error == (
        "Nothing came from the model for 0.05 seconds, so the request was given up. "
        "Retry, or raise idle_timeout in the config."
    )


@APIS
async def test_case_40_a_stopped_answer_is_kept_and_sent(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Text("Half an ans", size=11), Hold()))
    answer = chat.start("Tell me")
    await chat.said("Half an ans")
    chat.runner.stop(chat.run_id)
    await answer
    assert await chat.lines() == ["user: Tell me", "assistant: Half an ans"]
    row = chat.rows[0]
    assert (row.status, row.total_tokens, row.output_tokens) == ("stopped", None, None)
    assert row.estimated_output_tokens == 3
    assert (row.estimated_input_tokens or 0) > 0
    await chat.ask("Go on")
    assert model_server.requests[-1].lines == ["user: Tell me", "assistant: Half an ans", "user: Go on"]


async def test_a_stop_before_the_first_word_leaves_the_prompt_alone(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    chat = await make_chat(api="responses")
    model_server.script(say(Hold()))
    answer = chat.start("Hi")
    await model_server.arrived(1)
    chat.runner.stop(chat.run_id)
    result = await answer
    assert (result.outcome, result.partial) == ("stopped", "")
    assert await chat.lines() == ["user: Hi"]


@APIS
async def test_case_42_reasoning_without_a_follower_is_not_sent(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Reasoning("Hm, well", encrypted="secret"), Hold()))
    answer = chat.start("Think")
    await chat.saw(ReasoningDelta)
    chat.runner.stop(chat.run_id)
    await answer
    result = await chat.ask("Again")
    assert result.outcome == "completed"
    session = chat.session()
    await session.create_branch_from_turn(2, "fork")
    await session.close()
    chat.branch = "fork"
    assert (await chat.ask("Elsewhere")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Think", "user: Elsewhere"]


async def test_finished_tools_are_kept_and_unfinished_ones_are_not_sent(
    make_chat: MakeChat, model_server: ModelServer, slow_agent: str
) -> None:
    chat = await make_chat(api="responses", agent=slow_agent)
    model_server.script(say(Reasoning("Hm"), "Looking. ", Call("look", {"at": "sky"}), Call("hang")))
    answer = chat.start("Go")
    await chat.saw(ToolStarted, 2)
    await chat.saw(ToolFinished)
    chat.runner.stop(chat.run_id)
    result = await answer
    assert result.outcome == "stopped"
    kept = ["user: Go", "reasoning", "assistant: Looking. ", "call look", "output saw sky"]
    assert await chat.lines() == kept
    assert (await chat.ask("And?")).outcome == "completed"
    assert model_server.requests[-1].lines == [*kept, "user: And?"]


@pytest.mark.parametrize("tool", ["hang", "block", "cling"])
async def test_a_stop_does_not_wait_for_a_tool(
    make_chat: MakeChat, model_server: ModelServer, slow_agent: str, tool: str
) -> None:
    chat = await make_chat(agent=slow_agent)
    model_server.script(say(Call(tool)))
    answer = chat.start("Go")
    await chat.saw(ToolStarted)
    chat.runner.stop(chat.run_id)
    assert (await answer).outcome == "stopped"
    sys.modules["advchat_agent_slow"].RELEASE.set()
    assert await chat.lines() == ["user: Go"]
    assert (await chat.ask("And?")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Go", "user: And?"]


async def test_cancelling_the_task_is_a_stop(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    model_server.script(say(Text("par", size=3), Hold()))
    answer = chat.start("Hi")
    await chat.said("par")
    answer.cancel()
    result = await answer
    assert (result.outcome, result.partial) == ("stopped", "par")
    assert await chat.lines() == ["user: Hi", "assistant: par"]


async def test_what_comes_after_a_stop_is_dropped(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    gate = asyncio.Event()
    model_server.script(say(Text("par", size=3), Wait(gate), "tial"))
    answer = chat.start("Hi")
    await chat.said("par")
    chat.runner.stop(chat.run_id)
    await answer
    gate.set()
    await model_server.requests[0].done.wait()
    assert chat.text == "par"
    assert await chat.lines() == ["user: Hi", "assistant: par"]


async def test_usage_of_the_requests_before_the_stop_is_stored(
    make_chat: MakeChat, model_server: ModelServer, slow_agent: str
) -> None:
    chat = await make_chat(agent=slow_agent)
    model_server.script(say(Call("look", {"at": "sky"})), say(Text("par", size=3), Hold()))
    answer = chat.start("Go")
    await chat.said("par")
    chat.runner.stop(chat.run_id)
    await answer
    assert [row.status for row in chat.rows] == ["completed", "stopped"]
    session = chat.session()
    usage = await session.get_session_usage()
    await session.close()
    assert usage is not None
    assert usage["total_tokens"] == model_server.billed.total == chat.rows[0].total_tokens


async def test_a_wait_for_the_rate_limit_can_be_stopped(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    await chat.runner.prepare()
    model_server.script(rate_limited(3600))
    answer = chat.start("Hi")
    await chat.saw(Waiting)
    assert [event.seconds for event in chat.of(Waiting)] == [3600]
    chat.runner.stop(chat.run_id)
    assert (await answer).outcome == "stopped"
    assert await chat.lines() == ["user: Hi"]


async def test_a_stop_while_the_sdk_is_imported(make_chat: MakeChat) -> None:
    chat = await make_chat()
    answer = chat.start("Hi")
    await chat.launched.wait()
    chat.runner.stop(chat.run_id)
    assert (await answer).outcome == "stopped"


async def test_stopping_what_is_over_does_nothing(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await chat.ask("Hi")
    chat.runner.stop(chat.run_id)
    chat.runner.stop("unknown")
    assert (await chat.ask("Again")).outcome == "completed"
