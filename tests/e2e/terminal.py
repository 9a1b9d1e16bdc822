"""A program in a real pseudo-terminal.

Owns the child process, its controlling terminal and what is typed into it. The screen is read from an
emulator; the bytes as they came are kept too.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.e2e.screen import EmulatedScreen
from tests.e2e.watching import PATIENCE, Watching

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Run in the child's own interpreter: a function run between fork and exec is unsafe beside threads."""

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "backspace": b"\x7f",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "alt+up": b"\x1b[1;3A",
    "alt+down": b"\x1b[1;3B",
    "alt+right": b"\x1b[1;3C",
    "alt+left": b"\x1b[1;3D",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
} | {f"ctrl+{chr(code + 96)}": bytes([code]) for code in range(1, 27)}


class Terminal(Watching):
    """One program in one pseudo-terminal."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        size: tuple[int, int] = (160, 48),
        cwd: Path | None = None,
    ) -> None:
        """``size`` is columns and rows."""
        self.raw = bytearray()
        """Everything that the program has written."""
        self.screen = EmulatedScreen(*size)
        self._master, slave = pty.openpty()
        self._open = True
        self._set_size(*size)
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _TAKE_TERMINAL, *argv],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.hang_up()

    def lines(self) -> list[str]:
        return self.screen.lines()

    def whole(self) -> bool:
        return self.screen.settled

    def pump(self, seconds: float) -> bool:
        if not self._open:
            return False
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._master, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the last user of the terminal has gone
                raise
            data = b""
        if not data:
            return False
        self.raw += data
        for answer in self.screen.feed(data):
            self._write(answer)
        return True

    def write(self, data: bytes) -> None:
        """Send bytes in a single write, as a terminal does for a key or a paste."""
        self._write(data)

    def type(self, text: str) -> None:
        """Type a text."""
        self._write(text.encode())

    def press(self, *keys: str) -> None:
        """Press keys by name (``ctrl+q``, ``f2``, ``enter``), or single characters."""
        for key in keys:
            self._write(KEYS[key] if key in KEYS else key.encode())

    def paste(self, text: str) -> None:
        """Paste as a terminal with bracketed paste does."""
        self._write(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell, counted from 0."""
        at = f"{column + 1};{row + 1}"
        self._write(f"\x1b[<0;{at}M\x1b[<0;{at}m".encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the terminal's size; the kernel tells the program."""
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def hang_up(self) -> None:
        """Close our end, as a terminal window that is closed does."""
        if self._open:
            self._open = False
            os.close(self._master)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the program alone."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the program and all of its session at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def wait_exit(self, seconds: float = PATIENCE) -> int:
        """Take what comes until the program has ended; gives its exit code."""
        deadline = time.monotonic() + seconds
        while self._open and self.pump(max(0.0, deadline - time.monotonic())):
            if time.monotonic() >= deadline:
                raise AssertionError(f"still running after {seconds} s\n{self.text()}")
        try:
            return self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s\n{self.text()}") from None

    def cooked(self) -> bool:
        """Whether the terminal's line discipline echoes and edits lines, as a shell expects."""
        flags = termios.tcgetattr(self._master)[3]
        return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)

    def _write(self, data: bytes) -> None:
        while data:
            written = os.write(self._master, data)
            data = data[written:]

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
