"""Getting ready: the SDK's import, the model's start, and what a model is called before."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from advchat.agents_runner import AgentsRunner
from advchat.config import Config, Endpoint, OwnPrice
from advchat.events import Waiting
from advchat.models.local import EXTRA_BODY, MODEL_NAME, LocalEndpoint, LocalModelError
from advchat.pricing import Pricing
from tests.app.runner.kit import MakeChat, settings
from tests.server import ModelServer


@dataclass
class FakeLocal:
    """The embedded model's handle, with the test server in its place."""

    base_url: str
    usable: bool = True
    running: bool = False
    started: int = 0
    closed: list[bool] = field(default_factory=list)

    def unavailable(self) -> str | None:
        return None if self.usable else "the local model needs the extra"

    def downloaded(self) -> bool:
        return self.usable

    async def start(self) -> LocalEndpoint:
        if not self.usable:
            raise LocalModelError("the local model needs the extra")
        self.started += 1
        self.running = True
        return LocalEndpoint(self.base_url, "local-key")

    async def close(self) -> None:
        self.closed.append(True)


def test_importing_the_runner_imports_no_sdk() -> None:
    code = (
        "import sys\nimport advchat.agents_runner\n"
        "print(*{'agents', 'openai', 'genai_prices', 'pydantic'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_the_import_leaves_the_loop_free_and_the_process_as_it_was() -> None:
    code = """
import asyncio, gc, sys, threading
from advchat.agents_runner import AgentsRunner, RunnerSettings
from advchat.config import Config

async def main():
    runner = AgentsRunner(RunnerSettings(config=Config()))
    turns = 0
    importing = asyncio.create_task(runner.prepare())
    assert not runner.ready
    await asyncio.sleep(0)
    while not importing.done():
        turns += 1
        await asyncio.sleep(0)
    assert runner.ready and "agents" in sys.modules
    print(turns > 100, sys.getswitchinterval(), gc.isenabled(), gc.get_freeze_count() > 0)

asyncio.run(main())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True 0.005 True True"


async def test_ready_once_prepared(make_chat: MakeChat) -> None:
    chat = await make_chat()
    assert not chat.runner.ready
    await asyncio.gather(chat.runner.prepare(), chat.runner.prepare())
    assert chat.runner.ready
    assert gc.isenabled()


async def test_the_local_model_is_the_default_where_it_can_run(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    local: Any = FakeLocal(model_server.base_url)
    chat = await make_chat(config=Config(), local=local)
    assert chat.runner.model_info().label == "local · SmolLM2 135M"
    await chat.runner.prepare()
    assert chat.runner.ready
    result = await chat.ask("Hi")
    assert (result.outcome, chat.text) == ("completed", "Echo: Hi")
    seen = model_server.requests[0]
    assert (seen.api, seen.model, seen.headers["authorization"]) == ("chat", MODEL_NAME, "Bearer local-key")
    assert {name: seen.body[name] for name in EXTRA_BODY} == dict(EXTRA_BODY)
    assert (seen.body["temperature"], seen.body["max_tokens"]) == (0.0, 300)
    assert [(row.provider, row.model) for row in chat.rows] == [("local", MODEL_NAME)]
    await chat.runner.close()
    assert local.closed


async def test_the_local_model_sees_no_tools(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "tools.py"
    file.write_text(
        "from agents import Agent, function_tool\n"
        "@function_tool\ndef look() -> str:\n    'Look.'\n    return 'x'\n"
        "agent = Agent(name='T', tools=[look])\n"
    )
    local: Any = FakeLocal(model_server.base_url)
    chat = await make_chat(agent=f"{file}:agent", local=local)
    await chat.ask("Hi", model="local")
    await chat.ask("Hi")
    assert ["tools" in seen.body and bool(seen.body["tools"]) for seen in model_server.requests] == [
        False,
        True,
    ]


async def test_a_run_that_has_to_wait_for_the_model_says_so(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await chat.ask("Hi")
    assert [event.reason for event in chat.of(Waiting)] == ["the model is getting ready"]
    await chat.ask("Again")
    assert chat.of(Waiting) == []


async def test_without_anything_the_tour_answers(make_chat: MakeChat) -> None:
    chat = await make_chat(config=Config())
    assert chat.runner.model_info().name == "tour"
    await chat.ask("Hi")
    assert chat.text.startswith("**Scripted guide, not an AI**")


async def test_a_local_model_that_cannot_run_is_one_line(make_chat: MakeChat) -> None:
    local: Any = FakeLocal("", usable=False)
    chat = await make_chat(local=local)
    await chat.runner.prepare("local")
    assert not chat.runner.ready
    result = await chat.ask("Hi", model="local")
    assert result.error == (
        "the local model needs the extra. Choose another with /model, or take the tour: /model tour"
    )


async def test_a_routed_model_without_its_extra_is_one_line(make_chat: MakeChat) -> None:
    chat = await make_chat()
    result = await chat.ask("Hi", model="any-llm/mistral/small")
    assert result.outcome == "failed"
    assert "advchat[providers]" in (result.error or "")


def test_what_a_model_is_called() -> None:
    pricing = Pricing()
    config = Config(
        model="gpt-4.1",
        endpoint=Endpoint(api_key="k"),
        providers={"box": Endpoint(name="box", base_url="http://box:8080")},
        prices={"own": OwnPrice(free=True)},
    )
    runner = AgentsRunner(settings(None, config=config, pricing=pricing))
    before = runner.model_info()
    assert (before.name, before.label, before.provider, before.context_window) == (
        "gpt-4.1", "gpt-4.1", "openai", None,
    )  # fmt: skip
    pricing.load()
    assert (runner.model_info().context_window or 0) > 100_000
    assert runner.model_info("box/llama").label == "llama · box"
    assert runner.model_info("own").free
    assert not runner.model_info("other").free


async def test_the_name_of_a_default_model_is_known_once_the_sdk_is(tmp_path: Path) -> None:
    runner = AgentsRunner(settings("http://127.0.0.1:9", model=None))
    assert runner.model_info().label == "default model"
    await runner.prepare()
    assert runner.model_info().name.startswith("gpt-")
    await runner.close()


async def test_an_agents_own_model_is_named_once_it_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "own_model.py"
    file.write_text("from agents import Agent\nagent = Agent(name='A', model='its-own')\n")
    runner = AgentsRunner(settings("http://127.0.0.1:9", model=None, agent=f"{file}:agent"))
    assert runner.model_info().name == ""
    await runner.prepare()
    assert runner.model_info().name == "its-own"
    await runner.close()
