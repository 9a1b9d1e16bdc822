"""`advchat ask`: where a prompt goes, what is printed, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.program import EXECUTABLE, environment
from tests.flows.cli import CommandLine
from tests.server import Call, Cut, Fail, Hold, Usage, quota, rate_limited, say
from tests.server.threaded import ThreadedServer

U = {
    "requests", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "total_tokens", "cost_usd", "at_least",
}  # fmt: skip


def test_each_ask_begins_a_conversation_unless_it_continues(line: CommandLine) -> None:
    first = line.ask("One")
    assert (first.code, first.out, first.err) == (0, "Echo: One\n", "")
    assert line.ask("-c", "Two").out == "Echo: Two\n"
    assert line.ask("Alone").code == 0
    assert line.ask("More", "--continue").code == 0
    assert line.server.histories == [
        ["user: One"],
        ["user: One", "assistant: Echo: One", "user: Two"],
        ["user: Alone"],
        ["user: Alone", "assistant: Echo: Alone", "user: More"],
    ]
    titles = [found["title"] for found in line("conversations", "--json").json]
    assert titles == ["Alone", "One"]


def test_conversation_and_branch_are_found_by_title(line: CommandLine) -> None:
    for prompt in ("One", "Other"):
        line.ask(prompt)
    assert line.ask("--conversation", "One", "Two").code == 0
    assert line.ask("--conversation", "One", "--fork", "2", "Second way").code == 0
    branches = line("branches", "--conversation", "One", "--json").json
    assert [branch["title"] for branch in branches] == ["", "Second way"]
    assert line.ask("--conversation", "One", "--branch", "second way", "Deeper").code == 0
    assert line.server.histories[-1] == [
        "user: One",
        "assistant: Echo: One",
        "user: Second way",
        "assistant: Echo: Second way",
        "user: Deeper",
    ]
    assert line.ask("--conversation", "One", "--branch", "main", "Third").code == 0
    assert line.server.histories[-1][-3:] == ["user: Two", "assistant: Echo: Two", "user: Third"]


def test_branch_and_fork_become_current(line: CommandLine) -> None:
    line.ask("One")
    line.ask("-c", "--fork", "1", "Uno")
    assert line.server.histories[-1] == ["user: Uno"]
    tree = line("branches", "--json").json
    assert [(branch["is_current"], branch["fork_turn"], branch["user_turns"]) for branch in tree] == [
        (False, None, 1),
        (True, 1, 1),
    ]
    line.ask("-c", "Due")
    assert line.server.histories[-1] == ["user: Uno", "assistant: Echo: Uno", "user: Due"]
    line.ask("--branch", "main", "Two")
    assert line("branches", "--json").json[0]["is_current"]
    assert [turn["content"] for turn in line("turns", "--json").json] == ["One", "Two"]


@pytest.mark.parametrize("words", [(), ("-",)])
def test_the_prompt_may_come_from_standard_input(line: CommandLine, words: tuple[str, ...]) -> None:
    assert line.ask(*words, stdin="naïve\nsecond line\n".encode()).code == 0
    assert line.server.histories == [["user: naïve\nsecond line"]]


def test_case_11_bytes_that_are_no_utf8_are_replaced(line: CommandLine) -> None:
    assert line.ask(stdin=b"ab\xff\xfecd").code == 0
    assert line.server.histories == [["user: ab\ufffd\ufffdcd"]]


def test_json_is_a_line_per_event(line: CommandLine) -> None:
    line.server.server.script(
        say("Hello ", "world", usage=Usage(input=12, output=3, cached=8, reasoning=1), model="gpt-4.1-mini")
    )
    said = line.ask("--json", "Hi")
    assert (said.code, said.err) == (0, "")
    started, *deltas, finished = said.events
    assert started["type"] == "started"
    assert {delta["type"] for delta in deltas} == {"delta"}
    assert "".join(delta["text"] for delta in deltas) == "Hello world"
    (conversation,) = line("conversations", "--json").json
    assert finished | {"usage": None} == {
        "type": "finished",
        "status": "completed",
        "text": "Hello world",
        "conversation_id": conversation["conversation_id"],
        "branch_id": "main",
        "turn": 1,
        "usage": None,
        "error": None,
    }
    assert set(finished["usage"]) == U
    assert finished["usage"]["cost_usd"] == pytest.approx((4 * 0.40 + 8 * 0.10 + 3 * 1.60) / 1e6)
    assert finished["usage"] | {"cost_usd": 0} == {
        "requests": 1,
        "input_tokens": 12,
        "cached_tokens": 8,
        "cache_write_tokens": 0,
        "output_tokens": 3,
        "reasoning_tokens": 1,
        "total_tokens": 15,
        "cost_usd": 0,
        "at_least": False,
    }


AGENT = """
from agents import Agent, function_tool

