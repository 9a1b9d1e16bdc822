"""What `compare` tells of the two sides, on a real file."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from advchat.cli.comparing import compare
from advchat_storage import RequestRecord, Store


async def test_a_side_without_turns_of_its_own_has_no_unknown_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Store(tmp_path / "c.db") as store:
        await store.create_conversation("c", conversation_id="c")
        async with store.session("c") as session:
            await session.add_items([{"role": "user", "content": "one"}])
            fork = await session.fork(1, kind="after", switch=True)
            await session.add_items([{"role": "user", "content": "two"}])
        for number, tokens in enumerate((15, None)):
            await store.record(
                "c",
                RequestRecord(
                    request_id=str(number), run_id="r", branch_id=fork, turn=2, agent=None, model_asked="m",
                    model="m", provider=None, api=None, started_at="2026-01-01", first_token_at=None,
                    finished_at="2026-01-01", status="completed", input_tokens=tokens, output_tokens=tokens,
                    total_tokens=tokens, cost_nano=tokens,
                ),
            )  # fmt: skip
        options = argparse.Namespace(conversation=None, left="main", right=fork, json=False)

        assert await compare(store, options) == 0
        told = capsys.readouterr().out.splitlines()
        assert told[0] == "- main: 0 turns"
        assert told[1].startswith(f"+ {fork}: 1 turn, ≥ 15 tokens, ≥ $")
