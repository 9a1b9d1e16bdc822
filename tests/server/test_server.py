"""The test server as the real OpenAI client sees it."""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import openai
import pytest
import pytest_asyncio

from tests.server import (
    Call,
    Cut,
    Drop,
    Fail,
    Hold,
    ModelServer,
    Reasoning,
    Refusal,
    Usage,
    Wait,
    html,
    quota,
    say,
)


@pytest_asyncio.fixture
async def client(model_server: ModelServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=model_server.base_url, api_key="k", max_retries=0) as made:
        yield made


async def chat(client: openai.AsyncOpenAI, **options: Any) -> list[Any]:
    messages: Any = options.pop("messages", [{"role": "user", "content": "Hi there"}])
    stream = await client.chat.completions.create(model="m", messages=messages, stream=True, **options)
    return [chunk async for chunk in cast("AsyncIterator[Any]", stream)]


def chat_text(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_echo_in_both_apis_streamed_and_not(
    client: openai.AsyncOpenAI, model_server: ModelServer
) -> None:
    whole = await client.responses.create(model="m", input="Hi there")
    assert whole.output_text == "Echo: Hi there"
    streamed = await client.responses.create(model="m", input="Hi there", stream=True)
    events = [event async for event in streamed]
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == "Echo: Hi there"
    completion = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    assert completion.choices[0].message.content == "Echo: Hi"
    assert chat_text(await chat(client)) == "Echo: Hi there"
    assert [seen.lines for seen in model_server.requests] == [
        ["user: Hi there"],
        ["user: Hi there"],
        ["user: Hi"],
        ["user: Hi there"],
    ]


async def test_usage_is_told_in_chat_streams_only_when_asked(
    client: openai.AsyncOpenAI, model_server: ModelServer
) -> None:
    usage = Usage(input=10, output=3, cached=4, cache_write=2, reasoning=1)
    model_server.script(say("a", usage=usage), say("b", usage=usage), say("c", usage=usage))
    assert all(chunk.usage is None for chunk in await chat(client))
    last = (await chat(client, stream_options={"include_usage": True}))[-1]
    assert (last.usage.prompt_tokens, last.usage.prompt_tokens_details.cached_tokens) == (10, 4)
    response = await client.responses.create(model="m", input="Hi")
    assert response.usage is not None
    assert response.usage.input_tokens_details.cache_write_tokens == 2
    assert [served.told for served in model_server.account] == [False, True, True]
    assert model_server.billed == Usage(input=30, output=9, cached=12, cache_write=6, reasoning=3)


async def test_calls_reasoning_and_refusals(client: openai.AsyncOpenAI, model_server: ModelServer) -> None:
    parts = (Reasoning("Hmm"), Call("look", {"at": "sky"}), Call("look", {"at": "sea"}), Refusal("No"))
    model_server.script(say(*parts), say(*parts))
    response = await client.responses.create(model="m", input="Hi")
    assert [item.type for item in response.output] == ["reasoning", "function_call", "function_call", "message"]
    chunks = await chat(client)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    names = [c.function.name for d in deltas for c in d.tool_calls or () if c.function.name]
    assert names == ["look", "look"]
    assert "".join(d.refusal or "" for d in deltas) == "No"
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_streams_that_end_badly(client: openai.AsyncOpenAI, model_server: ModelServer) -> None:
    model_server.script(say("par", Fail("broke")), say("par", Cut()), say("par", Drop()))
    with pytest.raises(openai.APIError, match="broke"):
        await chat(client)
    chunks = await chat(client)
    assert chat_text(chunks) == "par"
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)
    with pytest.raises(openai.APIConnectionError):
        await chat(client)
    assert model_server.account == []


async def test_gates_and_silence(client: openai.AsyncOpenAI, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    model_server.script(say("one ", Wait(gate), "two"), say("x", Hold()))
    answer = asyncio.create_task(chat(client))
    await model_server.arrived(1)
    assert not model_server.requests[0].done.is_set()
    gate.set()
    assert chat_text(await answer) == "one two"
    silent = asyncio.create_task(chat(client))
    seen = await model_server.arrived(2)
    silent.cancel()
    await seen.gone.wait()


async def test_http_errors_and_models(client: openai.AsyncOpenAI, model_server: ModelServer) -> None:
    model_server.script(quota(), html(502))
    with pytest.raises(openai.RateLimitError) as caught:
        await chat(client)
    assert caught.value.code == "insufficient_quota"
    with pytest.raises(openai.InternalServerError, match="502"):
        await chat(client)
    assert [model.id async for model in client.models.list()] == ["test-model"]


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([{"role": "assistant", "content": ""}, {"role": "user", "content": "x"}], "empty assistant"),
        ([{"role": "tool", "tool_call_id": "c", "content": "x"}], "must follow"),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                    ],
                },
                {"role": "user", "content": "x"},
            ],
            "lacks the answer",
        ),
    ],
)
async def test_unacceptable_chat_history_is_refused(
    client: openai.AsyncOpenAI, messages: list[Any], fault: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=fault):
        await chat(client, messages=messages)


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ([{"type": "reasoning", "id": "r", "summary": []}, {"role": "user", "content": "x"}], "following item"),
        (
            [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
            "No tool output found",
        ),
        ([{"type": "function_call_output", "call_id": "c", "output": "x"}], "No tool call found"),
    ],
)
async def test_unacceptable_responses_history_is_refused(
    client: openai.AsyncOpenAI, items: list[Any], fault: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=fault):
        await client.responses.create(model="m", input=items)


async def test_as_a_process(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"contains": "sky", "replies": [{"parts": ["blue"]}]}]}))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server", "--script", str(script), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        base_url = (await process.stdout.readline()).decode().strip()
        async with openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
            assert chat_text(await chat(client, messages=[{"role": "user", "content": "sky?"}])) == "blue"
            assert chat_text(await chat(client, messages=[{"role": "user", "content": "sky?"}])) == "Echo: sky?"
        seen = await asyncio.to_thread(_get, base_url.removesuffix("/v1") + "/_/requests")
        assert [request["lines"] for request in seen] == [["user: sky?"], ["user: sky?"]]
    finally:
        process.terminate()
        await process.communicate()


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)
