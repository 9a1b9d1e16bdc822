"""The session as the SDK sees it while a run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from advchat.agents_runner.history_view import HistoryView
from advchat_storage import AdvancedSQLiteSession

PROMPT = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Hello"}


@pytest_asyncio.fixture
async def session(tmp_path: Path) -> AsyncIterator[AdvancedSQLiteSession]:
    async with AdvancedSQLiteSession(session_id="s", db_path=tmp_path / "view.db", create_tables=True) as made:
        await made.add_items([{"role": "user", "content": "Before"}, {"role": "assistant", "content": "Then"}])
        await made.add_items([PROMPT])
        yield made


def view_of(session: AdvancedSQLiteSession, prompt: str = "Hi") -> tuple[HistoryView, list[str]]:
    stored: list[str] = []
    return HistoryView(session, prompt, lambda: stored.append("stored")), stored


def texts(items: list[Any]) -> list[str]:
    return [item["content"] for item in items]


async def test_the_prompt_is_hidden_until_the_sdk_appends_it(session: AdvancedSQLiteSession) -> None:
    view, stored = view_of(session)
    assert texts(await view.get_items()) == ["Before", "Then"]
    assert texts(await view.get_items(1)) == ["Then"]
    assert await view.get_items(0) == []
    await view.add_items([PROMPT])
    assert texts(await view.get_items()) == ["Before", "Then", "Hi"]
    assert texts(await session.get_items()) == ["Before", "Then", "Hi"]
    assert stored == []


async def test_an_equal_prompt_later_in_the_run_is_no_second_one(session: AdvancedSQLiteSession) -> None:
    view, stored = view_of(session)
    await view.add_items([PROMPT, ANSWER])
    await view.add_items([PROMPT])
    assert texts(await session.get_items()) == ["Before", "Then", "Hi", "Hello", "Hi"]
    assert stored == ["stored", "stored"]


async def test_rewinding_never_reaches_the_prompt(session: AdvancedSQLiteSession) -> None:
    view, _ = view_of(session)
    await view.add_items([PROMPT])
    await view.add_items([ANSWER])
    assert await view.pop_item() == ANSWER
    assert await view.pop_item() == PROMPT
    assert await view.pop_item() is None
    assert texts(await session.get_items()) == ["Before", "Then", "Hi"]
    await view.add_items([PROMPT, ANSWER])
    assert texts(await session.get_items()) == ["Before", "Then", "Hi", "Hello"]


async def test_a_view_that_is_closed_takes_nothing_more(session: AdvancedSQLiteSession) -> None:
    view, _ = view_of(session)
    await view.add_items([PROMPT])
    await view.keep([ANSWER])
    with pytest.raises(asyncio.CancelledError):
        await view.add_items([{"role": "assistant", "content": "late"}])
    assert texts(await session.get_items()) == ["Before", "Then", "Hi", "Hello"]


async def test_a_cancelled_append_knows_what_became_of_it(session: AdvancedSQLiteSession) -> None:
    for turns in range(6):
        view, stored = view_of(session)
        before = len(await session.get_items())
        task = asyncio.create_task(view.add_items([ANSWER]))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert (len(await session.get_items()) > before) is bool(stored)


async def test_case_8_a_prompt_is_known_again_once_mended(session: AdvancedSQLiteSession) -> None:
    await session.add_items([{"role": "user", "content": "x\ud800"}])
    view, _ = view_of(session, "x\ud800")
    assert texts(await view.get_items()) == ["Before", "Then", "Hi"]
    await view.add_items([{"role": "user", "content": "x\ufffd"}])
    assert len(await session.get_items()) == 4


async def test_a_reader_of_the_runner_passes_its_wrapper_on(session: AdvancedSQLiteSession) -> None:
    await session.pop_item()
    await session.add_items([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}])
    await session.add_items([PROMPT])
    view, _ = view_of(session)
    assert len(await view.get_items()) == 3
    assert texts(await view.get_items(wrapper=object())) == ["Before", "Then"]
