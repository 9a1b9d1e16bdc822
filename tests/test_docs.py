"""The docs' tables are the registry's. ``python -m tests.test_docs`` writes them anew."""

from __future__ import annotations

import tomllib
from pathlib import Path

from advchat.commands import COMMANDS, markdown
from advchat.config import load_config

ROOT = Path(__file__).parents[1]
KEYS = ROOT / "docs" / "keys.md"


HEAD = "# Keys and commands\n\nAll keys can be changed in the settings; F1 shows those in force.\n\n"


def keys_page() -> str:
    return HEAD + markdown()


def test_keys_page_is_the_registrys() -> None:
    assert KEYS.read_text(encoding="utf-8") == keys_page()


def test_the_readmes_settings_are_valid(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = readme.partition("```toml\n")[2].partition("```")[0]
    whole = example.replace("# base_url", "base_url").replace("# api", "api")
    assert tomllib.loads(whole)["api"] == "chat"
    path = tmp_path / "config.toml"
    path.write_text(whole, encoding="utf-8")
    config = load_config(path, environ={}, command_ids={command.id for command in COMMANDS})
    assert config.keys == {"conversation.new": ("ctrl+t",)}
    assert config.prices["served-here"].free


if __name__ == "__main__":
    KEYS.write_text(keys_page(), encoding="utf-8")
