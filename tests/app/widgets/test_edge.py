"""What the composer's upper edge says."""

from __future__ import annotations

import pytest

from advchat.state import Budget, SendEstimate
from advchat.widgets.edge import Edge, budget_words, estimate_parts, price


def words(edge: Edge, width: int = 100) -> str:
    title = edge.title(width)
    return "" if title is None else title.plain


def test_nothing_known_says_nothing() -> None:
    assert words(Edge()) == ""


def test_what_is_not_known_of_an_estimate_is_left_out() -> None:
    assert estimate_parts(SendEstimate(900, None, None, None, None)) == ["about 900 tokens"]
    assert estimate_parts(SendEstimate(900, 0.0, 0, 0, 0))[1:] == [
        "0% likely cached", "$0.00", "more than fits the context",
    ]  # fmt: skip


def test_the_estimate_gives_way_to_the_budget_part_by_part() -> None:
    edge = Edge(
        SendEstimate(1_234, 0.8, 1_000_000, 4_000_000, 120_000), Budget(500_000_000, 450_000_000, "branch")
    )
    wide = words(edge, 140)
    assert wide.startswith("about 1.23k tokens · 80% likely cached · $0.0010–$0.0040 · 120k left ─")
    assert wide.endswith("─ ! branch budget: $0.45 of $0.50, 90%")
    assert len(wide) == 134
    narrow = words(edge, 60)
    assert narrow.startswith("about 1.23k tokens ─")
    assert narrow.endswith("! $0.45 of $0.50, 90%")
    assert words(edge, 34).endswith("─ ! $0.45 of $0.50, 90%")


def test_what_becomes_of_the_next_prompt_goes_first() -> None:
    edge = Edge(SendEstimate(1, None, None, None, None), Budget(10**9, 0, "branch"), "the next prompt fans out")
    assert words(edge).startswith("the next prompt fans out ─")
    assert words(edge, 40) == "the next prompt fans out"


def test_a_budget_warns_by_sign_and_colour() -> None:
    assert budget_words(Budget(100, 79, "branch"))[1] == "$quiet"
    assert budget_words(Budget(100, 80, "branch"))[1] == "$warning"
    assert budget_words(Budget(100, 100, "branch"))[1] == "$error"
    assert budget_words(Budget(100, 80, "branch"))[0].startswith("! ")


@pytest.mark.parametrize(
    ("nano", "text"),
    [(0, "$0.00"), (1, "$0.000000001"), (1_200_000, "$0.0012"), (12_000_000, "$0.012"), (500_000_000, "$0.50"),
     (1_240_000_000, "$1.24"), (12_345_678_900_000, "$12,345.68")],
)  # fmt: skip
def test_prices_have_two_telling_digits(nano: int, text: str) -> None:
    assert price(nano) == text
