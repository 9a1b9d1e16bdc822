"""Runs inside a run: accounted for, never shown as the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.runner.kit import MakeChat
from tests.server import Call, ModelServer, Wait, say

CODE = '''
import asyncio
from agents import Agent, GuardrailFunctionOutput, RunConfig, Runner, function_tool, input_guardrail

inner = Agent(name="Inner", instructions="Inner.", model="inner-model")
unnamed = Agent(name="Unnamed", instructions="Unnamed.")

@function_tool
async def deep(question: str) -> str:
    """Ask another agent."""
    result = await Runner.run(inner, question)
    return str(result.final_output)

@function_tool
async def deeper(question: str) -> str:
    """Ask another agent with settings of its own."""
    result = await Runner.run(unnamed, question, run_config={"workflow_name": "x"})
    return str(result.final_output)

@function_tool(timeout=0.01)
async def late() -> str:
    """Is given up."""
    await asyncio.get_running_loop().create_future()
    return "never"

@input_guardrail
async def checked(context, agent, prompt):
    result = await Runner.run(inner, "is it polite?")
    return GuardrailFunctionOutput(output_info=result.final_output, tripwire_triggered=False)

agent = Agent(name="Outer", tools=[deep, deeper, late])
guarded = Agent(name="Guarded", input_guardrails=[checked])
'''


@pytest.fixture
def code(tmp_path: Path) -> Path:
    file = tmp_path / "nested_code.py"
    file.write_text(CODE)
    return file


async def test_a_run_of_the_users_own_inside_a_tool(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("deep", {"question": "q"})), "inner words", "Outer words")
    result = await chat.ask("Go")
    assert (result.outcome, chat.text) == ("completed", "Outer words")
    assert [row.model for row in chat.rows] == ["test-model", "inner-model", "test-model"]
    assert sum(row.total_tokens or 0 for row in chat.rows) == model_server.billed.total
    assert await chat.lines() == ["user: Go", "call deep", "output inner words", "assistant: Outer words"]


async def test_an_inner_agent_without_a_model_uses_the_runs(
    make_chat: MakeChat, model_server: ModelServer, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("deeper", {"question": "q"})), "inner words", "Outer words")
    result = await chat.ask("Go")
    assert (result.outcome, chat.text) == ("completed", "Outer words")
    assert [seen.model for seen in model_server.requests] == ["test-model"] * 3


async def test_a_guardrails_agent_beside_the_answer(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:guarded")
    gate = model_server.gate("asked")
    model_server.when("is it polite?", say("very ", Wait(gate), "polite"))
    model_server.when("Hello", say("Out", Wait(gate), "er"))
    answer = chat.start("Hello")
    await model_server.arrived(2)
    gate.set()
    assert (await answer).outcome == "completed"
    assert chat.text == "Outer"
    assert sorted(row.model or "" for row in chat.rows) == ["inner-model", "test-model"]


async def test_the_answer_after_a_tool_that_was_given_up_is_shown(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("late")), "It took too long")
    result = await chat.ask("Go")
    assert (result.outcome, chat.text) == ("completed", "It took too long")
    assert len(chat.rows) == 2
