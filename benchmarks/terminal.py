"""A pseudo-terminal in which a benchmark runs a program, types, and waits for what is drawn."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from types import TracebackType

COLUMNS, ROWS = 160, 48


class Terminal:
    """A program in a terminal of 160×48; leaving it kills the program."""

    def __init__(self, command: Sequence[str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environ
        )
        os.close(slave)
        self._seen = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._master)

    def type(self, keys: str) -> float:
        """Type keys; return the moment."""
        self._seen = b""
        moment = time.perf_counter()
        os.write(self._master, keys.encode())
        return moment

    def wait(self, marker: str, limit: float = 60.0) -> float:
        """Read until ``marker`` is drawn since the last key; return the moment."""
        sought = marker.encode()
        begun = time.perf_counter()
        while sought not in self._seen:
            if time.perf_counter() - begun > limit:
                raise TimeoutError(f"{marker!r} was not drawn; last came {self._seen[-300:]!r}")
            self.read(0.2)
        return time.perf_counter()

    def read(self, seconds: float) -> None:
        """Take in what is drawn, for at most so long if nothing is."""
        if select.select([self._master], [], [], seconds)[0]:
            self._seen += os.read(self._master, 1 << 16)

    def idle(self, seconds: float) -> None:
        """Take in what is drawn for so long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    @property
    def memory(self) -> float:
        """Resident memory of the program, in MB; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - not a file
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        except OSError:
            return 0.0
