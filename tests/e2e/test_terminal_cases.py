"""The whole program in a pseudo-terminal: input, output and leaving, as terminals and people make them."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import OpenTerminal
from tests.e2e.program import arguments, environment
from tests.e2e.terminal import Terminal
from tests.e2e.watching import PATIENCE
from tests.server import Hold, Wait, error, quota, say
from tests.server.threaded import ThreadedServer

NARROW = (100, 30)


def rows(db: Path, query: str) -> list[tuple[object, ...]]:
    """Look into the file beside the program."""
    with closing(sqlite3.connect(db, timeout=10)) as connection:
        return list(connection.execute(query))


def statuses(db: Path) -> list[object]:
    """How the program's requests ended, in order."""
    return [status for (status,) in rows(db, "SELECT status FROM advchat_requests ORDER BY rowid")]


def ask(terminal: Terminal, prompt: str, *answer: str) -> None:
    """Type a prompt, send it, and wait for its answer."""
    terminal.type(prompt)
    terminal.wait(prompt)
    terminal.press("enter")
    terminal.wait(*answer)


def choose(terminal: Terminal, label: str, happened: Callable[[], object]) -> None:
    """Click a button; where the row has moved from under the mouse, click it again, as people do."""
    for seconds in (10.0, 10.0, PATIENCE):
        terminal.click(*terminal.find(label))
        try:
            terminal.wait_for(happened, seconds)
        except AssertionError:
            if seconds == PATIENCE:
                raise
        else:
            return