@function_tool
def look(at: str) -> str:
    return f"nothing {at}"

agent = Agent(name="Looker", instructions="Look.", tools=[look])
"""


def test_tools_are_told_on_standard_error_and_in_json(line: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "looker.py"
    file.write_text(AGENT)
    up, down = (say(Call("look", {"at": way})) for way in ("up", "down"))
    line.server.server.script(up, "Seen.", down, "Done.")
    plain = line.ask("Look", "--agent", f"{file}:agent")
    assert (plain.code, plain.out) == (0, "Seen.\n")
    assert "look" in plain.err
    assert "Traceback" not in plain.err
    events = line.ask("-c", "Again", "--json", "--agent", f"{file}:agent").events
    tools = [event for event in events if event["type"] == "tool"]
    assert [(tool["status"], tool["name"]) for tool in tools] == [("started", "look"), ("finished", "look")]
    assert json.loads(tools[0]["arguments"]) == {"at": "down"}
    assert tools[1]["output"] == "nothing down"
    assert events[-1]["usage"]["requests"] == 2


def test_a_failure_is_one_line_and_exit_1(line: CommandLine) -> None:
    line.server.server.script(quota())
    said = line.ask("Hi")
    assert "billing" in said.complaint(1)
    assert len(line.server.histories) == 1, "a quota that is used up is not asked for again"
    (turn,) = line("turns", "--json").json
    assert (turn["content"], turn["status"]) == ("Hi", "failed")


def test_a_failure_inside_the_stream_keeps_what_came(line: CommandLine) -> None:
    line.server.server.script(say("par", Fail("It broke")))
    said = line.ask("Hi", "--json")
    assert said.code == 1
    assert said.events[-1]["status"] == "failed"
    assert said.events[-1]["text"] == "par"
    assert "It broke" in said.events[-1]["error"]
    line.ask("-c", "Go on")
    assert line.server.histories[-1] == ["user: Hi", "assistant: par", "user: Go on"]


def test_case_37_an_answer_that_was_cut_off_is_interrupted(line: CommandLine) -> None:
    line.server.server.script(say("par", Cut()))
    said = line.ask("Hi")
    assert said.code == 1
    assert said.out == "par\n"
    assert said.err.count("\n") == 1
    (turn,) = line("turns", "--json").json
    assert turn["status"] == "interrupted"


@pytest.mark.parametrize("answer", ["par", ""])
def test_ctrl_c_stops_keeps_what_came_and_exits_130(
    line: CommandLine, server: ThreadedServer, home: Path, answer: str
) -> None:
    server.server.script(say(answer, Hold()) if answer else say(Hold()))
    argv = [EXECUTABLE, "ask", "Hi", "--db", line.db, "--base-url", server.base_url, "--model", "test-model"]
    with subprocess.Popen(
        [str(word) for word in argv],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        seen = server.arrived(1)
        if answer:
            assert process.stdout is not None
            assert process.stdout.read(3) == b"par"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out.strip(), b"Traceback" in err) == (b"", False)
    server.gone(seen)
    (turn,) = line("turns", "--json").json
    assert turn["status"] == "stopped"
    assert line("usage", "--json").json["total"]["at_least"], "what a stopped request has cost is not known"
    line.ask("-c", "Go on")
    kept = ["assistant: par"] if answer else []
    assert line.server.histories[-1] == ["user: Hi", *kept, "user: Go on"]


def test_case_44_quota_is_not_asked_for_again_but_a_limit_is(line: CommandLine) -> None:
    line.server.server.script(rate_limited(0.01), "After all")
    said = line.ask("Hi")
    assert (said.code, said.out) == (0, "After all\n")
    assert "…" in said.err, "the wait is told"
