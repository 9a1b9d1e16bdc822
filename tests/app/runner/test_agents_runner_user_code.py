"""The user's own agent: how it is loaded, and what its failures look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from advchat.agents_runner import AgentsRunner
from advchat.events import ToolFinished, ToolStarted
from tests.app.runner.kit import MakeChat, settings
from tests.server import Call, ModelServer, say

ROOT = Path(__file__).parents[3]

CODE = '''
from agents import (
    Agent, GuardrailFunctionOutput, RunHooks, AgentHooks, function_tool, input_guardrail, output_guardrail
)

@function_tool(failure_error_function=None)
def boom(at: str) -> str:
    """Raises."""
    raise RuntimeError(f"no {at} [/")

@function_tool
def soft(at: str) -> str:
    """Raises, and the model is told."""
    raise LookupError(f"nothing at {at}")

@function_tool
def look(at: str) -> str:
    """Looks."""
    return f"saw {at}"

@function_tool(needs_approval=True)
def danger() -> str:
    """Needs approval."""
    return "done"

@input_guardrail
async def polite(context, agent, prompt):
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered="rude" in str(prompt[-1]))

@output_guardrail
async def clean(context, agent, output):
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered="dirt" in str(output))

class Hooks(AgentHooks):
    async def on_end(self, context, agent, output):
        raise ZeroDivisionError("in the hook")

agent = Agent(
    name="A", tools=[boom, soft, look, danger], input_guardrails=[polite], output_guardrails=[clean]
)
hooked = Agent(name="H", hooks=Hooks())
number = 7
'''


@pytest.fixture
def code(tmp_path: Path) -> Path:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    (tmp_path / "some_agents.py").write_text(CODE)
    return file


async def test_a_tools_crash_fails_the_run_with_the_users_traceback(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say("Trying. ", Call("boom", {"at": "sky"})))
    result = await chat.ask("Go")
    assert result.outcome == "failed"
    assert result.error == "The agent's own code failed: RuntimeError: no sky [/"
    assert f'File "{code}"' in (result.detail or "")
    assert 'raise RuntimeError(f"no {at} [/")' in (result.detail or "")
    assert await chat.lines() == ["user: Go", "assistant: Trying. "]
    assert [row.status for row in chat.rows] == ["completed"]
    assert (await chat.ask("Still there?")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Go", "assistant: Trying. ", "user: Still there?"]


async def test_a_tools_crash_that_the_model_is_told_of_shows_its_traceback_too(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("soft", {"at": "sea"})), "Sorry")
    result = await chat.ask("Go")
    assert (result.outcome, chat.text) == ("completed", "Sorry")
    assert "LookupError: nothing at sea" in (result.detail or "")
    assert [event.name for event in chat.of(ToolFinished)] == ["soft"]


async def test_a_hooks_crash_keeps_the_answer(make_chat: MakeChat, code: Path) -> None:
    chat = await make_chat(agent=f"{code}:hooked")
    result = await chat.ask("Go")
    assert result.outcome == "failed"
    assert result.error == "The agent's own code failed: ZeroDivisionError: in the hook"
    assert await chat.lines() == ["user: Go", "assistant: Echo: Go"]


async def test_an_unknown_tool_is_told_to_the_model(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("zork", {})), say(Call("look", "{broken")), "Well")
    result = await chat.ask("Go")
    assert (result.outcome, chat.text) == ("completed", "Well")


async def test_guardrails_refuse(make_chat: MakeChat, model_server: ModelServer, code: Path) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    result = await chat.ask("Something rude")
    assert (result.outcome, result.error) == ("refused", "The agent's guardrail “polite” stopped the run.")
    model_server.script("dirt")
    chat.branch = "main"
    result = await chat.ask("Something else")
    assert (result.outcome, result.error) == ("refused", "The agent's guardrail “clean” stopped the run.")
    assert await chat.lines() == ["user: Something rude", "user: Something else"]


async def test_an_agent_that_never_ends_is_told(
    make_chat: MakeChat, model_server: ModelServer, code: Path
) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.default = lambda seen: say(Call("look", {"at": "sky"}, call_id=f"c{seen.number}"))
    result = await chat.ask("Go")
    assert result.outcome == "failed"
    assert result.error == ("The agent called its tools without coming to an end. Continue lets it go on.")
    assert len(await chat.lines()) == 1 + 2 * len(model_server.requests)
    model_server.default = lambda seen: None
    assert (await chat.ask("Enough")).outcome == "completed"


async def test_an_approval_cannot_be_given(make_chat: MakeChat, model_server: ModelServer, code: Path) -> None:
    chat = await make_chat(agent=f"{code}:agent")
    model_server.script(say(Call("danger", {})))
    result = await chat.ask("Go")
    assert (result.outcome, result.error) == (
        "failed",
        "The tool danger asks for an approval, which cannot be given here.",
    )
    assert (await chat.ask("Then not")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Go", "user: Then not"]


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("nothing", "--agent takes FILE.py:NAME or MODULE:NAME, not “nothing”."),
        ("{folder}/missing.py:agent", "{folder}/missing.py is no file that can be read."),
        ("no_such_module_here:agent", "There is no module “no_such_module_here” here."),
        ("{folder}/code.py:agnet", "{folder}/code.py has no “agnet”. Did you mean agent?"),
        ("{folder}/code.py:number", "{folder}/code.py: “number” is a int, not an Agent."),
        ("{folder}/broken.py:agent", "{folder}/broken.py could not be loaded: NameError: name 'nope'"),
        ("{folder}/syntax.py:agent", "{folder}/syntax.py could not be loaded: SyntaxError:"),
        ("{folder}/exits.py:agent", "{folder}/exits.py could not be loaded: SystemExit: 3"),
    ],
)
async def test_an_agent_that_cannot_be_loaded_is_one_line(
    make_chat: MakeChat, code: Path, spec: str, line: str
) -> None:
    folder = code.parent
    (folder / "broken.py").write_text("def f():\n    return nope\n\nf()\n")
    (folder / "syntax.py").write_text("def f(:\n")
    (folder / "exits.py").write_text("raise SystemExit(3)\n")
    chat = await make_chat(agent=spec.format(folder=folder))
    await chat.runner.prepare()
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert (result.error or "").startswith(line.format(folder=folder))
    assert "\n" not in (result.error or "")
    if "broken" in spec:
        assert 'broken.py", line 2, in f' in (result.detail or "")
        assert "importlib" not in (result.detail or "")


async def test_an_agent_of_a_module(
    make_chat: MakeChat, code: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer
) -> None:
    monkeypatch.chdir(code.parent)
    chat = await make_chat(agent="some_agents:agent")
    model_server.script(say(Call("look", {"at": "sky"})), "Done")
    assert (await chat.ask("Go")).outcome == "completed"
    assert [event.name for event in chat.of(ToolStarted)] == ["look"]


async def test_the_example_agent(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(agent=f"{ROOT / 'examples' / 'weather.py'}:agent")
    model_server.script(
        say(Call("get_weather", {"place": "Oslo", "days_ahead": 1})),
        say(Call("convert_temperature", {"degrees": 50, "to": "celsius"})),
        "Take a coat.",
    )
    result = await chat.ask("Oslo?")
    assert (result.outcome, result.detail) == ("completed", None)
    outputs = [event.output for event in chat.of(ToolFinished)]
    assert "'place': 'Oslo'" in outputs[0]
    assert outputs[1] == "10.0"


async def test_a_runner_without_the_agent_still_answers_others(tmp_path: Path) -> None:
    runner = AgentsRunner(settings(None, agent=str(tmp_path / "no.py") + ":agent"))
    await runner.prepare()
    assert runner.ready
    await runner.close()
