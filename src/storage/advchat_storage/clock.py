"""Times as the store writes them: UTC, ISO 8601, microseconds, so that text order is time order.

Owns their making and the reading of what others wrote. Knows no SQL.
"""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Give this moment, e.g. ``2026-11-29T17:31:51.123456+00:00``."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def normal(text: str) -> str:
    """Bring a time into the store's form; one without a zone (SQLite's own, a bare date) is UTC.

    What is no time at all comes back as it is: a foreign program's slip must not hide its row.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Give the seconds from ``start`` to ``end``, never negative; None where one is no time."""
    if start is None or end is None:
        return None
    try:
        passed = datetime.fromisoformat(normal(end)) - datetime.fromisoformat(normal(start))
    except (ValueError, TypeError):
        return None
    return max(0.0, passed.total_seconds())


def local_day(moment: str) -> str:
    """Give the calendar day, in this machine's time zone, of a time in the store's form."""
    try:
        return datetime.fromisoformat(moment).astimezone().date().isoformat()
    except ValueError:
        return moment[:10]
