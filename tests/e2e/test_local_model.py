"""The whole program with the model that runs on this machine: no key, no endpoint, no test server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import OpenTmux
from tests.plugins.local_model import local_model_file


@pytest.mark.local_model
def test_answers_without_key_and_costs_nothing(open_tmux: OpenTmux, home: Path) -> None:
    file = local_model_file()
    place = home / "data" / "advchat" / "models" / file.name
    place.parent.mkdir(parents=True)
    place.symlink_to(file)
    tmux = open_tmux(connected=False)
    tmux.wait("local · SmolLM2 135M", "ready")
    tmux.type("In which city is the Golden Gate Bridge?")
    tmux.press("Enter")
    tmux.wait("San Francisco", "ready")
    tmux.wait_gone("⟳")
    with closing(sqlite3.connect(home / "chat.db")) as file_read:
        row = file_read.execute(
            "SELECT model, provider, input_tokens > 10, output_tokens > 3, cost_nano, price_source"
            " FROM advchat_requests"
        ).fetchone()
    assert row == ("smollm2-135m", "local", 1, 1, 0, "free")
