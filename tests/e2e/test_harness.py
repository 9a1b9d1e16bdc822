"""The two harnesses, on programs whose behaviour is known."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import OpenTerminal, OpenTmux
from tests.e2e.program import environment
from tests.e2e.screen import EmulatedScreen
from tests.e2e.terminal import Terminal

SHELL = ["/bin/sh", "-c"]
SIZE = "import os; print('size', *os.get_terminal_size()); input(); print('size', *os.get_terminal_size())"


def test_a_terminal_shows_types_resizes_and_ends(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal(argv=[sys.executable, "-c", SIZE], size=(90, 20))
    terminal.wait("size 90 20")
    terminal.resize(50, 10)
    terminal.press("enter")
    terminal.wait("size 50 10")
    assert terminal.wait_exit() == 0
    assert terminal.cooked()


def test_a_terminal_hangs_up_and_signals(home: Path) -> None:
    with Terminal([*SHELL, "echo up; read x"], env=environment(home)) as terminal:
        terminal.wait("up")
        terminal.hang_up()
        assert terminal.wait_exit() in (1, -signal.SIGHUP)


def test_a_wait_that_fails_shows_the_screen(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal(argv=[*SHELL, "echo here; read x"])
    terminal.wait("here")
    with pytest.raises(AssertionError, match="│here"):
        terminal.wait("there", seconds=0.05)
    terminal.press("enter")
    with pytest.raises(AssertionError, match="before the program ended"):
        terminal.wait("there")


def test_tmux_shows_types_and_ends(open_tmux: OpenTmux) -> None:
    tmux = open_tmux(argv=[*SHELL, "stty size; cat; exit 3"], size=(90, 20))
    tmux.wait("20 90")
    tmux.type("héllo $HOME 'x'")
    tmux.press("Enter")
    tmux.wait(lambda text: text.count("héllo $HOME 'x'") == 2)
    assert tmux.find("héllo", nth=1) == (0, 2)
    tmux.press("C-d")
    assert tmux.wait_exit() == 3


def test_the_emulator_knows_two_screens_modes_and_strings() -> None:
    screen = EmulatedScreen(20, 3)
    assert screen.feed(b"shell\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[>1u\x1b[?2026$p\x1b[?2026h") == [
        b"\x1b[?2026;2$y"
    ]
    screen.feed(b"\x1b[1;1Happ\x1b]52;c;eA==\x07\x1b[4:3mx\x1b[")
    assert (screen.lines()[0], screen.settled, screen.restored()) == ("appx", False, False)
    screen.feed(b"?2026l\x1b[<u\x1b[?1000;1006l\x1b[?1049l\x1b[?25h")
    assert (screen.lines()[0], screen.settled, screen.restored()) == ("shell", True, True)
    assert screen.strings == [("osc", "52;c;eA==")]
