"""What the Runner is given to send: no call without its output, whatever an interrupted run or a limit left."""

from __future__ import annotations

from typing import Any

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SessionSettings
from openai import AsyncOpenAI

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.sending import acceptable
from tests.server import ModelServer

USER = {"role": "user", "content": "Add"}
ANSWER = {"role": "assistant", "content": "3"}
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}


def call(number: int, kind: str = "function_call") -> dict[str, Any]:
    return {"type": kind, "call_id": f"call_{number}", "name": "add", "arguments": "{}"}


def output(number: int, kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": f"call_{number}", "output": "3"}


def test_a_whole_history_is_sent_whole() -> None:
    history = [USER, REASONING, call(1), call(2), output(2), output(1), ANSWER, REASONING, ANSWER]
    assert acceptable(history) == history


@pytest.mark.parametrize(
    ("history", "sent"),
    [
        ([USER, call(1)], [USER]),
        ([USER, REASONING, call(1)], [USER]),
        ([USER, REASONING], [USER]),
        ([USER, REASONING, USER, ANSWER], [USER, USER, ANSWER]),
        ([USER, REASONING, REASONING, ANSWER], [USER, REASONING, REASONING, ANSWER]),
        ([output(1), ANSWER], [ANSWER]),
        ([USER, call(1), output(1), output(1)], [USER, call(1), output(1)]),
        ([USER, output(1), call(1)], [USER]),
        ([USER, call(1), call(2), output(2)], [USER, call(2), output(2)]),
        ([USER, call(1), output(1, "custom_tool_call_output")], [USER]),
        ([USER, {"role": "assistant", "content": ""}], [USER]),
        ([USER, REASONING, {"role": "assistant", "content": [{"type": "output_text", "text": ""}]}], [USER]),
        ([USER, {"role": "assistant", "content": []}, ANSWER], [USER, ANSWER]),
    ],
)
def test_what_a_provider_would_refuse_is_left_out(history: list[Any], sent: list[Any]) -> None:
    assert acceptable(history) == sent


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("function_call", "function_call_output"),
        ("custom_tool_call", "custom_tool_call_output"),
        ("computer_call", "computer_call_output"),
        ("shell_call", "shell_call_output"),
        ("local_shell_call", "local_shell_call_output"),
        ("apply_patch_call", "apply_patch_call_output"),
    ],
)
def test_each_kind_of_call_goes_with_its_output(asked: str, answered: str) -> None:
    pair = [call(1, asked), output(1, answered)]
    assert acceptable([USER, *pair]) == [USER, *pair]
    assert acceptable([USER, pair[0]]) == [USER]
    assert acceptable([pair[1], USER]) == [USER]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "file_search_call", "id": "fs_1"},
        {"type": "mcp_call", "id": "mcp_1", "name": "read"},
        {"type": "image_generation_call", "id": "ig_1"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "user", "content": ""},
        {"type": "mcp_approval_request", "id": "a"},
        "a row that is no mapping",
        None,
    ],
)
def test_what_stands_alone_is_sent(item: Any) -> None:
    assert acceptable([USER, item]) == [USER, item]


def test_reasoning_goes_with_a_call_that_the_provider_ran_itself() -> None:
    history = [USER, REASONING, {"type": "web_search_call", "id": "ws_1"}, ANSWER]
    assert acceptable(history) == history


async def test_a_plain_read_follows_the_table() -> None:
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items([USER, call(1), output(1)])
        assert await session.get_items(limit=1) == [output(1)]
        assert await session.get_items(limit=1, wrapper=object()) == []
        assert await session.get_items(limit=2, wrapper=object()) == [call(1), output(1)]
        assert await session.get_items(limit=2) == [call(1), output(1)]


@pytest.mark.parametrize(("limit", "sent"), [(None, ["Add", "3"]), (1, ["3"])])
async def test_the_runner_reads_so(model_server: ModelServer, limit: int | None, sent: list[str]) -> None:
    client = AsyncOpenAI(base_url=model_server.base_url, api_key="none", max_retries=0)
    agent = Agent(name="Assistant", model=OpenAIChatCompletionsModel("test-model", client))
    config = RunConfig(session_settings=SessionSettings(limit=limit), tracing_disabled=True)
    async with client, AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items(
            [USER, ANSWER, call(1)] if limit is None else [USER, call(1), output(1), ANSWER]
        )
        await Runner.run(agent, "And now?", session=session, run_config=config)
        messages = model_server.requests[-1].body["messages"]
        assert [message["content"] for message in messages] == [*sent, "And now?"]
        assert len(await session.get_items()) == (5 if limit is None else 6)
