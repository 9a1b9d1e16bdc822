"""The app in a real pseudo-terminal: what comes in, and how it leaves."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal

ROOT = Path(__file__).parents[3]
Start = Callable[..., Terminal]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")


class Notes:
    """What the program's actions noted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []

    def wait(self, terminal: Terminal, start: str, seconds: float = 20.0) -> str:
        """Wait for a note that begins so, and give it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = [line for line in self.lines() if line.startswith(start)]
            if found:
                return found[-1]
            terminal.pump(0.02)
        raise AssertionError(f"{start!r} was never noted:\n{self.lines()}\n{terminal.text()}")


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "notes.txt")


@pytest.fixture
def start(notes: Notes) -> Iterator[Start]:
    """Start the program, from a shell if one is named, and wait until it takes keys."""
    open_terminals: list[Terminal] = []

    def begin(*arguments: str, size: tuple[int, int] = (120, 30), shell: str | None = None) -> Terminal:
        environ = {
            **{
                name: value for name, value in os.environ.items() if name not in {"DISPLAY", "TMUX", "NO_COLOR"}
            },
            "TERM": "xterm-256color",
            "PYTHONPATH": f"{ROOT / 'src/app'}:{ROOT / 'src/storage'}:{ROOT}",
            # What a shell may export; the terminal's own size counts.
            "COLUMNS": "80",
            "LINES": "24",
            "PS1": "shell> ",
        }
        command = [sys.executable, "-m", "tests.app.terminal.program", str(notes.path), *arguments]
        if shell is not None:
            terminal = Terminal(
                [shell, "--norc", "--noprofile", "--noediting", "-i"], env=environ, size=size, cwd=ROOT
            )
            open_terminals.append(terminal)
            terminal.wait("shell>")
            terminal.type(shlex.join(command) + "\n")
            terminal.wait("Write a prompt", "Recursion, explained")
            return terminal
        terminal = Terminal(command, env=environ, size=size, cwd=ROOT)
        open_terminals.append(terminal)
        terminal.wait("Write a prompt", "Recursion, explained")
        return terminal

    yield begin
    for terminal in open_terminals:
        terminal.kill()
        terminal.hang_up()


def test_a_prompt_is_typed_and_sent(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.type("hello")
    terminal.wait("hello")
    terminal.press("enter")
    assert notes.wait(terminal, "send") == "send ('hello', 'shorter')"


def test_case_11_bytes_that_are_no_utf8_are_replaced_and_the_draft_is_kept(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.type("before ")
    terminal.wait("before")
    terminal.write(b"\xff\xfe")
    terminal.wait("\ufffd")
    terminal.type(" after")
    terminal.wait("after")
    terminal.press("enter")
    assert notes.wait(terminal, "send") == "send ('before \ufffd\ufffd after', 'shorter')"


def test_case_15_a_paste_without_brackets_is_not_sent(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.write(b"first\r\nsecond")
    terminal.wait("first", "second")
    assert not [line for line in notes.lines() if line.startswith("send")]
    terminal.press("enter")
    assert notes.wait(terminal, "send") == "send ('first\\nsecond', 'shorter')"


@pytest.mark.parametrize("newline", [b"\n", b"\x1b\r", b"\x1b[13;2u", b"\x1b[27;2;13~"])
def test_case_20_and_21_each_newline_key_begins_a_line(start: Start, notes: Notes, newline: bytes) -> None:
    terminal = start()
    terminal.type("one")
    terminal.wait("one")
    terminal.write(newline)
    terminal.type("two")
    terminal.wait("two")
    terminal.press("enter")
    assert notes.wait(terminal, "send") == "send ('one\\ntwo', 'shorter')"


def test_case_43_two_enters_in_one_write_send_once(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.type("once")
    terminal.wait("once")
    terminal.write(b"\r\r")
    notes.wait(terminal, "send")
    terminal.type("then")
    terminal.wait("then")
    assert [line for line in notes.lines() if line.startswith("send")] == ["send ('once', 'shorter')"]


def test_ctrl_q_saves_the_draft_and_restores_the_terminal(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.type("unsent")
    terminal.wait("unsent")
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == 0
    assert "save_draft ('unsent', 'shorter')" in notes.lines()
    assert notes.lines()[-1] == "close ()"
    assert terminal.screen.restored()
    assert terminal.cooked()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_case_88_a_signal_saves_and_restores(start: Start, notes: Notes, number: signal.Signals) -> None:
    terminal = start("busy")
    terminal.type("unsent")
    terminal.wait("unsent")
    terminal.send_signal(number)
    assert terminal.wait_exit() == 128 + number
    assert "save_draft ('unsent', 'shorter')" in notes.lines()
    assert notes.lines()[-1] == "close ()"
    assert terminal.screen.restored()
    assert terminal.cooked()


def test_case_87_a_terminal_that_goes_away_ends_the_program_soon(start: Start, notes: Notes) -> None:
    terminal = start("busy")
    terminal.type("unsent")
    terminal.wait("unsent")
    gone = time.monotonic()
    terminal.hang_up()
    terminal.process.wait(10)
    assert time.monotonic() - gone < 4
    assert "save_draft ('unsent', 'shorter')" in notes.lines()
    assert notes.lines()[-1] == "close ()"


def test_case_30_a_terminal_may_become_tiny_and_large_again(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.press("ctrl+p")
    terminal.wait("Rename this conversation")
    for size in ((2, 1), (1, 1), (40, 12), (120, 30)):
        terminal.resize(*size)
    terminal.wait("Rename this conversation")
    terminal.press("escape")
    terminal.wait("Write a prompt")
    terminal.type("still here")
    terminal.wait("still here")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash for job control")
def test_case_91_suspending_gives_the_shell_a_clean_terminal_and_fg_comes_back(
    start: Start, notes: Notes
) -> None:
    terminal = start("busy", shell=shutil.which("bash"))
    terminal.type("kept")
    terminal.wait("kept")
    terminal.press("ctrl+z")
    terminal.wait(lambda text: "shell>" in text.partition("Stopped")[2])
    assert terminal.screen.restored()
    terminal.resize(100, 24)
    terminal.type("fg\n")
    terminal.wait("Recursion, explained", "kept")
    assert len(terminal.lines()) == 24
    terminal.type(" and more")
    terminal.wait("kept and more")
    terminal.press("ctrl+q")
    terminal.wait("Ctrl+Q again")
    terminal.press("ctrl+q")
    terminal.wait("shell>")
    assert terminal.screen.restored()


def test_case_91_without_a_shell_suspending_is_refused(start: Start, notes: Notes) -> None:
    terminal = start()
    terminal.press("ctrl+z")
    terminal.wait("There is no shell to return to")
    terminal.type("alive")
    terminal.wait("alive")
