"""Requests that are asked about before they go out."""

from __future__ import annotations

from pathlib import Path

from advchat.runner import RequestPlan
from tests.app.runner.kit import MakeChat
from tests.server import Call, ModelServer, say

TOOLS = '''
from agents import Agent, function_tool

@function_tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

agent = Agent(name="Looker", tools=[look])
'''


async def test_a_request_that_is_not_allowed_never_goes_out(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    chat = await make_chat()
    plans: list[RequestPlan] = []

    async def never(plan: RequestPlan) -> str | None:
        plans.append(plan)
        return "The budget is spent."

    chat.allow = never
    result = await chat.ask("Hi")

    assert (result.outcome, result.error) == ("failed", "The budget is spent.")
    assert not model_server.requests
    assert not chat.rows
    assert plans[0].model == "test-model"
    assert plans[0].characters > len("Hi")
    assert await chat.lines() == ["user: Hi"]


async def test_a_tool_loop_is_asked_about_before_each_request(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    agent = tmp_path / "looker.py"
    agent.write_text(TOOLS)
    chat = await make_chat(agent=f"{agent}:agent")
    model_server.script(say(Call("look", {"at": "it"})), say("never sent"))

    async def once(plan: RequestPlan) -> str | None:
        return "Enough." if model_server.requests else None

    chat.allow = once
    result = await chat.ask("Look")

    assert (result.outcome, result.error) == ("failed", "Enough.")
    assert len(model_server.requests) == 1
    assert [row.status for row in chat.rows] == ["completed"]
    model_server.script(say("fine"))
    chat.allow = None
    assert (await chat.ask("And now?")).outcome == "completed"
