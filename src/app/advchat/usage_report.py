"""The usage report: what was spent over a span of time, cut in one way.

Owns its frozen values, the adding of usages, days on which nothing was spent, and putting days together
where there is no room for each. Knows no store connection and no widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, get_args

from advchat_storage.models import UsageSum

ReportCut = Literal["day", "model", "branch", "conversation"]
ReportSpan = Literal["week", "month", "year", "ever"]

CUTS: tuple[ReportCut, ...] = get_args(ReportCut)
SPANS: tuple[ReportSpan, ...] = get_args(ReportSpan)
SPAN_DAYS: dict[ReportSpan, int] = {"week": 7, "month": 30, "year": 365}
"""How many days a span covers, today included; ``ever`` has no limit."""

_SUMMED = (
    "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "total_tokens", "cost_nano", "estimated_output_tokens", "seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of the report."""

    name: str
    """A day (ISO 8601), a model, or a title; as it came, not yet neutralised."""
    usage: UsageSum
    about: str = ""
    """What tells it from others of its name: a branch's conversation, that it is in the bin."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What the full-screen view shows. The rows' sums are the total."""

    cut: ReportCut = "day"
    span: ReportSpan = "month"
    everywhere: bool = True
    """Whether it is of all conversations, else of the one that is shown."""
    title: str = ""
    """Of the conversation that is shown."""
    rows: tuple[ReportRow, ...] = ()
    """By day: each day from the first on which something was spent; else the dearest first."""
    total: UsageSum = field(default_factory=UsageSum)


def add_up(usages: Sequence[UsageSum]) -> UsageSum:
    """Add usages up: what is unknown stays unknown only where nothing is known."""
    sums: dict[str, float | None] = {}
    for name in _SUMMED:
        known = [value for usage in usages if (value := getattr(usage, name)) is not None]
        sums[name] = sum(known) if known else None
    return UsageSum(
        requests=sum(usage.requests for usage in usages),
        at_least=any(usage.at_least for usage in usages),
        unknown=frozenset().union(*(usage.unknown for usage in usages)),
        **sums,  # type: ignore[arg-type]  # counts are whole numbers, seconds are not
    )


def with_idle_days(rows: Sequence[ReportRow], today: date) -> tuple[ReportRow, ...]:
    """Put in the days on which nothing was spent, from the first row's to today (or the last row's)."""
    spent = {row.name: row for row in rows}
    if not spent:
        return ()
    day, last = date.fromisoformat(min(spent)), max(today, date.fromisoformat(max(spent)))
    found = []
    while day <= last:
        name = day.isoformat()
        found.append(spent.get(name) or ReportRow(name, UsageSum()))
        day += timedelta(days=1)
    return tuple(found)


def periods(days: Sequence[ReportRow], most: int) -> tuple[str, tuple[ReportRow, ...]]:
    """Put days together until there are ``most`` rows at most; tell what a row then is.

    Weeks begin on Monday. A row bears the name of its first day that is among ``days``.
    """
    for word, key in (("day", str), ("week", _week), ("month", _month)):
        rows = _together(days, key)
        if len(rows) <= most:
            return word, rows
    return "year", _together(days, _year)


def _together(days: Sequence[ReportRow], key: Callable[[str], str]) -> tuple[ReportRow, ...]:
    groups: dict[str, list[ReportRow]] = {}
    for row in days:
        groups.setdefault(key(row.name), []).append(row)
    return tuple(
        rows[0] if len(rows) == 1 else ReportRow(rows[0].name, add_up([row.usage for row in rows]))
        for rows in groups.values()
    )


def _week(day: str) -> str:
    moment = date.fromisoformat(day)
    return (moment - timedelta(days=moment.weekday())).isoformat()


def _month(day: str) -> str:
    return day[:7]


def _year(day: str) -> str:
    return day[:4]
