"""Editing text in the user's own editor.

Owns the file that is handed over and the command that is run. Suspending the screen is the caller's.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path


class EditorError(Exception):
    """The editor could not be run or ended badly; the text says so for a person."""


def edit(text: str) -> str:
    """Run the editor on the text (blocks) and return what was saved. Raises EditorError."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    number, name = tempfile.mkstemp(prefix="advchat-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        done = subprocess.run([*command, name], check=False)  # noqa: S603 - the user's own editor
        if done.returncode:
            raise EditorError(f"{command[0]} ended with {done.returncode}; the text is as it was.")
        return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError as error:
        raise EditorError(f"{command[0]} could not be run ({error.strerror}). Set EDITOR.") from error
    finally:
        path.unlink(missing_ok=True)
