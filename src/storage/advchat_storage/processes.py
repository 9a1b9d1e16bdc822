"""Which process is which, and whether it still lives.

Owns the marks by which a run's process is known later: host, process ID, start. Knows no SQL.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from advchat_storage.clock import seconds_between

ELSEWHERE_SECONDS = timedelta(hours=2).total_seconds()
"""A process on another machine cannot be asked; its run counts as lost once silent for this long."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process, told apart from every other one, also from a later one with the same ID."""

    pid: int
    host: str
    """Machine, and the space its process IDs belong to: a container has one of its own."""
    started: str
    """The boot and the moment in it; empty where the system does not tell."""


def this_process() -> Process:
    """Give the marks of this process."""
    pid = os.getpid()
    return Process(pid, _host(), _own_start(pid))


def alive(process: Process, *, last_sign: str) -> bool:
    """Tell whether ``process`` still runs. Where that cannot be known, recent signs count as life."""
    if process.host != _host():
        passed = seconds_between(last_sign, datetime.now(UTC).isoformat())
        return passed is None or passed < ELSEWHERE_SECONDS
    if process == this_process():
        return True
    if not _exists(process.pid):
        return False
    started = _started(process.pid)
    return not started or not process.started or started == process.started


@functools.lru_cache(maxsize=1)
def _host() -> str:
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return f"{_machine()}/{space}"


def _machine() -> str:
    """Give what names this machine for good where the system has it; a host's name may change on the way."""
    try:
        name = Path("/etc/machine-id").read_text().strip()
    except OSError:
        name = ""
    return name or platform.node()


@functools.lru_cache(maxsize=4)
def _own_start(pid: int) -> str:
    return _started(pid)


def _started(pid: int) -> str:
    """Give the start of a process as a text to compare; ``dead`` for a zombie, empty when unknown."""
    if not Path("/proc/self/stat").exists():
        return _started_by_ps(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    if fields[0] in "ZX":
        return "dead"
    return f"{_boot()}:{fields[19]}"


@functools.lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started_by_ps(pid: int) -> str:
    if sys.platform == "win32":
        return ""
    try:
        answer = subprocess.run(  # noqa: S603  # A fixed program and a number.
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _exists_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _exists_on_windows(pid: int) -> bool:
    """Ask for its exit code: signal 0 means Ctrl+C on Windows, so ``os.kill`` is no question there."""
    if sys.platform != "win32":
        return False
    import ctypes  # noqa: PLC0415  # Only this system needs it.

    kernel = ctypes.windll.kernel32
    handle = kernel.OpenProcess(0x1000, False, pid)
    if not handle:
        return bool(kernel.GetLastError() == 5)
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == 259
