"""What an import may not bring along: each check looks at the modules of a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = {"agents", "openai", "genai_prices", "pydantic", "xllamacpp"}
"""Together these cost seconds: nothing that a user waits for may import them."""

HEADLESS = (
    "actions", "cli", "commands", "config", "controller", "events", "models.local",
    "pricing", "runner", "state", "usage_report",
)  # fmt: skip
"""The half that works without a screen."""


def modules_after(code: str) -> set[str]:
    """The top-level modules that are loaded once ``code`` has run."""
    program = f"import sys\n{code}\nprint('modules:', *{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.rpartition("modules:")[2].split())


def test_the_store_stands_alone() -> None:
    loaded = modules_after("import advchat_storage")
    assert "advchat_storage" in loaded
    assert not loaded & (SLOW | {"advchat", "textual", "rich", "platformdirs"})


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_answers_at_once(option: str) -> None:
    loaded = modules_after(f"from advchat.cli import main\nassert main([{option!r}]) == 0")
    assert "advchat" in loaded
    assert not loaded & (SLOW | {"textual", "rich", "aiosqlite"})


@pytest.mark.parametrize("module", HEADLESS)
def test_the_headless_half_knows_no_screen_and_no_sdk(module: str) -> None:
    loaded = modules_after(f"import advchat.{module}")
    assert not loaded & (SLOW | {"textual"})


def test_the_first_frame_waits_for_nothing_slow() -> None:
    loaded = modules_after("import advchat.app")
    assert "textual" in loaded
    assert not loaded & (SLOW | {"plotille"})


def test_the_agents_runner_is_made_without_the_sdk() -> None:
    loaded = modules_after("import advchat.agents_runner")
    assert not loaded & (SLOW | {"textual"})


def test_the_embedded_models_process_carries_nothing_along() -> None:
    loaded = modules_after("import advchat.models.local_server")
    assert not loaded & (SLOW | {"textual", "rich", "aiosqlite", "advchat_storage"})
