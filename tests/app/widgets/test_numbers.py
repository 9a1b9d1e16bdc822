"""Numbers in columns."""

from __future__ import annotations

import pytest

from advchat.widgets.numbers import count, money


@pytest.mark.parametrize(
    ("value", "cells", "text"),
    [
        (0, 7, "0"),
        (1_234, 7, "1,234"),
        (999_999, 7, "999,999"),
        (1_234_567, 7, "1234567"),
        (12_345_678, 7, "12.35M"),
        (1_234, 4, "1234"),
        (12_345, 4, "12k"),
        (3_200_000_000_000, 7, "3200G"),
        (None, 7, "unknown"),
        (None, 5, "?"),
    ],
)
def test_counts_are_exact_where_they_fit(value: int | None, cells: int, text: str) -> None:
    assert count(value, cells) == text


@pytest.mark.parametrize("value", [0, 9, 99, 12_345, 999_999, 7_654_321, 10**9, 10**12 - 1])
@pytest.mark.parametrize("cells", [5, 7, 9])
@pytest.mark.parametrize("at_least", [False, True])
def test_counts_fit(value: int, cells: int, at_least: bool) -> None:
    text = count(value, cells, at_least=at_least)
    assert len(text) <= cells
    assert text.startswith("≥") == at_least


@pytest.mark.parametrize(
    ("nano", "cells", "text"),
    [
        (0, 7, "$0"),
        (12_345_678, 7, "$0.0123"),
        (1_234_567_890, 7, "$1.2346"),
        (12_345_000_000, 7, "$12.345"),
        (1_234_567_000_000, 7, "$1,235"),
        (1_234_567_890_000_000, 7, "$1.23M"),
        (6_900, 8, "$0.00001"),
        (690, 7, "<$0.001"),
        (None, 7, "unknown"),
        (None, 6, "?"),
    ],
)
def test_money_is_written_with_the_digits_that_fit(nano: int | None, cells: int, text: str) -> None:
    assert money(nano, cells) == text


@pytest.mark.parametrize("nano", [1, 999, 12_345, 10**6, 10**9, 10**11, 10**13, 10**16])
@pytest.mark.parametrize("cells", [7, 8, 9])
@pytest.mark.parametrize("at_least", [False, True])
def test_case_54_what_costs_something_never_reads_as_nothing(nano: int, cells: int, at_least: bool) -> None:
    text = money(nano, cells, at_least=at_least)
    assert len(text) <= cells
    assert text.strip("≥$0.") != "" or text.startswith(">")
