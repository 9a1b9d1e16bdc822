"""Settings of a session that was there before the SDK was, and an empty branch ID where usage is summed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.settings import PlainSettings
from tests.storage.scenes import sdk_usage, user

PROGRAM = """
import asyncio, sys
from advchat_storage import AdvancedSQLiteSession

session = AdvancedSQLiteSession(
    session_id="s", db_path=sys.argv[1], create_tables=True, session_settings={"limit": 5}
)
assert "agents" not in sys.modules

from agents import Agent, RunConfig, Runner
from agents.memory import SessionSettings
from agents.testing import ScriptedModel
from openai.types.responses import ResponseOutputMessage

def answer(text):
    return ResponseOutputMessage.model_validate({
        "id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })

model = ScriptedModel(steps=[[answer("A")], [answer("B")]])
config = RunConfig(session_settings=SessionSettings(limit=1), tracing_disabled=True)

async def main():
    for text in ("first", "second"):
        await Runner.run(Agent(name="a", model=model), text, session=session, run_config=config)
    print(len(await session.get_items()))
    await session.close()

asyncio.run(main())
"""


def test_a_run_may_limit_a_session_that_is_older_than_the_sdk(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "s.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


@pytest.mark.parametrize(
    ("override", "limit"), [(None, 3), ({"limit": 1}, 1), ({}, 3), (PlainSettings(2), 2), (PlainSettings(), 3)]
)
def test_what_a_run_leaves_open_is_as_the_session_has_it(override: Any, limit: int) -> None:
    assert PlainSettings(3).resolve(override).limit == limit
    assert PlainSettings(3).to_dict() == {"limit": 3}


async def test_an_empty_branch_id_sums_the_usage_of_all_branches_as_in_the_sdk() -> None:
    async with AdvancedSQLiteSession(session_id="s", create_tables=True) as session:
        await session.add_items([user("Hello")])
        await session.store_run_usage(sdk_usage(10, 5))
        usage = await session.get_session_usage("")
        assert usage is not None
        assert usage["total_tokens"] == 15
