"""The runner: answers, tools, handoffs, the history sent."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from advchat.config import Api
from advchat.events import AgentChanged, RequestEnded, ToolFinished, ToolStarted
from tests.app.runner.kit import Chat, MakeChat
from tests.server import Call, ModelServer, Reasoning, Usage, Wait, say

APIS = pytest.mark.parametrize("api", ["responses", "chat"])

AGENTS = '''
from agents import Agent, Model, OpenAIChatCompletionsModel, function_tool

@function_tool
def look(at: str) -> dict[str, str]:
    """Look at something."""
    return {"seen": at}

@function_tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b

helper = Agent(name="Helper", instructions="Help.", model="helper-model")
other = Agent(name="Other", instructions="Other.", model="other-model")
agent = Agent(
    name="Asker",
    instructions="Use tools.",
    tools=[look, add, helper.as_tool("ask_helper", "Ask the helper.")],
    handoffs=[other],
)
'''


@pytest.fixture
def agent_file(tmp_path: Path) -> str:
    file = tmp_path / "asker.py"
    file.write_text(AGENTS)
    return f"{file}:agent"


async def test_an_answer_streams_and_is_stored(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    model_server.script(say("Hello there", usage=Usage(10, 2, cached=4, cache_write=1, reasoning=1)))
    result = await chat.ask("Hi")
    assert (result.outcome, result.error, result.detail) == ("completed", None, None)
    assert chat.text == "Hello there"
    assert await chat.lines() == ["user: Hi", "assistant: Hello there"]
    assert [seen.lines for seen in model_server.requests] == [["user: Hi"]]
    assert [event.status for event in chat.of(RequestEnded)] == ["completed"]


@APIS
async def test_later_turns_send_the_whole_history(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    await chat.ask("One")
    await chat.ask("Two")
    assert model_server.requests[-1].lines == ["user: One", "assistant: Echo: One", "user: Two"]


async def test_the_same_prompt_twice_is_two_turns(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    await chat.ask("Again")
    await chat.ask("Again")
    assert model_server.requests[-1].lines == ["user: Again", "assistant: Echo: Again", "user: Again"]
    assert await chat.lines() == ["user: Again", "assistant: Echo: Again"] * 2


async def test_reasoning_streams_apart_from_the_answer(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="responses")
    model_server.script(say(Reasoning("Let me see"), "Yes"))
    await chat.ask("Well?")
    assert (chat.reasoning, chat.text) == ("Let me see", "Yes")


@APIS
async def test_tools_run_and_are_told(
    make_chat: MakeChat, model_server: ModelServer, agent_file: str, api: Api
) -> None:
    chat = await make_chat(api=api, agent=agent_file)
    model_server.script(
        say("Let me look. ", Call("look", {"at": "sky"}), Call("add", {"a": 1, "b": 2})), "Blue and 3."
    )
    result = await chat.ask("What is up?")
    assert result.outcome == "completed"
    assert chat.text == "Let me look. Blue and 3."
    started = [(event.name, json.loads(event.arguments)) for event in chat.of(ToolStarted)]
    assert started == [("look", {"at": "sky"}), ("add", {"a": 1, "b": 2})]
    finished = {event.name: event for event in chat.of(ToolFinished)}
    assert (finished["look"].output, finished["add"].output) == ("{'seen': 'sky'}", "3")
    assert 0 <= finished["look"].seconds < 5
    assert {event.call_id for event in chat.of(ToolStarted)} == {e.call_id for e in finished.values()}
    assert [row.tools for row in chat.rows] == [("look", "add"), ()]
    assert [row.agent for row in chat.rows] == ["Asker", "Asker"]


@APIS
async def test_requests_share_their_prefix_to_the_byte(
    make_chat: MakeChat, model_server: ModelServer, agent_file: str, api: Api
) -> None:
    chat = await make_chat(api=api, agent=agent_file)
    model_server.script(say(Reasoning("Hm"), Call("look", {"at": "sky"})), say("Blue ☀", usage=None))
    await chat.ask("What is up?")
    await chat.ask("And now?")
    session = chat.session()
    sibling = await session.create_branch_from_turn(2, "sibling")
    await session.close()
    assert sibling == "sibling"
    chat.branch = "sibling"
    await chat.ask("Or now?")
    key = "input" if api == "responses" else "messages"
    bodies = [seen.raw for seen in model_server.requests]
    histories = [_array(raw, key) for raw in bodies]
    for earlier, later in itertools.pairwise(histories[:-1]):
        assert later.startswith(earlier.removesuffix(b"]") + b",")
    shared = histories[-1].index(b"Or now?")
    assert histories[-1][:shared] == histories[-2][:shared]
    rests = {raw.replace(history, b"") for raw, history in zip(bodies, histories, strict=True)}
    assert len(rests) == 1


def _array(raw: bytes, key: str) -> bytes:
    """The bytes of a top-level array of the body."""
    start = raw.index(f'"{key}":'.encode()) + len(key) + 3
    _, end = json.JSONDecoder().raw_decode(raw.decode()[len(raw[:start].decode()) :])
    return raw.decode()[len(raw[:start].decode()) :][:end].encode()


async def test_a_handoff_to_an_agent_on_another_model(
    make_chat: MakeChat, model_server: ModelServer, agent_file: str
) -> None:
    chat = await make_chat(agent=agent_file)
    model_server.script(say(Call("transfer_to_other")), "Other speaking")
    result = await chat.ask("Pass me on")
    assert (result.outcome, chat.text) == ("completed", "Other speaking")
    assert [event.agent for event in chat.of(AgentChanged)] == ["Other"]
    assert [(row.agent, row.model) for row in chat.rows] == [("Asker", "test-model"), ("Other", "other-model")]


async def test_an_agent_used_as_a_tool_is_accounted_for_and_not_shown(
    make_chat: MakeChat, model_server: ModelServer, agent_file: str
) -> None:
    chat = await make_chat(agent=agent_file)
    model_server.script(say(Call("ask_helper", {"input": "q"})), "inner words", "Outer words")
    await chat.ask("Ask around")
    assert chat.text == "Outer words"
    assert [row.model for row in chat.rows] == ["test-model", "helper-model", "test-model"]
    assert sum(row.total_tokens or 0 for row in chat.rows) == model_server.billed.total
    assert await chat.lines() == [
        "user: Ask around",
        "call ask_helper",
        "output inner words",
        "assistant: Outer words",
    ]


async def test_a_model_object_of_the_users_own(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import openai\nfrom agents import Agent, OpenAIChatCompletionsModel\n"
        f"client = openai.AsyncOpenAI(base_url={model_server.base_url!r}, api_key='k')\n"
        "agent = Agent(name='Own', model=OpenAIChatCompletionsModel('own-model', client))\n"
    )
    chat = await make_chat("http://127.0.0.1:9", agent=f"{file}:agent", model=None)
    result = await chat.ask("Hi")
    assert (result.outcome, chat.text) == ("completed", "Echo: Hi")
    assert [row.model for row in chat.rows] == ["own-model"]


WHOLE = """
from agents import Agent, Model, ModelResponse, Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

