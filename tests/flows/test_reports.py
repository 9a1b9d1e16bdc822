"""The commands that read: what they report of a file that `ask` has filled."""

from __future__ import annotations

import csv
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.flows.cli import CommandLine
from tests.server import Usage, say

U = {
    "requests", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "total_tokens", "cost_usd", "at_least",
}  # fmt: skip
TOKENS = ("requests", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "total_tokens")


@pytest.fixture
def filled(line: CommandLine) -> CommandLine:
    """Two conversations: a trip with three branches on a priced model, and one of an unknown model."""
    usages = [Usage(input=100 * n, output=10 * n, cached=50 * (n - 1), reasoning=n) for n in range(1, 6)]
    answers = [say(f"Answer {n}", usage=usage, model="gpt-4.1-mini") for n, usage in enumerate(usages, 1)]
    line.server.server.script(*answers, say("Who knows"))
    line.ask("Plan a trip", model="gpt-4.1-mini")
    line.ask("-c", "By train", model="gpt-4.1-mini")
    line.ask("-c", "Book it", model="gpt-4.1-mini")
    line.ask("-c", "--fork", "2", "By boat", model="gpt-4.1-mini")
    line.ask("--branch", "main", "--fork", "1", "Stay home", model="gpt-4.1-mini")
    line.ask("Another matter", model="nobody-knows-this")
    return line


def test_conversations(filled: CommandLine) -> None:
    other, trip = filled("conversations", "--json").json
    assert set(trip) >= {"conversation_id", "title", "branches", "user_turns", "updated_at", "cost_usd"}
    assert (trip["title"], trip["branches"]) == ("Plan a trip", 3)
    assert trip["cost_usd"] == pytest.approx(_cost(*range(1, 6)))
    assert (other["title"], other["branches"], other["user_turns"]) == ("Another matter", 1, 1)
    assert other["cost_usd"] is None, "an unknown price is not zero"
    table = filled("conversations").out.splitlines()
    assert len(table) == 3
    assert "unknown" in table[1]


def test_branches(filled: CommandLine) -> None:
    main, boat, home = filled("branches", "--conversation", "Plan a trip", "--json").json
    assert set(main) >= {
        "branch_id", "title", "parent", "fork_turn", "user_turns", "message_count", "is_current", "cost_usd",
    }  # fmt: skip
    assert _told(main) == {
        "branch_id": "main", "parent": None, "fork_turn": None, "user_turns": 3, "message_count": 6,
        "is_current": False,
    }  # fmt: skip
    assert (boat["title"], boat["parent"], boat["fork_turn"], boat["user_turns"]) == ("By boat", "main", 2, 2)
    assert (home["title"], home["parent"], home["fork_turn"], home["user_turns"]) == ("Stay home", "main", 1, 1)
    assert home["is_current"]
    assert [main["cost_usd"], boat["cost_usd"], home["cost_usd"]] == [
        pytest.approx(_cost(1, 2, 3)),
        pytest.approx(_cost(4)),
        pytest.approx(_cost(5)),
    ], "a branch's own cost leaves out what it has inherited"
    latest = filled("branches", "--json").json
    assert [branch["branch_id"] for branch in latest] == ["main"], (
        "the latest conversation unless told otherwise"
    )


def test_turns(filled: CommandLine) -> None:
    turns = filled("turns", "--conversation", "Plan a trip", "--branch", "By boat", "--json").json
    assert [set(turn) >= {"turn", "content", "branch_id", "status", "usage"} for turn in turns] == [True, True]
    assert [(turn["turn"], turn["content"], turn["status"]) for turn in turns] == [
        (1, "Plan a trip", "completed"),
        (2, "By boat", "completed"),
    ]
    assert turns[0]["branch_id"] == "main", "an inherited turn says where it was asked"
    assert [turn["usage"]["input_tokens"] for turn in turns] == [100, 400]
    assert set(turns[1]["usage"]) == U
    assert "By boat" in filled("turns", "--conversation", "Plan a trip", "--branch", "By boat").out


@pytest.mark.parametrize("cut", ["turn", "branch", "conversation", "model", "day"])
def test_case_51_every_cut_of_usage_adds_up_to_what_the_server_billed(filled: CommandLine, cut: str) -> None:
    report = filled("usage", "--by", cut, "--json").json
    billed = filled.server.server.billed
    total = report["total"]
    assert set(total) == U
    assert [total[name] for name in TOKENS] == [
        6, billed.input, billed.cached, billed.output, billed.reasoning, billed.input + billed.output,
    ]  # fmt: skip
    assert total["at_least"], "one model's price is unknown"
    assert total["cost_usd"] == pytest.approx(_cost(*range(1, 6)))
    for name in TOKENS:
        assert sum(row[name] or 0 for row in report["by"]) == total[name], name
    assert sum(row["cost_usd"] or 0 for row in report["by"]) == pytest.approx(total["cost_usd"])
    assert all(set(row) >= U for row in report["by"])


