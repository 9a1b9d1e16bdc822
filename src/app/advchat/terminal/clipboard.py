"""Putting text on the clipboard, and saying honestly what is known of it.

Owns the choice of means. A terminal never acknowledges the escape sequence that sets its clipboard, so a
program of the desktop is used beside it where there is one. Knows no widget.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ESCAPE_LIMIT = 74_000
"""Bytes above which many terminals drop the escape sequence without a word."""

_PATIENCE = 2.0


def tool(environ: Mapping[str, str]) -> list[str] | None:
    """Tell the command that takes the clipboard's text on its standard input, if there is one."""
    candidates: list[tuple[bool, list[str]]] = [
        (sys.platform == "darwin", ["pbcopy"]),
        (sys.platform == "win32" or "WSL_DISTRO_NAME" in environ, ["clip.exe"]),
        ("WAYLAND_DISPLAY" in environ, ["wl-copy"]),
        ("DISPLAY" in environ, ["xclip", "-selection", "clipboard"]),
        ("DISPLAY" in environ, ["xsel", "--clipboard", "--input"]),
        ("TMUX" in environ, ["tmux", "load-buffer", "-w", "-"]),
    ]
    return next((command for fits, command in candidates if fits and shutil.which(command[0])), None)


async def copy(text: str) -> str:
    """Hand the text to a program of the desktop and return what to tell the user.

    The escape sequence is the caller's to write. Without a program, a text too long for it goes to a file.
    """
    size = f"{len(text):,} character{'' if len(text) == 1 else 's'}"
    data = text.encode("utf-8", "replace")
    command = tool(os.environ)
    if command is not None and await _feed(command, data):
        return f"Copied {size}."
    if len(data) > ESCAPE_LIMIT:
        path = await asyncio.to_thread(_keep, data)
        return f"{size} are more than terminals take as a copy: they are in {path}"
    return f"Sent {size} to the terminal's clipboard; it does not tell whether it took them."


async def _feed(command: list[str], data: bytes) -> bool:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            # Out of the terminal's process group, so that Ctrl+Z and a hangup do not reach it.
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(data), _PATIENCE)
    except (TimeoutError, OSError):
        process.kill()
        return False
    return process.returncode == 0


def _keep(data: bytes) -> Path:
    number, name = tempfile.mkstemp(prefix="advchat-copy-", suffix=".txt")
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return Path(name)
