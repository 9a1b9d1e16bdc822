"""The documented first steps: a run with memory, the ways to build a session, storing and reading usage."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner

from tests.server import ModelServer, Usage, say


@pytest.fixture
def golden_gate(model_server: ModelServer) -> ModelServer:
    model_server.script(
        say("San Francisco", usage=Usage(20, 2, cached=5, reasoning=1)),
        say("California", usage=Usage(31, 1)),
    )
    return model_server


async def test_quick_start(session_class: Any, agent: Agent, golden_gate: ModelServer) -> None:
    session = session_class(session_id="conversation_123", db_path="conversations.db", create_tables=True)

    result = await Runner.run(agent, "What city is the Golden Gate Bridge in?", session=session)
    assert result.final_output == "San Francisco"
    await session.store_run_usage(result)

    result = await Runner.run(agent, "What state is it in?", session=session)
    assert result.final_output == "California"
    await session.store_run_usage(result)

    assert golden_gate.requests[1].lines == [
        "user: What city is the Golden Gate Bridge in?",
        "assistant: San Francisco",
        "user: What state is it in?",
    ]
    assert len(await session.get_items()) == 4
    session.close()
    with closing(sqlite3.connect("conversations.db")) as connection:
        assert connection.execute("SELECT count(*) FROM agent_messages").fetchone() == (4,)


async def test_a_session_in_memory(session_class: Any) -> None:
    session = session_class(session_id="my_conversation", create_tables=True)
    await session.add_items([{"role": "user", "content": "hi"}])
    assert await session.get_items() == [{"role": "user", "content": "hi"}]
    session.close()


async def test_a_session_that_lasts(session_class: Any, folder: Path) -> None:
    (folder / "path" / "to").mkdir(parents=True)
    place = {"session_id": "user_123", "db_path": "path/to/conversations.db"}
    first = session_class(**place, create_tables=True)
    await first.add_items([{"role": "user", "content": "hi"}])
    first.close()
    again = session_class(session_id="user_123", db_path=folder / "path" / "to" / "conversations.db")
    assert await again.get_items() == [{"role": "user", "content": "hi"}]
    again.close()


async def test_a_logger_of_ones_own(session_class: Any, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("my_app")
    session = session_class(session_id="session_456", create_tables=True, logger=logger)
    with caplog.at_level(logging.DEBUG, logger="my_app"):
        await session.add_items([{"role": "user", "content": "hi"}])
        await session.store_run_usage(object())
    assert [record.levelname for record in caplog.records if record.name == "my_app"][-1:] == ["ERROR"]
    assert await session.get_turn_usage() == []
    session.close()


async def test_usage_is_stored_and_read(session_class: Any, agent: Agent, golden_gate: ModelServer) -> None:
    session = session_class(session_id="conversation_123", db_path="conversations.db", create_tables=True)
    for prompt in ("What city is the Golden Gate Bridge in?", "What state is it in?"):
        await session.store_run_usage(await Runner.run(agent, prompt, session=session))

    sums = {"requests": 2, "input_tokens": 51, "output_tokens": 3, "total_tokens": 54, "total_turns": 2}
    assert await session.get_session_usage() == sums
    assert await session.get_session_usage(branch_id="main") == sums
    assert await session.get_session_usage(branch_id="elsewhere") is None

    turns = await session.get_turn_usage()
    assert [(turn["user_turn_number"], turn["total_tokens"]) for turn in turns] == [(1, 22), (2, 32)]
    assert turns[0]["input_tokens_details"]["cached_tokens"] == 5
    assert turns[0]["output_tokens_details"] == {"reasoning_tokens": 1}

    second = await session.get_turn_usage(user_turn_number=2)
    assert second == {name: value for name, value in turns[1].items() if name != "user_turn_number"}
    assert await session.get_turn_usage(user_turn_number=3) == {}
    session.close()
    assert golden_gate.billed.total == sums["total_tokens"]
