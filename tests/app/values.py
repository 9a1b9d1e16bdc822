"""What a screen shows, made up: values for tests of widgets and screens."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from advchat.state import (
    BranchRow,
    ItemView,
    ModelView,
    QueuedPrompt,
    RunInfo,
    Share,
    Snapshot,
    TurnBar,
    TurnRow,
    TurnView,
    UsageView,
)
from advchat.usage_report import (
    SPAN_DAYS,
    ReportCut,
    ReportRow,
    ReportSpan,
    UsageReport,
    add_up,
)
from advchat_storage.models import Branch, BranchUsage, Conversation, UsageSum

TIME = "2026-11-29T12:00:00.000000"


def branch(
    ident: str = "main",
    *,
    title: str = "",
    parent: str | None = None,
    turns: int = 3,
    current: bool = False,
    unread: bool = False,
    cost: int | None = 1_200_000,
    at_least: bool = False,
) -> Branch:
    """Make a branch with what a test does not care about filled in."""
    return Branch(
        branch_id=ident,
        title=title,
        title_source="manual" if title else "none",
        parent=parent,
        fork_turn=2 if parent else None,
        fork_kind="before" if parent else "root",
        user_turns=turns,
        message_count=turns * 2,
        is_current=current,
        created_at=TIME,
        last_used_at=TIME,
        binned_at=None,
        model=None,
        pinned=False,
        unread=unread,
        budget_nano=None,
        own_cost_nano=cost,
        own_cost_at_least=at_least,
    )


def row(
    of: Branch,
    depth: int = 0,
    rails: tuple[bool, ...] = (),
    *,
    last: bool = True,
    on_path: bool = False,
    running: bool = False,
) -> BranchRow:
    """Make a branch's line."""
    return BranchRow(of, depth, rails, last, on_path or of.is_current, 0, running)


def some_branches(current: str = "shorter") -> tuple[BranchRow, ...]:
    """Make a tree with a running, an unread, a wide-lettered and an unpriced branch."""

    def make(ident: str, title: str, parent: str | None, **more: Any) -> Branch:
        return replace(branch(ident, title=title, parent=parent, current=ident == current), **more)

    return (
        row(make("main", "", None, user_turns=4, own_cost_nano=12_345_678), on_path=True),
        row(make("shorter", "A shorter answer", "main", user_turns=3), 1, (False,), last=False),
        row(
            make("fr", "en français", "shorter", own_cost_nano=None, own_cost_at_least=True),
            2,
            (False, True),
            running=True,
        ),
        row(make("zh", "用中文解释一下这个问题好吗", "main", unread=True), 1, (False,), last=False),
        row(
            make("b4", "with a title that is much too long for it", "main", own_cost_at_least=True), 1, (False,)
        ),
    )


_SUMMED = (
    *("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"),
    *("total_tokens", "cost_nano"),
)


def usage(
    requests: int = 2, tokens: int = 1_234, *, cost: int | None = 4_560_000, at_least: bool = False
) -> UsageSum:
    """Make sums that hang together."""
    return UsageSum(
        requests=requests,
        input_tokens=tokens,
        cached_tokens=tokens // 2,
        cache_write_tokens=0,
        output_tokens=tokens // 3,
        reasoning_tokens=tokens // 10,
        total_tokens=tokens + tokens // 3,
        cost_nano=cost,
        at_least=at_least,
        seconds=4.0,
        first_token_seconds=0.42,
        unknown=frozenset(_SUMMED if at_least else ()),
    )


def some_usage(turns: int = 9) -> UsageView:
    """Make everything the usage panel shows."""
    bars = tuple(
        TurnBar(
            turn=number,
            input_tokens=400 + 310 * number,
            cached_tokens=240 * number if number > 2 else 0,
            output_tokens=120 + (number * 97) % 400,
            cost_nano=200_000 + 90_000 * number if number != 5 else None,
            known=number != 5,
            usage=UsageSum(requests=1, at_least=True, unknown=frozenset(_SUMMED), estimated_output_tokens=210)
            if number == 5
            else usage(1, 400 + 310 * number, cost=200_000 + 90_000 * number),
        )
        for number in range(1, turns + 1)
    )
    return UsageView(
        turn=turns,
        this_turn=usage(1, 3_190, cost=1_010_000),
        branch=BranchUsage(usage(4, 9_800, cost=3_400_000), usage(3, 2_100, cost=900_000)),
        conversation=usage(12, 48_211, cost=20_123_000, at_least=True),
        everything=usage(310, 2_345_678, cost=1_234_567_890_123, at_least=True),
        today=usage(40, 120_400, cost=80_000_000),
        month=usage(201, 1_200_300, cost=None),
        binned=usage(2, 800, cost=300_000),
        bars=bars,
        models=(
            Share("gpt-4.1-mini", 9, 50_300, 15_000_000),
            Share("gpt-5", 3, 14_000, None),
        ),
        tools=(Share("weather", 4, None, None), Share("search_web", 2, None, None)),
        context_tokens=96_400,
        context_window=128_000,
    )


