"""`usage` over random ledgers: every form of the report adds up to what the single requests say."""

from __future__ import annotations

import asyncio
import csv
import io
import random
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import RequestRecord
from tests.flows.cli import CommandLine
from tests.storage.scenes import CONVERSATION, Scene
from tests.storage.test_usage_cuts import random_ledger, total_of

CUTS = ("turn", "branch", "conversation", "model", "day", "tool")
COUNTS = (
    *("input_tokens", "cached_tokens", "cache_write_tokens"),
    *("output_tokens", "reasoning_tokens", "total_tokens"),
)
MIDDLE = "2026-11-10"

Sums = dict[str, int]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[RequestRecord]]:
    """A file with a random ledger, and its requests."""
    path = tmp_path_factory.mktemp("ledger") / "filled.db"

    async def fill() -> list[RequestRecord]:
        async with Scene.open(path) as scene:
            await random_ledger(scene, random.Random("report"))
            return await scene.store.requests()

    return path, asyncio.run(fill())


@pytest.fixture
def rows(filled: tuple[Path, list[RequestRecord]], db: Path) -> list[RequestRecord]:
    """Requests of a random ledger in the file."""
    shutil.copy(filled[0], db)
    return filled[1]


def expected(rows: Iterable[RequestRecord]) -> Sums:
    listed = [total_of(row) for row in rows]
    sums = {name: sum(one[name] or 0 for one in listed) for name in (*COUNTS, "cost_nano")}
    return {"requests": len(listed), **sums}


def told(rows: Iterable[Mapping[str, Any]]) -> Sums:
    """Add up rows of the report, as numbers or as words of a CSV file."""
    listed = list(rows)
    sums = {name: sum(int(row[name] or 0) for row in listed) for name in ("requests", *COUNTS)}
    return {**sums, "cost_nano": sum(round(float(row["cost_usd"] or 0) * 1e9) for row in listed)}


def from_midnight(rows: list[RequestRecord]) -> list[RequestRecord]:
    """The requests that ended on or after the day, as this machine counts days."""
    midnight = datetime.fromisoformat(MIDDLE).astimezone()
    return [row for row in rows if datetime.fromisoformat(row.finished_at).astimezone() >= midnight]


def test_case_51_json_and_csv_of_every_cut_are_the_ledger(line: CommandLine, rows: list[RequestRecord]) -> None:
    for cut in CUTS:
        report = line("usage", "--by", cut, "--json").json
        assert told([report["total"]]) == told(report["by"]) == expected(rows), cut
        assert report["total"]["at_least"] is True
        assert len({tuple(sorted(row.items(), key=str)) for row in report["by"]}) == len(report["by"])
        assert told(csv.DictReader(io.StringIO(line("usage", "--by", cut, "--csv").out))) == expected(rows)


def test_a_day_and_a_conversation_limit_every_cut_alike(line: CommandLine, rows: list[RequestRecord]) -> None:
    for cut in CUTS:
        late = line("usage", "--by", cut, "--since", MIDDLE, "--json").json
        assert told(late["by"]) == told([late["total"]]) == expected(from_midnight(rows))
        assert 0 < late["total"]["requests"] < len(rows)
        one = [row for row in rows if row.conversation_id == CONVERSATION]
        of_one = line("usage", "--by", cut, "--conversation", CONVERSATION, "--json").json
        assert told(of_one["by"]) == expected(one)


def test_the_table_and_the_totals_alone_say_the_same(line: CommandLine, rows: list[RequestRecord]) -> None:
    report = line("usage", "--json").json
    assert report["by"] == []
    assert told([report["total"]]) == expected(rows)
    assert told(csv.DictReader(io.StringIO(line("usage", "--csv").out))) == expected(rows)
    *_, total = line("usage", "--by", "model").out.splitlines()
    assert total.startswith("total")
    assert f"≥ {expected(rows)['input_tokens']:,}" in total


def test_a_span_without_requests_is_an_empty_report(line: CommandLine, rows: list[RequestRecord]) -> None:
    assert rows
    report = line("usage", "--by", "day", "--since", "2999-01-01", "--json").json
    assert (report["by"], report["total"]["requests"], report["total"]["cost_usd"]) == ([], 0, None)
    assert line("usage", "--by", "day", "--since", "2999-01-01", "--csv").out.count("\n") == 1, "a heading"


@pytest.mark.parametrize("since", ["yesterday", "2026-13-01", "7", "-1d", "", "0001-01-01"])
def test_a_date_that_is_none_is_refused(line: CommandLine, rows: list[RequestRecord], since: str) -> None:
    assert rows
    assert "Write 2026-11-30, 7d, 24h, today or month" in line("usage", f"--since={since}").complaint(2)
