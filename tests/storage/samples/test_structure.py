"""The documented structured queries and tables."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from agents import Agent, Runner, function_tool

from tests.server import Call, ModelServer, say


@function_tool
def get_weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@pytest.fixture
def weather_agent() -> Agent:
    return Agent(name="Assistant", instructions="Use tools.", model="test-model", tools=[get_weather])


async def talk(session: Any, agent: Agent, server: ModelServer) -> None:
    """One turn of words, one turn with two calls of a tool."""
    server.script(
        "Hello!", say(Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Rome"})), "Sunny."
    )
    for prompt in ("Hi", "How is the weather?"):
        await session.store_run_usage(await Runner.run(agent, prompt, session=session))


async def test_analysing_a_conversation(
    session_class: Any, weather_agent: Agent, model_server: ModelServer
) -> None:
    session = session_class(session_id="s", db_path="conversations.db", create_tables=True)
    await talk(session, weather_agent, model_server)

    by_turns = await session.get_conversation_by_turns()
    shown = {
        turn: [
            f"{item['type']} (tool: {item['tool_name']})" if item["tool_name"] else item["type"]
            for item in items
        ]
        for turn, items in by_turns.items()
    }
    assert shown == {
        1: ["user", "assistant"],
        2: [
            "user",
            "function_call (tool: get_weather)",
            "function_call (tool: get_weather)",
            "function_call_output",
            "function_call_output",
            "assistant",
        ],
    }
    assert await session.get_tool_usage() == [("get_weather", 2, 2)]
    found = await session.find_turns_by_content("weather")
    assert [(turn["turn"], turn["content"]) for turn in found] == [(2, "How is the weather?")]
    session.close()


async def test_structure_is_kept_for_each_message(
    session_class: Any, weather_agent: Agent, model_server: ModelServer
) -> None:
    session = session_class(session_id="s", db_path="conversations.db", create_tables=True)
    await talk(session, weather_agent, model_server)
    session.close()
    columns = (
        "message_type, tool_name, user_turn_number, branch_turn_number, sequence_number, branch_id, created_at"
    )
    with closing(sqlite3.connect("conversations.db")) as connection:
        rows = connection.execute(
            f"SELECT {columns} FROM message_structure ORDER BY sequence_number"
        ).fetchall()
    assert [row[:6] for row in rows] == [
        ("user", None, 1, 1, 1, "main"),
        ("assistant", None, 1, 1, 2, "main"),
        ("user", None, 2, 2, 3, "main"),
        ("function_call", "get_weather", 2, 2, 4, "main"),
        ("function_call", "get_weather", 2, 2, 5, "main"),
        ("function_call_output", None, 2, 2, 6, "main"),
        ("function_call_output", None, 2, 2, 7, "main"),
        ("assistant", None, 2, 2, 8, "main"),
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row[6]) for row in rows)


DOCUMENTED = {
    "message_structure": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        message_id INTEGER NOT NULL,
        branch_id TEXT NOT NULL DEFAULT 'main',
        message_type TEXT NOT NULL,
        sequence_number INTEGER NOT NULL,
        user_turn_number INTEGER,
        branch_turn_number INTEGER,
        tool_name TEXT,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id) ON DELETE CASCADE,
        FOREIGN KEY (message_id) REFERENCES agent_messages(id) ON DELETE CASCADE
    """,
    "branch_reservations": """
        session_id TEXT NOT NULL,
        branch_id TEXT NOT NULL,
        PRIMARY KEY (session_id, branch_id)
    """,
    "turn_usage": """
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        branch_id TEXT NOT NULL DEFAULT 'main',
        user_turn_number INTEGER NOT NULL,
        requests INTEGER DEFAULT 0,
        input_tokens INTEGER DEFAULT 0,
        output_tokens INTEGER DEFAULT 0,
        total_tokens INTEGER DEFAULT 0,
        input_tokens_details JSON,
        output_tokens_details JSON,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES agent_sessions(session_id) ON DELETE CASCADE,
        UNIQUE(session_id, branch_id, user_turn_number)
    """,
}


@pytest.mark.parametrize("table", DOCUMENTED)
async def test_documented_tables(session_class: Any, table: str) -> None:
    session = session_class(session_id="s", db_path="conversations.db", create_tables=True)
    await session.add_items([{"role": "user", "content": "hi"}])
    session.close()
    with closing(sqlite3.connect("conversations.db")) as connection:
        found = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    assert " ".join(found.replace('"', "").split()) == " ".join(
        f"CREATE TABLE {table} ( {DOCUMENTED[table]} )".split()
    )
