"""Requests to a vendor that shall keep nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio
from agents import ModelSettings, ModelTracing

from advchat.models.endpoint import EndpointModel, Manner
from advchat.models.quirks import EndpointState
from tests.server import ModelServer

HISTORY = [
    {"role": "user", "content": "One"},
    {"type": "reasoning", "id": "rs_kept", "summary": []},
    {"type": "reasoning", "id": "rs_sent", "summary": [], "encrypted_content": "zzz"},
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "1"}]},
    {"role": "user", "content": "Two"},
]


@pytest_asyncio.fixture
async def client(model_server: ModelServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=model_server.base_url, api_key="k", max_retries=0) as made:
        yield made


async def ask(model: EndpointModel, **options: Any) -> None:
    asked: dict[str, Any] = {
        "system_instructions": None,
        "input": HISTORY,
        "model_settings": ModelSettings(),
        "tools": [],
        "output_schema": None,
        "handoffs": [],
        "tracing": ModelTracing.DISABLED,
        "previous_response_id": None,
        "conversation_id": None,
        "prompt": None,
    }
    await model.get_response(**asked | options)


@pytest.mark.parametrize(("name", "encrypted"), [("gpt-5.1", True), ("o4-mini", True), ("gpt-4.1", False)])
async def test_nothing_is_kept_and_so_nothing_is_referred_to(
    client: openai.AsyncOpenAI, model_server: ModelServer, name: str, encrypted: bool
) -> None:
    await ask(EndpointModel(name, client, EndpointState("responses"), Manner(keeps_nothing=True)))
    body = model_server.requests[0].body
    assert body["store"] is False
    assert ("reasoning.encrypted_content" in body["include"]) is encrypted
    assert [item for item in body["input"] if "id" in item] == []
    assert [item.get("encrypted_content") for item in body["input"] if item.get("type") == "reasoning"] == [
        "zzz"
    ]


async def test_an_agent_that_wants_it_kept_gets_its_way(
    client: openai.AsyncOpenAI, model_server: ModelServer
) -> None:
    model = EndpointModel("gpt-5.1", client, EndpointState("responses"), Manner(keeps_nothing=True))
    await ask(model, model_settings=ModelSettings(store=True))
    body = model_server.requests[0].body
    assert body["store"] is True
    assert [item["id"] for item in body["input"] if "id" in item] == ["rs_kept", "rs_sent", "msg_1"]


async def test_others_are_spoken_to_as_the_sdk_does(
    client: openai.AsyncOpenAI, model_server: ModelServer
) -> None:
    await ask(EndpointModel("m", client, EndpointState("responses")))
    assert "store" not in model_server.requests[0].body
