"""The whole program in tmux: chat, fork, switch, quit, come back; and what the file then holds for others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import OpenTmux
from tests.e2e.tmux import Tmux
from tests.server import Usage, say
from tests.server.threaded import ThreadedServer

MODEL = "gpt-4.1-mini"
ONE = ["user: One", "assistant: Uno."]
TWO = ["user: Two", "assistant: Due."]
THREE = ["user: Three", "assistant: Tre."]


def script(server: ThreadedServer) -> None:
    """Answers one to seven, each with usage of its own."""
    words = ("Uno.", "Due.", "Tre.", "Zwei.", "Quattro.", "Cinque.", "Sei.")
    server.server.script(
        *(
            say(word, usage=Usage(input=1000 * n, output=100 * n, cached=10 * n, reasoning=n), model=MODEL)
            for n, word in enumerate(words, 1)
        )
    )


def ask(tmux: Tmux, prompt: str, answer: str) -> None:
    """Type a prompt, send it, wait for its answer and until nothing runs any more."""
    tmux.type(prompt)
    tmux.wait(prompt)
    tmux.press("Enter")
    tmux.wait(answer, "ready")
    tmux.wait_gone("⟳", "Esc Stop")


def test_chat_fork_switch_quit_and_come_back(open_tmux: OpenTmux, server: ThreadedServer, home: Path) -> None:
    script(server)
    tmux = open_tmux("--model", MODEL)
    tmux.wait("ready")
    for prompt, answer in (("One", "Uno."), ("Two", "Due."), ("Three", "Tre.")):
        ask(tmux, prompt, answer)

    tmux.press("F3")
    tmux.wait("f Fork")
    tmux.press("Up")
    tmux.press("f")
    tmux.wait_gone("Due.", "Tre.")
    ask(tmux, "Zwei bitte", "Zwei.")
    assert server.histories[3] == [*ONE, "user: Zwei bitte"]

    tmux.type("/switch main")
    tmux.press("Enter")
    tmux.wait("Tre.")
    tmux.wait_gone("Zwei.")
    ask(tmux, "Four", "Quattro.")
    assert server.histories[4] == [*ONE, *TWO, *THREE, "user: Four"]
    _wait_for_total(tmux, server)
    tmux.wait("ready")
    tmux.press("C-q")
    assert tmux.wait_exit() == 0

    again = open_tmux("--model", MODEL)
    again.wait("Quattro.", "Zwei bitte", "ready")
    _wait_for_total(again, server)
    ask(again, "Five", "Cinque.")
    assert server.histories[5] == [*ONE, *TWO, *THREE, "user: Four", "assistant: Quattro.", "user: Five"]
    again.type("/switch Zwei bitte")
    again.press("Enter")
    again.wait("Zwei.")
    ask(again, "Sechs", "Sei.")
    assert server.histories[6] == [*ONE, "user: Zwei bitte", "assistant: Zwei.", "user: Sechs"]
    _wait_for_total(again, server)
    again.wait("ready")
    again.press("C-q")
    assert again.wait_exit() == 0
    _holds_for_the_sdk(home / "chat.db")


def _wait_for_total(tmux: Tmux, server: ThreadedServer) -> None:
    """Wait until the usage panel tells what the server has billed in all."""
    total = f"{server.server.billed.total:,}"
    tmux.wait(lambda text: any("total" in line and line.rstrip().endswith(total) for line in text.split("\n")))


def _holds_for_the_sdk(path: Path) -> None:
    """The SDK's own class finds the same branches, items and usage in the file."""
    import asyncio

    from agents.extensions.memory import AdvancedSQLiteSession

    with closing(sqlite3.connect(path)) as connection:
        (ident,) = connection.execute("SELECT session_id FROM agent_sessions").fetchone()

    async def look() -> None:
        session = AdvancedSQLiteSession(session_id=ident, db_path=path)
        try:
            branches = await session.list_branches()
            assert [(branch["user_turns"], branch["message_count"]) for branch in branches] == [(5, 10), (3, 6)]
            said = [
                [_text(item) for item in await session.get_items(branch_id=branch["branch_id"])]
                for branch in branches
            ]
            assert " ".join(said[0]) == "One Uno. Two Due. Three Tre. Four Quattro. Five Cinque."
            assert said[1] == ["One", "Uno.", "Zwei bitte", "Zwei.", "Sechs", "Sei."]
            usage = await session.get_session_usage()
            assert usage is not None
            assert (usage["requests"], usage["total_tokens"]) == (7, 1100 * sum(range(1, 8)))
            turns: Any = await session.get_turn_usage(branch_id="main")
            assert [turn["input_tokens"] for turn in turns] == [1000, 2000, 3000, 5000, 6000]
        finally:
            session.close()

    asyncio.run(look())


