"""MCP servers of the user's agent."""

from __future__ import annotations

import sys
from pathlib import Path

from advchat.events import ToolFinished
from tests.app.runner.kit import MakeChat
from tests.server import Call, ModelServer, say

SERVER = '''
from mcp.server import MCPServer

server = MCPServer("sums")

@server.tool()
def add(a: int, b: int) -> str:
    """Add."""
    return str(a + b)

server.run("stdio")
'''

AGENT = """
from agents import Agent
from agents.mcp import MCPServerStdio

sums = MCPServerStdio(params={{"command": {python!r}, "args": [{server!r}]}}, name="sums")
agent = Agent(name="Summer", mcp_servers=[sums])
"""


def agent_with(folder: Path, server: str) -> str:
    program = folder / "sums_server.py"
    program.write_text(server)
    file = folder / "summer.py"
    file.write_text(AGENT.format(python=sys.executable, server=str(program)))
    return f"{file}:agent"


async def test_they_are_started_used_and_ended(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    chat = await make_chat(agent=agent_with(tmp_path, SERVER))
    model_server.script(say(Call("add", {"a": 2, "b": 3})), "Five")
    result = await chat.ask("2 + 3?")
    assert (result.outcome, chat.text) == ("completed", "Five")
    assert ["5" in event.output for event in chat.of(ToolFinished)] == [True]
    assert (await chat.ask("Thanks")).outcome == "completed"
    await chat.runner.close()


async def test_one_that_does_not_start_is_named_and_tried_again(make_chat: MakeChat, tmp_path: Path) -> None:
    spec = agent_with(tmp_path, "raise SystemExit(1)\n")
    chat = await make_chat(agent=spec)
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert (result.error or "").startswith("The MCP server “sums” did not start: ")
    assert "\n" not in (result.error or "")
    agent_with(tmp_path, SERVER)
    assert (await chat.ask("Now?")).outcome == "completed"