def test_usage_speaks_of_one_conversation_when_told(filled: CommandLine) -> None:
    report = filled("usage", "--conversation", "Another matter", "--json").json
    assert report["by"] == []
    assert (report["total"]["requests"], report["total"]["cost_usd"]) == (1, None)
    assert filled("usage", "--since", "today", "--json").json["total"]["requests"] == 6
    assert filled("usage", "--since", "2999-01-01", "--json").json["total"]["requests"] == 0


def test_case_54_an_unknown_price_is_said_and_makes_the_sum_a_lower_bound(filled: CommandLine) -> None:
    *_, total = filled("usage", "--by", "model").out.splitlines()
    assert "≥ $" in total
    unknown = filled("usage", "--conversation", "Another matter").out.splitlines()[-1]
    assert "unknown" in unknown
    assert "$0" not in unknown


def test_case_52_cached_tokens_are_billed_once(line: CommandLine) -> None:
    usage = Usage(input=1000, output=0, cached=800)
    line.server.server.script(say("", usage=usage, model="gpt-4.1-mini"))
    line.ask("Hi", model="gpt-4.1-mini")
    cost = line("usage", "--json").json["total"]["cost_usd"]
    assert cost == pytest.approx((200 * 0.40 + 800 * 0.10) / 1e6)


def test_case_56_a_price_of_ones_own_is_per_million_tokens(line: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('[prices."my-model"]\ninput = 3\noutput = 15\n')
    line.server.server.script(say("Hi", usage=Usage(input=60_000, output=1_000)))
    line.ask("Hi", "--config", str(config), model="my-model")
    assert line("usage", "--json").json["total"]["cost_usd"] == pytest.approx(0.18 + 0.015)


def test_usage_as_csv(filled: CommandLine) -> None:
    rows = list(csv.DictReader(io.StringIO(filled("usage", "--by", "branch", "--csv").out)))
    assert sum(int(row["requests"]) for row in rows) == 6
    assert {"", *U} >= {name for name in rows[0] if name in U}
    assert "branch_id" in rows[0]


def test_in_csv_no_title_stays_empty_and_a_formula_is_none(line: CommandLine) -> None:
    line.ask("=1+1")
    (row,) = csv.DictReader(io.StringIO(line("usage", "--by", "branch", "--csv").out))
    assert row["title"] == ""
    (row,) = csv.DictReader(io.StringIO(line("usage", "--by", "conversation", "--csv").out))
    assert row["title"] == "'=1+1"


def test_an_output_that_cannot_take_every_letter_gets_the_rest(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.ask("naïve")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    for words in (("turns",), ("branches",), ("usage", "--by", "conversation", "--csv")):
        assert line(*words).code == 0
    assert written.getvalue().count(b"na?ve") == 2


def test_search(filled: CommandLine) -> None:
    hits = filled("search", "boat", "--json").json
    assert [(hit["role"], hit["turn"]) for hit in hits] == [("user", 2)]
    assert len(filled("search", "answer 1", "--json").json) == 1, "a shared message is found once"
    nothing = filled("search", "no such words")
    assert (nothing.code, nothing.out) == (1, "")
    assert "no such words" in nothing.err
    for odd in ('"', "%", "_", "a OR", "*", "NEAR("):
        assert filled("search", odd, "--json").code in (0, 1), odd


def test_check_and_backup(filled: CommandLine, tmp_path: Path) -> None:
    assert filled("check").code == 0
    assert filled("check", "--json").json["ok"]
    copy = tmp_path / "copy.db"
    assert filled("backup", str(copy)).out == f"{copy}\n"
    assert filled("conversations", "--json", db=copy).json == filled("conversations", "--json").json
    assert "exists already" in filled("backup", str(copy)).complaint(2)
    if os.name == "posix":
        assert copy.stat().st_mode & 0o777 == 0o600
        assert filled.db.stat().st_mode & 0o777 == 0o600


def test_check_speaks_of_a_file_too_damaged_to_open(filled: CommandLine) -> None:
    data = filled.db.read_bytes()
    filled.db.write_bytes(data[:4096] + data[4096 : len(data) // 2].replace(b"a", b"\xff"))
    assert "advchat check" in filled("conversations").complaint(1)
    found = filled("check")
    assert found.code == 1
    assert "found: " in found.out
    assert found.out.endswith(": not in order\n")
    assert "advchat check --repair" in found.err
    report = filled("check", "--repair", "--json").json
    assert not report["ok"]
    assert report["findings"]


def test_options_may_stand_before_the_command(filled: CommandLine, capfd: pytest.CaptureFixture[str]) -> None:
    from advchat.cli import main

    assert main(["--db", str(filled.db), "--conversation", "Plan a trip", "turns"]) == 0
    assert "Stay home" in capfd.readouterr().out


def _told(row: dict[str, Any]) -> dict[str, Any]:
    names = ("branch_id", "parent", "fork_turn", "user_turns", "message_count", "is_current")
    return {name: row[name] for name in names}


def _cost(*requests: int) -> float:
    """What gpt-4.1-mini costs for those of ``filled``'s requests."""
    return sum(((100 * n - 50 * (n - 1)) * 0.40 + 50 * (n - 1) * 0.10 + 10 * n * 1.60) / 1e6 for n in requests)
