"""Several branches at once in a real terminal, answered by slow streams."""

from __future__ import annotations

from tests.e2e.conftest import OpenTerminal
from tests.e2e.terminal import Terminal
from tests.server import Text, Wait, say
from tests.server.threaded import ThreadedServer

SLOW = say("begun ", Wait("go on"), Text("slow word " * 40, size=10, rate=400), " and the end.")


def enter(terminal: Terminal, text: str) -> None:
    """Type a line and send it."""
    terminal.type(text)
    terminal.wait(text)
    terminal.press("enter")


def test_eight_slow_streams_side_by_side_while_another_branch_is_asked(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    server.server.when("Fan", *[SLOW] * 8)
    terminal = open_terminal()
    terminal.wait("ready")
    enter(terminal, "Begin")
    terminal.wait("Echo: Begin", "ready")
    enter(terminal, "/fan 8 Fan")
    terminal.wait("Fan-out", "0 of 8 answered", lambda text: text.count("begun") == 8)
    terminal.press("escape")
    terminal.wait("8 elsewhere", lambda text: text.count("⟳") >= 8)
    enter(terminal, "Meanwhile")
    terminal.wait("Echo: Meanwhile", "elsewhere")
    server.open("go on")
    terminal.wait("ready", lambda text: text.count("●") == 8)
    assert sorted(line[-1] for line in server.histories) == sorted(
        ["user: Begin", "user: Meanwhile", *["user: Fan"] * 8]
    )


def test_an_answer_is_kept_flipped_and_compared(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    server.server.when("Fan", say("The quick brown fox."), say("The quick red fox."))
    terminal = open_terminal()
    terminal.wait("ready")
    enter(terminal, "Begin")
    terminal.wait("Echo: Begin", "ready")
    enter(terminal, "/fan 2 Fan")
    terminal.wait("2 of 2 answered", "brown fox", "red fox")
    terminal.press("right")
    terminal.wait("▶ 2")
    terminal.press("enter")
    terminal.wait("‹ 2/2 ›", lambda text: text.count("fox") == 1)
    kept = "brown" if "brown" in terminal.text() else "red"
    other = "red" if kept == "brown" else "brown"
    terminal.press("alt+up")
    terminal.wait("‹ 1/2 ›", f"{other} fox")
    enter(terminal, "/compare 2")
    terminal.wait("Compare", "after 1 shared turn", "brown fox", "red fox", "1 of 1 turns differ")
    terminal.press("escape")
    terminal.wait("‹ 1/2 ›")
