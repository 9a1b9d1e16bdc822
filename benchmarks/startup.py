"""Time from exec to the first frame, and from a key to its echo, beside a bare Textual program.

    python benchmarks/startup.py [--runs 7]

Both are started in a pseudo-terminal in turn, so that the machine's mood meets both alike. The first frame
of advchat counts once its composer is drawn; the key is typed at that moment, while the rest still loads.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HELLO = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello-there")
Hello().run()
"""
ADVCHAT = "import sys; from advchat.cli import main; sys.exit(main())"
GOAL = 1.6


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in seconds."""

    frame: float
    echo: float | None


def start(command: Sequence[str], marker: bytes, key: str | None, environ: dict[str, str]) -> Start:
    """Run a program in a terminal of 160×48 until its marker is drawn, and its key echoed if one is given."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environ
    )
    os.close(slave)
    try:
        frame = wait_for(master, marker, begun)
        echo = None
        if key is not None:
            typed = time.perf_counter()
            os.write(master, key.encode())
            echo = wait_for(master, key.encode(), typed)
        return Start(frame, echo)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(master)


def wait_for(master: int, marker: bytes, since: float) -> float:
    """Read what the program draws until the marker is in it; return the seconds passed."""
    seen = b""
    while time.perf_counter() - since < 30:
        if select.select([master], [], [], 0.5)[0]:
            seen += os.read(master, 65536)
            if marker in seen:
                return time.perf_counter() - since
    raise TimeoutError(f"{marker!r} was never drawn; the last output was {seen[-400:]!r}")


def main() -> None:
    """Run both programs in turn and print medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    hellos: list[Start] = []
    starts: list[Start] = []
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "XDG_DATA_HOME": folder}
        environ["OPENAI_API_KEY"], environ["OPENAI_BASE_URL"] = "none", "http://127.0.0.1:9/v1"
        database = str(Path(folder) / "bench.db")
        for number in range(options.runs + 1):
            hello = start([sys.executable, "-c", HELLO], b"hello-there", None, environ)
            chat = start([sys.executable, "-c", ADVCHAT, "--db", database], b"Enter sends", "§", environ)
            # The first round warms the caches of both.
            if number:
                hellos.append(hello)
                starts.append(chat)
    bare = statistics.median(run.frame for run in hellos)
    frame = statistics.median(run.frame for run in starts)
    echoes = [run.echo for run in starts if run.echo is not None]
    print(f"bare Textual, first frame   {bare:.3f} s")
    print(f"advchat, first frame        {frame:.3f} s   {frame / bare:.2f} × bare (goal {GOAL} ×)")
    print(f"advchat, first key's echo   {statistics.median(echoes):.3f} s, worst {max(echoes):.3f} s")


if __name__ == "__main__":
    main()
