"""The usage report, asked of a real file."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from advchat.usage_report import CUTS, SPANS, ReportCut, ReportSpan, UsageReport
from advchat_storage import RequestRecord
from tests.app.controller.desk import Desk, open_desk


async def told(desk: Desk, cut: ReportCut, *, everywhere: bool = True) -> list[tuple[str, str, int]]:
    report = await desk.controller.usage_report(cut, everywhere=everywhere)
    return [(row.name, row.about, row.usage.requests) for row in report.rows]


async def two_conversations(desk: Desk) -> None:
    """Two turns and a fork in one conversation, one turn in the one that is shown."""
    await desk.ask("one")
    await desk.ask("two")
    await desk.controller.fork(2, title="The fork")
    await desk.ask("three")
    await desk.controller.new_conversation("Second")
    await desk.controller.set_model("other")
    await desk.ask("four")


async def test_each_cut_names_its_rows(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await two_conversations(desk)
        assert await told(desk, "model") == [("scripted", "", 3), ("other", "", 1)]
        assert await told(desk, "conversation") == [("one", "", 3), ("Second", "", 1)]
        assert await told(desk, "branch") == [
            ("main", "one", 2), ("The fork", "one", 1), ("main", "Second", 1),
        ]  # fmt: skip
        assert await told(desk, "branch", everywhere=False) == [("main", "", 1)]
        assert await told(desk, "day") == [(datetime.now().astimezone().date().isoformat(), "", 4)]


async def test_what_is_deleted_is_still_paid_for(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await two_conversations(desk)
        first = (await desk.controller.conversations(0, 10))[-1].conversation_id
        await desk.controller.open_conversation(first)
        await desk.controller.delete_branch("The fork")
        assert ("The fork", "one · deleted", 1) in await told(desk, "branch")
        await desk.controller.store.delete_conversation(first)
        assert await told(desk, "conversation") == [("deleted", "", 3), ("Second", "", 1)]


@pytest.mark.parametrize(("span", "requests"), [("week", 1), ("month", 2), ("year", 3), ("ever", 4)])
async def test_a_span_reaches_back_by_whole_days(tmp_path: Path, span: ReportSpan, requests: int) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        (row,) = await desk.controller.store.requests()
        for days in (7, 30, 365):
            await desk.controller.store.record(str(row.conversation_id), _earlier(row, days))
        report = await desk.controller.usage_report("day", span)
        assert report.total.requests == requests
        assert len(report.rows) == {"week": 1, "month": 8, "year": 31, "ever": 366}[span]


async def test_the_rows_of_every_report_are_the_total(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await two_conversations(desk)
        whole = await desk.controller.store.usage()
        for cut in CUTS:
            for span in SPANS:
                report = await desk.controller.usage_report(cut, span)
                assert _sums(report) == (4, 60, 60), (cut, span)
                assert (report.total.requests, report.total.total_tokens) == (
                    whole.requests,
                    whole.total_tokens,
                )


async def test_a_conversation_that_was_never_stored_has_spent_nothing(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        for cut in CUTS:
            report = await desk.controller.usage_report(cut, everywhere=False)
            assert (report.rows, report.total.requests, report.total.cost_nano) == ((), 0, None)


def _earlier(row: RequestRecord, days: int) -> RequestRecord:
    noon = datetime.now().astimezone().replace(hour=12) - timedelta(days=days)
    moment = noon.astimezone(UTC).isoformat()
    return replace(
        row, request_id=f"{days} days ago", started_at=moment, first_token_at=None, finished_at=moment
    )


def _sums(report: UsageReport) -> tuple[int, int, int]:
    usages = [row.usage for row in report.rows]
    return (
        sum(usage.requests for usage in usages),
        sum(usage.total_tokens or 0 for usage in usages),
        sum(usage.cost_nano or 0 for usage in usages),
    )
