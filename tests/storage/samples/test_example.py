"""The example of the library on its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.server import ModelServer, Usage, say

EXAMPLE = Path(__file__).parents[3] / "examples" / "library.py"


async def test_example_of_the_library(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_DEFAULT_MODEL", "test-model")
    model_server.script(*(say(answer, usage=Usage(10, 2)) for answer in ("Paris.", "Mild.", "The Louvre.")))
    await runpy.run_path(str(EXAMPLE))["main"]()
    told = capsys.readouterr().out.splitlines()
    assert told[:4] == [
        "What is the capital of France? Paris.",
        "How warm is it there in May? Mild.",
        "And what is there to see? The Louvre.",
        "main: 2 turns, from None at None",
    ]
    assert told[4].startswith("branch_from_turn_2_")
    assert told[4].endswith(": 2 turns, from main at 2")
    assert "'total_tokens': 36" in told[5]
    assert model_server.requests[2].lines == [
        "user: What is the capital of France?",
        "assistant: Paris.",
        "user: And what is there to see?",
    ]
