"""What the first frame does without."""

from __future__ import annotations

import subprocess
import sys

LATE = {
    "advchat.controller",
    "advchat.screens.help",
    "advchat.screens.pickers",
    "advchat.state",
    "advchat.widgets.transcript",
    "advchat_storage",
    "agents",
    "aiosqlite",
    "genai_prices",
    "markdown_it",
    "openai",
    "sqlite3",
}


def test_the_app_is_there_before_transcript_store_and_sdk_are_imported() -> None:
    program = "import sys, advchat.app; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert "advchat.screens.main" in loaded
    assert not loaded & LATE