def test_a_prompt_typed_at_the_first_frame_goes_out_by_itself(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    terminal = open_terminal()
    terminal.wait("Write a prompt")
    terminal.type("Early bird")
    terminal.wait("Early bird")
    terminal.press("enter")
    terminal.wait("Echo: Early bird")
    assert server.histories == [["user: Early bird"]]


def test_a_prompt_sent_before_the_first_frame_waits_for_it(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    terminal = open_terminal()
    while b"\x1b[?1049h" not in bytes(terminal.raw):
        assert terminal.pump(40.0), "the program has not begun"
    terminal.type("Very early bird")
    terminal.press("enter")
    terminal.wait("Echo: Very early bird")
    assert server.histories == [["user: Very early bird"]]


def test_case_05_what_a_model_streams_cannot_steer_the_terminal(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    evil = "A\x1b]52;c;ZXZpbA==\x07B\u009b2JC\x1b[2JD\rE\x00F\x1b]0;owned\x07G\u202eH"
    server.server.script(say(evil, " and out."))
    terminal = open_terminal()
    terminal.wait("ready")
    ask(terminal, "Steer", "and out.")
    raw = bytes(terminal.raw)
    assert b"\x1b]52" not in raw
    assert not [body for kind, body in terminal.screen.strings if kind == "osc" and body.startswith("52")]
    assert not [body for kind, body in terminal.screen.strings if "owned" in body]
    assert "\u009b".encode() not in raw
    assert b"\x00" not in raw
    assert "\u202e".encode() not in raw
    assert "Steer" in terminal.text(), "the screen was not cleared"
    terminal.wait("␛")


def test_case_11_bytes_that_are_no_utf8_leave_the_draft(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    terminal.type("ab")
    terminal.wait("ab")
    terminal.write(b"\xff\xfe")
    terminal.wait("ab\ufffd\ufffd")
    ask(terminal, "cd", "Echo: ab\ufffd\ufffdcd")
    assert server.histories == [["user: ab\ufffd\ufffdcd"]]


def test_case_15_and_43_what_one_read_brings(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    terminal.write(b"a first line\r\na second line")
    terminal.wait("a first line", "a second line")
    terminal.write(b"\r\r")
    terminal.wait("Echo: a first line", "ready")
    terminal.type("still there")
    terminal.wait("still there")
    assert server.histories == [["user: a first line\na second line"]]


def test_case_17_a_huge_paste_is_taken_whole(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    pasted = "漢字かな" * 8_500
    terminal.paste(pasted)
    terminal.wait("漢字かな漢字かな")
    terminal.type("!")
    terminal.wait("!")
    terminal.press("enter")
    assert server.arrived(1).prompt == pasted + "!"


def test_case_18_every_pasted_line_is_kept(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    terminal.paste("one\r\ntwo\rthree\n\tfour")
    terminal.wait("three", "four")
    terminal.press("enter")
    assert server.arrived(1).prompt.split() == ["one", "two", "three", "four"]
    assert server.arrived(1).prompt.startswith("one\ntwo\nthree\n")


@pytest.mark.parametrize("newline", [b"\n", b"\x1b\r", b"\x1b[13;2u", b"\x1b[27;2;13~"])
def test_case_20_each_newline_key_of_each_terminal(
    open_terminal: OpenTerminal, server: ThreadedServer, newline: bytes
) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("Write a prompt")
    terminal.type("one")
    terminal.wait("one")
    terminal.write(newline)
    terminal.type("two")
    terminal.wait("two")
    terminal.press("enter")
    assert server.arrived(1).prompt == "one\ntwo"


def test_case_22_ctrl_c_keeps_the_draft_and_the_program(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    terminal.type("a long draft")
    terminal.wait("a long draft")
    terminal.press("ctrl+c", "ctrl+c", "ctrl+c")
    ask(terminal, " goes on", "Echo: a long draft goes on")


def test_case_25_letters_after_enter_stay_in_the_draft(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    server.server.script(say("sure", Wait("later")))
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    terminal.type("안녕")
    terminal.wait("안녕")
    terminal.press("enter")
    assert server.arrived(1).prompt == "안녕"
    terminal.type("요")
    terminal.wait("sure", "요")
    server.open("later")
    terminal.press("enter")
    assert server.arrived(2).prompt == "요"


def test_case_30_any_size_while_streaming_with_a_dialog_open(
    open_terminal: OpenTerminal, server: ThreadedServer
) -> None:
    server.server.script(say("begun ", Wait("later"), "and done."))
    terminal = open_terminal(size=(80, 24))
    terminal.wait("ready")
    ask(terminal, "Stream", "begun")
    terminal.press("ctrl+p")
    terminal.wait("Command")
    for size in ((2, 1), (0, 0), (1, 1), (300, 3), (80, 24)):
        terminal.resize(*size)
    server.open("later")
    terminal.press("escape")
    terminal.wait("Stream", "begun and done.")
    ask(terminal, "More", "Echo: More")


def test_case_33_esc_stops_a_silent_stream(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path
) -> None:
    server.server.script(say("a beginning ", Hold()))
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    ask(terminal, "Go", "a beginning")
    terminal.press("escape")
    terminal.wait("stopped", seconds=10)
    server.gone(server.arrived(1))
    ask(terminal, "Next", "Echo: Next")
    assert server.histories[-1] == ["user: Go", "assistant: a beginning ", "user: Next"]
    assert statuses(home / "chat.db") == ["stopped", "completed"]


def test_case_58_two_programs_share_one_file(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    for name in ("left", "right"):
        server.server.when(name, say(f"{name} begins ", Wait("both"), f"{name} ends"))
    left = open_terminal("--new", size=NARROW)
    left.wait("ready")
    right = open_terminal("--new", size=NARROW)
    right.wait("ready")
    ask(left, "left", "left begins")
    ask(right, "right", "right begins")
    server.open("both")
    left.wait("left ends", "ready")
    right.wait("right ends", "ready")
    for terminal in (left, right):
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert server.histories == [["user: left"], ["user: right"]]


def test_kill_9_in_mid_answer_loses_nothing(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path
) -> None:
    server.server.script(say("The answer begins", Hold()))
    terminal = open_terminal()
    terminal.wait("ready")
    ask(terminal, "Important", "The answer begins")
    db = home / "chat.db"
    terminal.wait_for(lambda: ("The answer begins",) in rows(db, "SELECT partial FROM advchat_journal"))
    terminal.type("half a dra")
    terminal.wait("half a dra")
    terminal.kill()
    again = open_terminal()
    again.wait("ready", "Important", "The answer begins", "nterrupted", "Continue", "Retry", "Discard")
    assert len(server.histories) == 1, "nothing is asked again by itself"
    choose(again, "Continue", lambda: len(server.histories) == 2)
    assert server.histories[1][:2] == ["user: Important", "assistant: The answer begins"]


@pytest.mark.parametrize(("choice", "then"), [("Retry", ["user: Important"]), ("Discard", None)])
def test_an_interrupted_answer_is_settled_in_place(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path, choice: str, then: list[str] | None
) -> None:
    server.server.script(say("The answer begins", Hold()), "The answer is whole.")
    terminal = open_terminal()
    terminal.wait("ready")
    ask(terminal, "Important", "The answer begins")
    db = home / "chat.db"
    terminal.wait_for(lambda: ("The answer begins",) in rows(db, "SELECT partial FROM advchat_journal"))
    terminal.kill()
    again = open_terminal()
    again.wait("nterrupted", "ready")
    choose(again, choice, lambda: len(server.histories) == 2 or "The answer begins" not in again.text())
    if then is None:
        again.wait_gone("The answer begins")
        again.wait("Important")
    else:
        again.wait("The answer is whole.")
        assert server.histories[-1] == then


def test_case_87_a_terminal_that_goes_away_ends_the_program(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path
) -> None:
    server.server.script(say("begun", Hold()))
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    ask(terminal, "Go", "begun")
    terminal.type("a draft")
    terminal.wait("a draft")
    terminal.hang_up()
    terminal.wait_exit(10)
    assert statuses(home / "chat.db") == ["stopped"]
    again = open_terminal(size=NARROW)
    again.wait("begun", "a draft")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_case_88_a_signal_restores_the_terminal_and_saves(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path, number: signal.Signals
) -> None:
    server.server.script(say("begun", Hold()))
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    ask(terminal, "Go", "begun")
    assert not terminal.screen.restored()
    terminal.send_signal(number)
    assert terminal.wait_exit() == 128 + number
    assert terminal.screen.restored()
    assert terminal.cooked()
    assert "Traceback" not in terminal.text()
    assert statuses(home / "chat.db") == ["stopped"]


def test_case_90_what_cannot_begin_ends_at_once_with_one_line(open_terminal: OpenTerminal, home: Path) -> None:
    notes = home / "notes.txt"
    notes.write_text("no database\n" * 100)
    terminal = open_terminal(db=notes, size=NARROW)
    assert terminal.wait_exit() == 1
    assert terminal.screen.restored()
    assert terminal.cooked()
    assert "notes.txt" in terminal.text().replace("\n", "")
    assert "Traceback" not in terminal.text()
    assert notes.read_text() == "no database\n" * 100


def test_case_90_quitting_while_everything_is_under_way_is_prompt(
    open_terminal: OpenTerminal, server: ThreadedServer, home: Path
) -> None:
    server.server.script(say("begun", Hold()))
    terminal = open_terminal(size=NARROW)
    terminal.wait("Write a prompt")
    terminal.press("ctrl+q")
    assert terminal.wait_exit(10) == 0, "while the SDK is still being imported"
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    ask(terminal, "Go", "begun")
    terminal.press("ctrl+q")
    terminal.wait("again")
    terminal.press("ctrl+q")
    assert terminal.wait_exit(10) == 0
    assert terminal.screen.restored()
    assert statuses(home / "chat.db") == ["stopped"]


def test_case_91_suspending_and_coming_back(home: Path, server: ThreadedServer) -> None:
    server.server.script(say("begun ", Wait("later"), "and done."))
    (home / "inputrc").write_text("set enable-bracketed-paste off\n")  # else the shell itself sets a mode
    env = environment(home, PS1="shell> ", INPUTRC=str(home / "inputrc"))
    command = arguments(db=home / "chat.db", base_url=server.base_url)
    with Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env=env, size=NARROW) as shell:
        shell.wait("shell>")
        shell.type(" ".join(command))
        shell.press("enter")
        shell.wait("ready")
        ask(shell, "Go", "begun")
        shell.press("ctrl+z")
        shell.wait("Stopped", "shell>")
        assert shell.screen.restored()
        shell.type("echo it is $((40 + 2))")
        shell.press("enter")
        shell.wait("it is 42")
        shell.resize(90, 28)
        server.open("later")
        shell.type("fg")
        shell.press("enter")
        shell.wait("begun and done.", "ready")
        assert not shell.screen.restored()
        ask(shell, "More", "Echo: More", "ready")
        shell.press("ctrl+q")
        shell.wait("shell>")
        assert shell.screen.restored()
        shell.type("echo $? is how it ended")
        shell.press("enter")
        shell.wait("0 is how it ended")


@pytest.mark.parametrize(
    ("line", "named"),
    [("/fork 99", "99"), ("/switch nothing", "nothing"), ("/frobnicate", "frobnicate"), ("/switch", "/switch")],
)
def test_a_refused_command_is_said_and_stays_in_the_composer(
    open_terminal: OpenTerminal, server: ThreadedServer, line: str, named: str
) -> None:
    terminal = open_terminal(size=NARROW)
    terminal.wait("ready")
    ask(terminal, "Hello", "Echo: Hello", "ready")
    terminal.type(line)
    terminal.press("enter")
    terminal.wait(lambda text: "! " in text and named in text, line)
    assert len(server.histories) == 1


def test_a_failed_request_keeps_prompt_and_program(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    server.server.script(quota(), error(404, "The model `test-model` does not exist", code="model_not_found"))
    terminal = open_terminal()
    terminal.wait("ready")
    ask(terminal, "First try", "billing")
    ask(terminal, "Second try", "/model")
    ask(terminal, "Third try", "Echo: Third try")
    assert json.dumps(server.histories[-1]).count("try") == 3
