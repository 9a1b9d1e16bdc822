"""What is shipped and promised: dependencies, files and the README's commands agree with the code."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")

BROUGHT_BY = {
    "agents": "openai-agents",
    "genai_prices": "genai-prices",
    "httpx2": "genai-prices",
    "markdown_it": "textual",
    "openai": "openai-agents",
    "pygments": "textual",
    "rich": "textual",
    "xllamacpp": "xllamacpp",
}
"""Import names that another distribution than the one of that name brings."""


def requirement_name(requirement: str) -> str:
    return re.split(r"[\s<>=;\[]", requirement)[0]


def imported(folder: Path) -> Iterator[str]:
    """The top-level names that the sources import, wherever in a file."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield node.module.partition(".")[0]


def test_every_import_is_brought_by_a_dependency() -> None:
    declared = {requirement_name(line) for line in PROJECT["dependencies"]}
    outside = set(imported(ROOT / "src")) - set(sys.stdlib_module_names) - {"advchat", "advchat_storage"}
    assert {BROUGHT_BY.get(name, name) for name in outside} <= declared | {"xllamacpp"}


def test_what_breaks_often_has_an_upper_bound() -> None:
    bounds = {requirement_name(line): line for line in PROJECT["dependencies"]}
    for name in ("textual", "openai-agents", "aiosqlite", "genai-prices"):
        assert "<" in bounds[name], bounds[name]
        assert ">=" in bounds[name], bounds[name]
    assert not any("://" in line for line in bounds.values())


@pytest.mark.parametrize("package", ["app/advchat", "storage/advchat_storage"])
def test_types_are_shipped(package: str) -> None:
    assert (ROOT / "src" / package / "py.typed").exists()


def test_the_command_is_there_and_tells_its_version() -> None:
    (script,) = (point for point in entry_points(group="console_scripts") if point.name == "advchat")
    assert script.value == "advchat.cli:main"
    command = Path(sys.executable).with_name("advchat")
    result = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"advchat {version('advchat')}" == f"advchat {PROJECT['version']}"


def test_the_readme_sets_up_with_exactly_two_commands() -> None:
    commands = [line.strip() for line in README.splitlines() if line.strip().startswith("python3 -m venv")]
    assert commands == [
        "python3 -m venv .venv && .venv/bin/pip install '.[local]' && .venv/bin/advchat --db conversations.db",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest",
    ]


def test_the_readmes_extras_exist() -> None:
    named = {extra for found in re.findall(r"\[([a-z]+)\]['\"]", README) for extra in found.split(",")}
    assert named
    assert named <= set(PROJECT["optional-dependencies"])


def test_the_readmes_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", README)
    missing = [name for name in targets if "://" not in name and not (ROOT / name.partition("#")[0]).exists()]
    assert not missing


def test_ci_is_a_runnable_script() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
