"""The table under the charts: every measure of every row, and the total.

Owns its layout in a given width: columns that do not fit go into a second table, none is left out. Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from advchat.text import pad
from advchat.usage_report import ReportRow, UsageReport
from advchat.widgets.numbers import count, money
from advchat.widgets.usage_charts import ReportCell, ReportLine
from advchat.widgets.usage_charts_names import gathered
from advchat_storage.models import UsageSum

_MOST = 400
"""Rows that the table has; what is left is one more."""

_WIDE = 10
"""Cells of a column of numbers, the space before them included."""

_COLUMNS = (
    ("requests", "requests"),
    ("input", "input_tokens"),
    ("cached", "cached_tokens"),
    ("written", "cache_write_tokens"),
    ("output", "output_tokens"),
    ("reasoning", "reasoning_tokens"),
    ("total", "total_tokens"),
    ("cost", "cost_nano"),
)

_HEADS = {"day": "Day", "model": "Model", "branch": "Branch", "conversation": "Conversation"}


def table(report: UsageReport, width: int) -> Iterator[ReportLine]:
    """Lay the table out, the newest day or the dearest row first, the total last."""
    rows = [row for row in report.rows if row.usage.requests]
    shown = gathered(rows[::-1] if report.cut == "day" else rows, _MOST)
    name = max(10, min(44, width - 2 - _WIDE * len(_COLUMNS))) if width >= 70 else 12
    together = max(1, (width - name - 2) // _WIDE)
    for start in range(0, len(_COLUMNS), together):
        columns = _COLUMNS[start : start + together]
        heads = "".join(f"{head:>{_WIDE}}" for head, _ in columns)
        yield ((f" {pad(_HEADS[report.cut], name)}", "strong", ""), (heads, "quiet", ""))
        for row in shown:
            yield _line(row, name, columns)
        yield _line(ReportRow("Total", report.total), name, columns, strong=True)
        yield ()
    for words in _signs(report.total):
        yield from (((f" {line}", "quiet", ""),) for line in textwrap.wrap(words, width - 2))


def _line(row: ReportRow, name: int, columns: Sequence[tuple[str, str]], *, strong: bool = False) -> ReportLine:
    label = f"{row.name} · {row.about}" if row.about else row.name
    cells = [_number(row.usage, field, strong=strong) for _, field in columns]
    return ((f" {pad(label, name)}", "strong" if strong else "", ""), *cells)


def _number(usage: UsageSum, field: str, *, strong: bool) -> ReportCell:
    value: int | None = getattr(usage, field)
    at_least = field in usage.unknown
    if field == "cost_nano":
        ink = "warn" if value is None else "strong" if strong else ""
        return f"{money(value, _WIDE - 1, at_least=at_least):>{_WIDE}}", ink, ""
    if value is None:
        return f"{'?' if usage.requests else '–':>{_WIDE}}", "quiet", ""
    return f"{count(value, _WIDE - 1, at_least=at_least):>{_WIDE}}", "strong" if strong else "", ""


def _signs(total: UsageSum) -> Iterator[str]:
    """Explain the signs that are there."""
    if total.unknown:
        yield "? is what the provider did not tell. ≥ is at least: some of it is not known."
    if total.estimated_output_tokens:
        yield f"≈{total.estimated_output_tokens:,} output tokens of stopped answers: an estimate, in no sum."
