"""The ledger's rows: one per model request, true to what the provider told."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from advchat.config import Api, Config, Endpoint
from advchat.events import RequestEnded
from advchat.pricing import Pricing
from advchat_storage import RequestRecord
from tests.app.runner.kit import Chat, MakeChat
from tests.server import Call, ModelServer, Usage, say

APIS = pytest.mark.parametrize("api", ["responses", "chat"])

TOOLS = '''
from agents import Agent, function_tool

@function_tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

agent = Agent(name="Looker", tools=[look])
'''


@APIS
async def test_a_row_says_everything(make_chat: MakeChat, model_server: ModelServer, api: Api) -> None:
    chat = await make_chat(api=api)
    usage = Usage(1000, 200, cached=800, cache_write=50, reasoning=120)
    model_server.script(say("Yes", usage=usage, model="test-model-2026-11"))
    await chat.ask("Hi")
    row = chat.rows[0]
    assert (row.run_id, row.branch_id, row.turn, row.agent) == (chat.run_id, "main", 1, "Assistant")
    assert (row.model_asked, row.model, row.api) == ("test-model", "test-model-2026-11", api)
    assert (row.input_tokens, row.cached_tokens, row.cache_write_tokens) == (1000, 800, 50)
    assert (row.output_tokens, row.reasoning_tokens, row.total_tokens) == (200, 120, 1200)
    assert (row.status, row.error, row.estimated_output_tokens) == ("completed", None, None)
    times = [row.started_at, row.first_token_at or "", row.finished_at]
    assert times == sorted(times)
    assert all(datetime.fromisoformat(time).utcoffset() is not None for time in times)
    event = chat.of(RequestEnded)[0]
    assert (event.input_tokens, event.cached_tokens, event.output_tokens) == (1000, 800, 200)
    assert [(row.request_id, row.status) for row in await _stored(chat)] == [(row.request_id, "completed")]


@APIS
async def test_usage_that_was_not_told_is_unknown(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say("Four words of answer", usage=None))
    result = await chat.ask("Hi")
    assert result.outcome == "completed"
    row = chat.rows[0]
    assert (row.input_tokens, row.cached_tokens, row.output_tokens, row.total_tokens) == (None,) * 4
    assert row.estimated_output_tokens == 5


@APIS
async def test_zeros_for_an_answer_are_no_count(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say("Yes", usage=Usage(0, 0)))
    await chat.ask("Hi")
    assert (chat.rows[0].input_tokens, chat.rows[0].total_tokens) == (None, None)


@APIS
async def test_details_that_were_not_told_are_unknown(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(
        say("a", usage=Usage(10, 2, cached=None, cache_write=None, reasoning=None)),
        say("b", usage=Usage(10, 2, cached=5, cache_write=None, reasoning=0)),
    )
    await chat.ask("Hi")
    row = chat.rows[0]
    assert (row.input_tokens, row.cached_tokens, row.cache_write_tokens, row.reasoning_tokens) == (
        10, None, None, None,
    )  # fmt: skip
    await chat.ask("Hi")
    row = chat.rows[0]
    assert (row.cached_tokens, row.cache_write_tokens, row.reasoning_tokens) == (5, None, 0)


@APIS
async def test_case_51_a_tool_loop_is_a_row_per_request(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path, api: Api
) -> None:
    file = tmp_path / "looker.py"
    file.write_text(TOOLS)
    chat = await make_chat(api=api, agent=f"{file}:agent")
    model_server.script(say(Call("look", {"at": "a"}), Call("look", {"at": "b"})), "Done")
    await chat.ask("Go")
    stored = await _stored(chat)
    assert sorted(row.tools for row in stored) == [(), ("look", "look")]
    assert sum(row.total_tokens or 0 for row in stored) == model_server.billed.total
    session = chat.session()
    usage = await session.get_session_usage()
    await session.close()
    assert usage is not None
    assert (usage["requests"], usage["total_tokens"]) == (2, model_server.billed.total)


async def test_a_row_is_on_disk_before_the_answer_goes_on(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "looker.py"
    file.write_text(TOOLS)
    chat = await make_chat(agent=f"{file}:agent")
    model_server.script(say(Call("look", {"at": "a"})), "Done")
    await chat.ask("Go")
    kinds = [type(event).__name__ for event in chat.events]
    assert kinds.index("RequestEnded") < kinds.index("ToolStarted")


async def test_a_row_that_cannot_be_written_is_told_and_the_answer_kept(make_chat: MakeChat) -> None:
    chat = await make_chat()

    async def refuse(row: RequestRecord) -> RequestRecord:
        raise OSError("no space left")

    chat.record = refuse
    result = await chat.ask("Hi")
    assert (result.outcome, chat.text) == ("completed", "Echo: Hi")
    assert result.error == "The usage of this answer could not be stored: no space left"
    assert len(chat.of(RequestEnded)) == 1


async def test_the_price_reaches_the_event(make_chat: MakeChat) -> None:
    chat = await make_chat()

    async def priced(row: RequestRecord) -> RequestRecord:
        return replace(row, cost_nano=1234)

    chat.record = priced
    await chat.ask("Hi")
    assert [event.cost_nano for event in chat.of(RequestEnded)] == [1234]


async def test_providers_are_told_apart(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(pricing=Pricing())
    await chat.ask("Hi")
    assert [row.provider for row in chat.rows] == [None]
    await chat.ask("Hi", model="tour")
    assert [(row.provider, row.model) for row in chat.rows] == [("tour", "tour")]
    assert (chat.rows[0].total_tokens or 0) > 50
    assert len(model_server.requests) == 1


async def test_a_named_provider_is_asked(model_server: ModelServer, make_chat: MakeChat) -> None:
    config = Config(providers={"other": Endpoint(name="other", base_url=model_server.base_url, api="chat")})
    chat = await make_chat(config=config)
    assert (await chat.ask("Hi", model="other/llama")).outcome == "completed"
    assert [(seen.model, seen.api) for seen in model_server.requests] == [("llama", "chat")]


async def _stored(chat: Chat) -> list[RequestRecord]:
    return list(await chat.store.requests(conversation_id=chat.conversation))
