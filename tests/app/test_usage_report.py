"""The values of the usage report."""

from __future__ import annotations

from datetime import date

import pytest

from advchat.usage_report import ReportRow, add_up, periods, with_idle_days
from advchat_storage.models import UsageSum


def row(name: str, tokens: int = 10, cost: int | None = 7) -> ReportRow:
    unknown = frozenset({"cost_nano"} if cost is None else ())
    return ReportRow(
        name, UsageSum(requests=1, input_tokens=tokens, cost_nano=cost, at_least=cost is None, unknown=unknown)
    )


def names(rows: tuple[ReportRow, ...]) -> list[str]:
    return [one.name for one in rows]


def test_days_without_spend_are_rows_up_to_today() -> None:
    rows = with_idle_days([row("2026-02-27"), row("2026-03-02")], date(2026, 3, 3))
    assert names(rows) == ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03"]
    assert [one.usage.requests for one in rows] == [1, 0, 0, 1, 0]


def test_a_clock_that_was_ahead_hides_no_day() -> None:
    assert names(with_idle_days([row("2026-03-04")], date(2026, 3, 3))) == ["2026-03-04"]
    assert with_idle_days([], date(2026, 3, 3)) == ()


@pytest.mark.parametrize(
    ("most", "word", "expected"),
    [
        (100, "day", 90),
        (90, "day", 90),
        (89, "week", 13),
        (12, "month", 3),
        (2, "year", 2),
    ],
)
def test_days_are_put_together_until_they_fit(most: int, word: str, expected: int) -> None:
    days = with_idle_days([row("2025-11-03"), row("2026-01-31")], date(2026, 1, 31))
    assert len(days) == 90
    told, rows = periods(days, most)
    assert (told, len(rows)) == (word, expected)
    assert add_up([one.usage for one in rows]) == add_up([one.usage for one in days])


def test_weeks_begin_on_monday_and_bear_the_first_day_that_is_shown() -> None:
    days = with_idle_days([row("2026-11-25"), row("2026-12-08")], date(2026, 12, 8))
    assert names(periods(days, 3)[1]) == ["2026-11-25", "2026-11-30", "2026-12-07"]


def test_sums_keep_what_is_known_and_say_what_is_not() -> None:
    total = add_up([row("a").usage, row("b", cost=None).usage, UsageSum()])
    assert (total.requests, total.input_tokens, total.cost_nano, total.output_tokens) == (2, 20, 7, None)
    assert total.at_least
    assert total.unknown == {"cost_nano"}
    assert add_up([]) == UsageSum()
