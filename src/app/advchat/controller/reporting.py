"""The usage report, asked of the ledger.

Owns the questions for the full-screen view and the naming of its rows. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from advchat.controller.exploring import Exploring
from advchat.controller.usage_views import utc
from advchat.usage_report import (
    SPAN_DAYS,
    ReportCut,
    ReportRow,
    ReportSpan,
    UsageReport,
    add_up,
    with_idle_days,
)
from advchat_storage.models import UsageCut


class Reporting(Exploring):
    """Reports over the whole file or over the conversation that is shown."""

    async def usage_report(
        self, cut: ReportCut, span: ReportSpan = "month", *, everywhere: bool = True
    ) -> UsageReport:
        """Give what was spent in the span, cut in one way. By day, idle days are rows too."""
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        days = SPAN_DAYS.get(span)
        since = None if days is None else utc(midnight - timedelta(days=days - 1))
        ident = None if everywhere else self._conversation_id
        cuts = await self.store.usage_by(cut, conversation_id=ident, since=since)
        titles = await self._titles_of(cuts) if cut == "branch" and everywhere else {}
        rows = [_row(cut, one, titles) for one in cuts]
        ordered = with_idle_days(rows, midnight.date()) if cut == "day" else _dearest_first(rows)
        return UsageReport(
            cut=cut,
            span=span,
            everywhere=everywhere,
            title=self._snapshot.conversation_title,
            rows=ordered,
            total=add_up([row.usage for row in rows]),
        )

    async def _titles_of(self, cuts: Sequence[UsageCut]) -> dict[str, str]:
        """Give the titles of the conversations that the branches belong to, deleted ones left out."""
        wanted = {str(cut.keys["conversation_id"]) for cut in cuts}
        named = await self.store.usage_by("conversation")
        return {
            str(cut.keys["conversation_id"]): str(cut.keys["title"] or "untitled")
            for cut in named
            if cut.keys["conversation_id"] in wanted and cut.keys["title"] is not None
        }


def _row(cut: ReportCut, one: UsageCut, titles: dict[str, str]) -> ReportRow:
    keys = one.keys
    if cut == "branch":
        where = titles.get(str(keys["conversation_id"]), "") if titles else ""
        about = " · ".join(word for word in (where, "deleted" if keys["binned"] else "") if word)
        return ReportRow(str(keys["title"] or keys["branch_id"]), one.usage, about)
    if cut == "conversation":
        title = keys["title"]
        return ReportRow("deleted" if title is None else str(title or "untitled"), one.usage)
    return ReportRow(str(keys[cut] or "unknown"), one.usage)


def _dearest_first(rows: Sequence[ReportRow]) -> tuple[ReportRow, ...]:
    def worth(row: ReportRow) -> tuple[int, int]:
        return -(row.usage.cost_nano or 0), -(row.usage.total_tokens or 0)

    return tuple(sorted(rows, key=worth))
