"""A program in a real tmux.

Owns a private tmux server (its own socket, no configuration) and a control client, whose notices of output
are what the waits listen to. Knows nothing of the program.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.e2e.watching import PATIENCE, Watching

TMUX = shutil.which("tmux")
SETTINGS = (
    "set -g status off",
    "set -s escape-time 0",
    "set -g default-terminal screen-256color",
)

_THEN_TELL = '"$@"; echo "[ended $?]"; exec cat'
"""Runs the program and writes its exit code under what it has left: tmux now and then loses a pane's end."""
_ENDED = re.compile(r"\[ended (\d+)\]")


class Tmux(Watching):
    """One program in one pane of a tmux of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        folder: Path,
        size: tuple[int, int] = (160, 48),
        settings: Sequence[str] = (),
    ) -> None:
        """``folder`` is where the socket goes; ``settings`` are tmux commands that run before the program."""
        if TMUX is None:
            raise FileNotFoundError("tmux")
        self._socket = str(folder / f"tmux-{uuid.uuid4().hex[:8]}")
        self._env = {**env, "TERM": "xterm-256color"}
        self._buffer = b""
        self._stale = True
        self._lines: list[str] = []
        columns, rows = size
        begin = f"-f /dev/null -C new-session -x {columns} -y {rows} -s setup cat"
        self._client = subprocess.Popen(
            [TMUX, "-S", self._socket, *begin.split()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._env,
        )
        self._answer()
        for setting in (*SETTINGS, *settings):
            self.command(setting)
        program = shlex.join(["/bin/sh", "-c", _THEN_TELL, "sh", *argv])
        self.command(f"new-window -d -n program {shlex.quote(program)}")
        self.command(f"resize-window -t program -x {columns} -y {rows}")
        self.command("select-window -t program")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server")
        self._client.communicate(timeout=PATIENCE)

    @property
    def socket(self) -> str:
        """The server's socket, for another client."""
        return self._socket

    def lines(self) -> list[str]:
        if self._stale:
            self._stale = False
            self._lines = [line.rstrip() for line in self.command("capture-pane -p -t program")]
        return self._lines

    def whole(self) -> bool:
        return True

    def pump(self, seconds: float) -> bool:
        line = self._line(seconds)
        if line is None:
            return True
        self._note(line)
        return not line.startswith(b"%exit")

    def type(self, text: str) -> None:
        """Type a text."""
        self.command(f"send-keys -t program -l -- {shlex.quote(text)}")

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: ``C-q``, ``F2``, ``Enter``, ``M-Up``."""
        self.command(f"send-keys -t program -- {shlex.join(keys)}")

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell, counted from 0."""
        at = f"{column + 1};{row + 1}"
        for end in "Mm":
            self.type(f"\x1b[<0;{at}{end}")

    def wait_exit(self, seconds: float = PATIENCE) -> int:
        """Wait until the program has ended; gives its exit code. Its last screen stays."""
        ended = _ENDED.search(self.wait(_ENDED.search, seconds=seconds))
        assert ended is not None
        return int(ended[1])

    def command(self, line: str) -> list[str]:
        """Run a tmux command; gives what it prints. Raises AssertionError with tmux's complaint."""
        assert self._client.stdin is not None
        self._client.stdin.write(line.encode() + b"\n")
        self._client.stdin.flush()
        return self._answer(line)

    def _run(self, *words: str, seconds: float = PATIENCE) -> None:
        assert TMUX is not None
        asked = [TMUX, "-S", self._socket, *words]
        subprocess.run(asked, env=self._env, capture_output=True, check=False, timeout=seconds)

    def _answer(self, asked: str = "") -> list[str]:
        said: list[str] | None = None
        while (line := self._line(PATIENCE)) is not None:
            if line.startswith(b"%begin ") and said is None:
                said = []
            elif line.startswith((b"%end ", b"%error ")) and said is not None:
                assert line.startswith(b"%end "), f"tmux: {asked}: {said}"
                return said
            elif line.startswith(b"%exit"):
                break
            elif said is not None:
                said.append(line.decode(errors="replace"))
            else:
                self._note(line)
        raise AssertionError(f"tmux does not answer: {asked}")

    def _note(self, line: bytes) -> None:
        if line.startswith((b"%output ", b"%window-", b"%layout-change ", b"%unlinked-window")):
            self._stale = True

    def _line(self, seconds: float) -> bytes | None:
        """Give the control client's next line, None when none comes in time; ``%exit`` at its end."""
        assert self._client.stdout is not None
        number = self._client.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([number], [], [], seconds)
            if not ready:
                return None
            data = os.read(number, 1 << 16)
            if not data:
                return b"%exit"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line
