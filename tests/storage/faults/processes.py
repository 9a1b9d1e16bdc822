"""Processes of their own for the fault tests, forked from one that is warm.

Owns the context that forks them. A target is a plain function of a module that it names.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["agents.extensions.memory", "advchat_storage", "tests.storage.faults.workload"])

HOLD = """
import select, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
select.select([sys.stdin], [], [], float(sys.argv[2]))
connection.execute("ROLLBACK")
"""


@contextmanager
def started(target: Callable[..., None], *args: Any) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """Run ``target(pipe, *args)`` in a process; it is killed at the end if it still runs."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=target, args=(theirs, *args), daemon=True)
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        process.close()
        ours.close()


def told(pipe: Connection) -> Iterator[Any]:
    """Give all that a process has said, to its end."""
    while True:
        try:
            yield pipe.recv()
        except EOFError:
            return


@contextmanager
def locked_elsewhere(path: Path, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the file's write lock for some seconds, or until the block ends."""
    command = [sys.executable, "-c", HOLD, str(path), str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield holder