def _text(item: Any) -> str:
    content = item["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_a_fork_at_turn_1_begins_empty(open_tmux: OpenTmux, server: ThreadedServer) -> None:
    tmux = open_tmux()
    tmux.wait("ready")
    ask(tmux, "Hello", "Echo: Hello")
    tmux.type("/fork 1 Fresh start")
    tmux.press("Enter")
    tmux.wait("Fresh start")
    tmux.wait_gone("Echo: Hello")
    ask(tmux, "Bonjour", "Echo: Bonjour")
    assert server.histories == [["user: Hello"], ["user: Bonjour"]]
    tmux.wait("ready")
    tmux.press("C-q")
    assert tmux.wait_exit() == 0
    again = open_tmux()
    again.wait("Fresh start", "Echo: Bonjour")


@pytest.mark.parametrize("where", ["turn list", "transcript"])
def test_a_fork_by_mouse(open_tmux: OpenTmux, server: ThreadedServer, where: str) -> None:
    tmux = open_tmux()
    tmux.wait("ready")
    ask(tmux, "First", "Echo: First")
    ask(tmux, "Second", "Echo: Second")
    tmux.wait(lambda text: text.count("⑂ Fork") == 2)
    if where == "transcript":
        tmux.click(*tmux.find("⑂ Fork", nth=1))
    else:
        _, row = tmux.find("   2 Second")
        marks = [place for place in _places(tmux, "⑂") if place[1] == row]
        tmux.click(*marks[0])
    tmux.wait_gone("Echo: Second")
    ask(tmux, "Instead", "Echo: Instead")
    assert server.histories[-1] == ["user: First", "assistant: Echo: First", "user: Instead"]


def _places(tmux: Tmux, text: str) -> list[tuple[int, int]]:
    count = tmux.text().count(text)
    return [tmux.find(text, nth=number) for number in range(count)]


def test_the_tour_needs_no_key(open_tmux: OpenTmux, server: ThreadedServer) -> None:
    tmux = open_tmux("--model", "tour", connected=False)
    tmux.wait("ready")
    tmux.type("How do I fork?")
    tmux.press("Enter")
    tmux.wait("Scripted guide, not an AI")
    tmux.wait("ready", lambda text: "answering" not in text)
    tmux.type("/fork 1 Another way")
    tmux.press("Enter")
    tmux.wait("Another way")
    tmux.wait_gone("Scripted guide, not an AI")
    tmux.type("And the cost?")
    tmux.press("Enter")
    tmux.wait("Scripted guide, not an AI")
    assert server.histories == [], "the guide asks nobody"
    assert server.server.others == []


@pytest.mark.parametrize("extended", ["off", "on", "always"])
def test_case_21_a_newline_can_be_typed_in_any_tmux(
    open_tmux: OpenTmux, server: ThreadedServer, extended: str
) -> None:
    tmux = open_tmux(settings=[f"set -s extended-keys {extended}"])
    tmux.wait("ready")
    tmux.type("one")
    tmux.press("C-j")
    tmux.type("two")
    tmux.press("M-Enter")
    tmux.type("three")
    tmux.type("\x1b[27;2;13~")
    tmux.type("four")
    tmux.wait("four")
    assert server.histories == []
    tmux.press("Enter")
    tmux.wait("Echo: one")
    assert server.histories == [["user: one\ntwo\nthree\nfour"]]
