"""The documented branching: making, managing and working on branches."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from agents import Agent, Runner

from tests.server import ModelServer


@pytest_asyncio.fixture
async def session(session_class: Any) -> AsyncIterator[Any]:
    """A conversation of three turns, the second and third of them about the weather."""
    made = session_class(session_id="conversation_123", db_path="conversations.db", create_tables=True)
    for prompt in ("Hello", "How is the weather?", "And the weather tomorrow?"):
        await made.add_items([{"role": "user", "content": prompt}, {"role": "assistant", "content": "Fine."}])
    yield made
    made.close()


async def contents(session: Any) -> list[str]:
    return [item["content"] for item in await session.get_items()]


async def test_turns_that_can_be_branched(session: Any) -> None:
    turns = await session.get_conversation_turns()
    assert [(turn["turn"], turn["content"], turn["can_branch"]) for turn in turns] == [
        (1, "Hello", True),
        (2, "How is the weather?", True),
        (3, "And the weather tomorrow?", True),
    ]


async def test_branching_from_a_turn(session: Any) -> None:
    branch_id = await session.create_branch_from_turn(2)
    assert re.fullmatch(r"branch_from_turn_2_\d{10}", branch_id)
    assert await contents(session) == ["Hello", "Fine."]

    await session.switch_to_branch("main")
    assert await session.create_branch_from_turn(2, branch_name="alternative_path") == "alternative_path"
    assert await contents(session) == ["Hello", "Fine."]


async def test_branching_by_content(session: Any) -> None:
    branch_id = await session.create_branch_from_content("weather", branch_name="weather_focus")
    assert branch_id == "weather_focus"
    assert await contents(session) == ["Hello", "Fine."]


async def test_a_branch_id_is_never_used_again(session: Any) -> None:
    await session.create_branch_from_turn(2, "plan")
    await session.delete_branch("plan", force=True)
    used = "Branch ID 'plan' has already been used. Choose a new branch ID."
    with pytest.raises(ValueError, match=re.escape(used)):
        await session.create_branch_from_turn(2, "plan")
    await session.clear_session()
    await session.add_items([{"role": "user", "content": "Anew"}])
    with pytest.raises(ValueError, match=re.escape(used)):
        await session.create_branch_from_turn(1, "plan")


async def test_managing_branches(session: Any) -> None:
    branch_id = await session.create_branch_from_turn(3)
    listed = {branch["branch_id"]: branch for branch in await session.list_branches()}
    assert set(listed) == {"main", branch_id}
    counts = {
        name: (row["user_turns"], row["message_count"], row["is_current"]) for name, row in listed.items()
    }
    assert counts == {"main": (3, 6, False), branch_id: (2, 4, True)}

    await session.switch_to_branch("main")
    assert len(await session.get_items()) == 6
    await session.switch_to_branch(branch_id)
    assert len(await session.get_items()) == 4

    with pytest.raises(ValueError, match="Use force=True or switch branches first"):
        await session.delete_branch(branch_id)
    await session.delete_branch(branch_id, force=True)
    assert [(row["branch_id"], row["is_current"]) for row in await session.list_branches()] == [("main", True)]
    assert len(await session.get_items()) == 6


async def test_a_whole_workflow(session_class: Any, agent: Agent, model_server: ModelServer) -> None:
    session = session_class(session_id="trip", db_path="conversations.db", create_tables=True)
    model_server.script("Paris.", "Mild.", "The Louvre.", "Rather.")

    async def ask(prompt: str) -> None:
        await session.store_run_usage(await Runner.run(agent, prompt, session=session))

    await ask("What's the capital of France?")
    await ask("What's the weather like there?")
    branch_id = await session.create_branch_from_turn(2, "weather_focus")
    await ask("What are the main tourist attractions in Paris?")
    await session.switch_to_branch("main")
    await ask("How expensive is it to visit?")

    capital = ["user: What's the capital of France?", "assistant: Paris."]
    weather = ["user: What's the weather like there?", "assistant: Mild."]
    assert model_server.requests[2].lines == [*capital, "user: What are the main tourist attractions in Paris?"]
    assert model_server.requests[3].lines == [*capital, *weather, "user: How expensive is it to visit?"]
    assert [turn["user_turn_number"] for turn in await session.get_turn_usage(branch_id=branch_id)] == [2]
    assert [turn["turn"] for turn in await session.get_conversation_turns()] == [1, 2, 3]
    usage = await session.get_session_usage()
    assert (usage["requests"], usage["total_tokens"]) == (4, model_server.billed.total)
    session.close()
