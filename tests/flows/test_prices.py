"""`prices`: what is in force, newer ones on demand only, and the past priced anew after a look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.flows.cli import CommandLine
from tests.server import Usage, say


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No network for prices; gives the addresses that were asked for."""
    asked: list[str] = []

    def refuse(url: str, **_: Any) -> None:
        asked.append(url)
        raise httpx2.ConnectError("Network is unreachable")

    monkeypatch.setattr(httpx2, "get", refuse)
    return asked


@pytest.fixture
def spent(line: CommandLine) -> CommandLine:
    """A request of a known and one of an unknown model."""
    usage = Usage(input=60_000, output=1_000)
    line.server.server.script(say("Hi", usage=usage), say("Ho", usage=usage))
    line.ask("Hi", model="gpt-4.1-mini")
    line.ask("Ho", model="served-here")
    return line


def costs(line: CommandLine) -> dict[str, float | None]:
    return {row["model"]: row["cost_usd"] for row in line("usage", "--by", "model", "--json").json["by"]}


def settings(folder: Path, model: str, dollars: float) -> str:
    path = folder / "settings.toml"
    path.write_text(f'[prices."{model}"]\ninput = {dollars}\noutput = {dollars}\n')
    return str(path)


def test_the_table_is_in_dollars_per_million_tokens(line: CommandLine, offline: list[str]) -> None:
    said = line("prices", "openai/gpt-4.1-mini")
    (row,) = [words for words in map(str.split, said.out.splitlines()) if words[0] == "gpt-4.1-mini"]
    assert row[1:6] == ["openai", "0.4", "0.1", "0.4", "1.6"]
    assert "per million tokens" in said.err
    (as_json,) = [one for one in line("prices", "openai/gpt-4.1-mini", "--json").json if one["model"] == row[0]]
    assert (as_json["input"], as_json["cached"], as_json["output"]) == (0.4, 0.1, 1.6)
    assert offline == [], "the network is asked by --update alone"


def test_case_54_a_name_without_a_price_is_said(line: CommandLine) -> None:
    said = line("prices", "no-such-model-7")
    assert (said.code, "no price is known" in said.err) == (1, True)
    assert line("prices", "no-such-model-7", "--json").json == []


def test_an_answer_asks_no_network_for_its_price(line: CommandLine, offline: list[str]) -> None:
    line.server.server.script(say("Hi", usage=Usage(input=10, output=1)))
    assert line.ask("Hi", model="gpt-4.1-mini").code == 0
    assert costs(line)["gpt-4.1-mini"] == pytest.approx((10 * 0.4 + 1.6) / 1e6)
    assert offline == []


def test_an_update_without_network_is_one_line_and_changes_nothing(
    line: CommandLine, offline: list[str], home: Path
) -> None:
    said = line("prices", "--update").complaint(2)
    assert "Network is unreachable" in said
    assert "The prices in use stay" in said
    assert len(offline) == 1
    assert not list(home.rglob("prices.json"))


def test_prices_anew_are_shown_before_they_are_changed(spent: CommandLine, tmp_path: Path) -> None:
    before = costs(spent)
    assert before["served-here"] is None
    config = settings(tmp_path, "served-here", 10)
    shown = spent("prices", "--recompute", "--config", config)
    assert shown.code == 0
    assert "served-here" in shown.out
    assert "unknown" in shown.out
    assert "$0.6100" in shown.out
    assert "nothing was changed" in shown.err
    assert costs(spent) == before

    said = spent("prices", "--recompute", "--yes", "--json", "--config", config)
    (change,) = said.json
    assert (change["model"], change["cost_usd"], change["new_cost_usd"]) == ("served-here", None, 0.61)
    assert "1 request priced anew" in said.err
    assert costs(spent) == {**before, "served-here": 0.61}
    again = spent("prices", "--recompute", "--yes", "--config", config)
    assert (again.out, "every request has the price" in again.err) == ("", True)


def test_a_known_cost_never_becomes_unknown(spent: CommandLine, tmp_path: Path) -> None:
    config = settings(tmp_path, "served-here", 10)
    spent("prices", "--recompute", "--yes", "--config", config)
    known = costs(spent)
    spent("prices", "--recompute", "--yes")
    assert costs(spent) == known


def test_there_must_be_a_file_to_price_anew(line: CommandLine) -> None:
    assert "--db FILE" in line("prices", "--recompute").complaint(2)
    assert not line.db.exists()