class Whole(Model):
    async def get_response(self, *args, **kwargs):
        text = ResponseOutputText(type="output_text", text="All \\ud83d\\ude00 at once \\ud800", annotations=[])
        message = ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        )
        usage = Usage(requests=1, input_tokens=5, output_tokens=3, total_tokens=8)
        return ModelResponse(output=[message], usage=usage, response_id=None)

    {stream}

agent = Agent(name="Whole", model=Whole())
"""


@pytest.mark.parametrize(
    "stream",
    [
        "def stream_response(self, *args, **kwargs):\n        raise NotImplementedError",
        "async def stream_response(self, *args, **kwargs):\n        raise NotImplementedError",
        "async def stream_response(self, *args, **kwargs):\n        return\n        yield",
        """async def stream_response(self, *args, **kwargs):
        from types import SimpleNamespace
        whole = await self.get_response()
        final = SimpleNamespace(id="r", output=whole.output, usage=whole.usage)
        yield SimpleNamespace(type="response.completed", response=final)""",
    ],
)
async def test_a_model_that_cannot_stream_is_awaited(make_chat: MakeChat, tmp_path: Path, stream: str) -> None:
    file = tmp_path / "whole.py"
    file.write_text(WHOLE.replace("{stream}", stream))
    chat = await make_chat(agent=f"{file}:agent", model=None)
    result = await chat.ask("Hi")
    assert (result.outcome, chat.text) == ("completed", "All 😀 at once �")
    assert [(row.input_tokens, row.output_tokens) for row in chat.rows] == [(5, 3)]
    assert await chat.lines() == ["user: Hi", "assistant: All 😀 at once �"]


async def test_a_model_asked_for_goes_before_the_agents_own(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "named.py"
    file.write_text("from agents import Agent\nagent = Agent(name='Named', model='its-own')\n")
    chat = await make_chat(agent=f"{file}:agent", model="set-as-default")
    await chat.ask("1", model="set-as-default")
    await chat.ask("2", model="chosen")
    assert [seen.model for seen in model_server.requests] == ["its-own", "chosen"]


async def test_default_settings_of_another_model_are_not_sent(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "plain.py"
    file.write_text("from agents import Agent\nagent = Agent(name='Plain')\n")
    chat = await make_chat(agent=f"{file}:agent", model="llama")
    await chat.ask("Hi")
    body = model_server.requests[0].body
    assert body["model"] == "llama"
    assert "reasoning" not in body
    assert "text" not in body


async def test_instructions_of_the_conversation(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    await chat.ask("Hi", instructions="Speak like a pirate.")
    assert model_server.requests[0].instructions == "Speak like a pirate."


async def test_branches_answer_at_the_same_time(make_chat: MakeChat, model_server: ModelServer) -> None:
    first = await make_chat()
    await first.ask("Start")
    session = first.session()
    await session.create_branch_after_turn(1, "other")
    await session.close()
    second = Chat(first.runner, first.store, first.conversation, "other")
    gate = model_server.gate("both")
    model_server.when("left", say("left ", Wait(gate), "done"))
    model_server.when("right", say("right ", Wait(gate), "done"))
    answers = [first.start("left?"), second.start("right?")]
    await first.said("left ")
    await second.said("right ")
    gate.set()
    assert [(await answer).outcome for answer in answers] == ["completed", "completed"]
    assert await first.lines() == [
        "user: Start",
        "assistant: Echo: Start",
        "user: left?",
        "assistant: left done",
    ]
    assert (await second.lines())[2:] == ["user: right?", "assistant: right done"]
    assert [row.branch_id for row in (*first.rows, *second.rows)] == ["main", "other"]
