"""The real program as a child process, with a home of its own.

Owns how it is started and what it may see: no key, no settings, no conversations but the test's. Knows no
terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

EXECUTABLE = Path(sys.executable).with_name("advchat")
KEY = "test-key"


def environment(home: Path, **more: str) -> dict[str, str]:
    """What the program sees of the machine; ``more`` is added or, when empty, taken away."""
    env = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.defpath + os.pathsep + str(EXECUTABLE.parent),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "OPENAI_API_KEY": KEY,
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }
    return {name: value for name, value in (env | more).items() if value}


def arguments(
    *words: str, db: Path | None, base_url: str | None, options: Mapping[str, str] | None = None
) -> list[str]:
    """The program's command line; with ``base_url`` the test server answers."""
    given = [str(EXECUTABLE), *words]
    if db is not None:
        given += ["--db", str(db)]
    if base_url is not None:
        given += ["--base-url", base_url, "--model", "test-model"]
    for name, value in (options or {}).items():
        given += [name, value]
    return given