def usage_report(
    cut: ReportCut = "day", span: ReportSpan = "month", *, everywhere: bool = True, rows: int = 0
) -> UsageReport:
    """Make a report of as many rows as the span has days, or of some names."""
    names = {
        "model": ("gpt-4.1", "gpt-4.1-mini", "claude-haiku-4-5", "llama-3.3-70b-instruct-turbo", "unknown"),
        "branch": ("main", "A shorter answer", "用中文解释一下这个问题好吗", "en français"),
        "conversation": ("Recursion, explained", "[/] is not markup", "Trip\x1b[2J to Lisbon", "deleted"),
    }
    days = [date(2026, 11, 29) - timedelta(days=back) for back in range(rows or SPAN_DAYS.get(span, 400))]
    listed = [day.isoformat() for day in reversed(days)] if cut == "day" else names[cut]
    made = tuple(
        ReportRow(
            name,
            UsageSum() if cut == "day" and place % 7 == 5 else _spent(place, len(listed)),
            "Recursion, explained" if cut == "branch" and everywhere else "",
        )
        for place, name in enumerate(listed)
    )
    total = add_up([row.usage for row in made])
    return UsageReport(cut, span, everywhere, "Recursion, explained", made, total)


def _spent(place: int, count: int) -> UsageSum:
    tokens = 1_000 + (place * 7_919) % 21_000
    unpriced = place == count - 1
    return replace(
        usage(1 + place % 9, tokens, cost=None if unpriced else tokens * 900, at_least=unpriced),
        unknown=frozenset({"cost_nano"} if unpriced else ()),
    )


def turn_rows(count: int) -> list[TurnRow]:
    """Make the lines of that many turns."""
    words = (
        "What is the capital of France, and why?",
        "请用中文解释一下递归",
        "Write a haiku about\x1b[2J terminals",
        "[/] is not markup",
        "And now?",
    )
    statuses = ("completed", "completed", "stopped", "failed", "completed")
    return [
        TurnRow(
            turn=number,
            key=number * 10,
            preview=words[(number - 1) % len(words)],
            tokens=None if number == 4 else 431 * number,
            cost_nano=None if number == 4 else 310_000 * number,
            at_least=number == 3,
            inherited=number <= 2 and count > 2,
            status=statuses[(number - 1) % len(statuses)],  # type: ignore[arg-type]
        )
        for number in range(1, count + 1)
    ]


def turn_view(number: int, **more: Any) -> TurnView:
    """Make a turn with a prompt and a short Markdown answer."""
    answer = f"Answer **{number}** with `code`.\n\n```python\nprint({number})\n```\n\n| a | b |\n|---|---|\n"
    view = TurnView(
        turn=number,
        key=number * 10,
        prompt=turn_rows(number)[-1].preview,
        items=(ItemView("text", answer),),
        status="completed",
        created_at=TIME,
        usage=usage(),
    )
    return replace(view, **more)


def snapshot(turns: int = 5, **more: Any) -> Snapshot:
    """Make a snapshot of a conversation in use."""
    shown = Snapshot(
        db_name="chat.db",
        conversation_id="c1",
        conversation_title="Recursion, explained",
        branch_id="shorter",
        branch_title="A shorter answer",
        branches=some_branches(),
        turn_count=turns,
        turns_version=1,
        usage=some_usage(),
        model=ModelView("gpt-4.1-mini", "gpt-4.1-mini", ready=True, context_window=128_000),
        loading=False,
    )
    return replace(shown, **more)


def run(branch_id: str = "shorter", *, conversation_id: str = "c1", turn: int = 5) -> RunInfo:
    """Make a run in progress."""
    return RunInfo("r1", conversation_id, branch_id, turn, "And now?", TIME, "answering")


def queued(number: int, text: str = "and then?", branch_id: str = "shorter") -> QueuedPrompt:
    """Make a waiting prompt."""
    return QueuedPrompt(number, "c1", branch_id, text)


def conversation(number: int, title: str) -> Conversation:
    """Make a conversation of as many turns as its number says."""
    return Conversation(
        conversation_id=f"c{number}",
        title=title,
        title_source="auto",
        created_at=TIME,
        updated_at=TIME,
        current_branch="main",
        model=None,
        instructions=None,
        archived=False,
        budget_nano=None,
        branches=2,
        user_turns=number,
        cost_nano=None,
        cost_at_least=False,
    )
