"""Stand-ins for the controller in tests of screens: data in memory, every call noted.

They know nothing of stores and models; what the whole program does is tested with the real controller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from advchat.actions import OnEvent, OnSnapshot, UserError
from advchat.events import RunEvent
from advchat.state import (
    BranchRow,
    ComparedSide,
    Comparison,
    Fan,
    ItemView,
    ModelView,
    QueuedPrompt,
    RunInfo,
    SendEstimate,
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
from advchat_storage.models import Branch, BranchUsage, Conversation, SearchHit, UsageSum

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


class FakeActions:
    """Acts on a snapshot in memory and notes every call."""

    def __init__(self, shown: Snapshot | None = None, *, first: Snapshot | None = None) -> None:
        self.shown = shown if shown is not None else snapshot()
        self._snapshot = first if first is not None else Snapshot()
        self.calls: list[tuple[object, ...]] = []
        self.fail: dict[str, Exception] = {}
        """By method: what it raises."""
        self.gates: dict[str, asyncio.Event] = {}
        """By method: it waits for this before it does anything."""
        self.drafts: dict[str, str] = {}
        """By branch."""
        self.hits: list[SearchHit] = []
        self.listed: list[Conversation] = []
        self.answering: TurnView | None = None
        """The turn being answered on the shown branch."""
        self.views: dict[int, TurnView] = {}
        """By number: turns that are not as ``turn_view`` makes them."""
        self.fanned: Fan | None = None
        """What the fan-out has become."""
        self.answers: dict[str, TurnView] = {}
        """By branch: the turn of the fan-out, as stored."""
        self.growing: dict[str | None, TurnView | None] = {}
        """By branch: the turn being answered."""
        self.comparison = Comparison(
            ComparedSide("main", "", None, UsageSum()), ComparedSide("fr", "", None, UsageSum()), 0, ()
        )
        self.estimated: SendEstimate | None = None
        self._on_snapshot: list[OnSnapshot] = []
        self._on_event: list[OnEvent] = []
        self._forks = 0

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def publish(self, **changes: Any) -> None:
        """Change the snapshot and tell of it."""
        self._snapshot = replace(self._snapshot, **changes)
        for tell in self._on_snapshot:
            tell(self._snapshot)

    def emit(self, event: RunEvent) -> None:
        """Tell of an event."""
        for tell in self._on_event:
            tell(event)

    def called(self, name: str) -> list[tuple[object, ...]]:
        """Tell the arguments of each call of a method."""
        return [call[1:] for call in self.calls if call[0] == name]

    async def _note(self, name: str, *arguments: object) -> None:
        gate = self.gates.get(name)
        if gate is not None:
            await gate.wait()
        self.calls.append((name, *arguments))
        if name in self.fail:
            raise self.fail[name]

    def _go(self, branch_id: str) -> None:
        self.publish(branch_id=branch_id, branch_title="", draft=self.drafts.get(branch_id, ""))

    def subscribe(self, on_snapshot: OnSnapshot, on_event: OnEvent) -> None:
        self._on_snapshot.append(on_snapshot)
        self._on_event.append(on_event)

    async def start(self) -> None:
        await self._note("start")
        self._snapshot = self.shown
        self.publish()

    async def send(self, text: str, *, branch_id: str | None = None) -> None:
        await self._note("send", text, branch_id or self._snapshot.branch_id)

    async def stop(self) -> None:
        await self._note("stop")
        self.publish(runs=())

    async def fork(self, turn: int, *, after: bool = False, title: str = "") -> str:
        await self._note("fork", turn, after, title)
        self._forks += 1
        self._go(f"fork{self._forks}")
        return self._snapshot.branch_id

    async def regenerate(self, turn: int) -> None:
        await self._note("regenerate", turn)
        self._forks += 1
        self._go(f"fork{self._forks}")

    async def edit(self, turn: int) -> str:
        await self._note("edit", turn)
        self._forks += 1
        self._go(f"fork{self._forks}")
        return f"prompt of {turn}"

    async def switch(self, branch: str) -> None:
        await self._note("switch", branch)
        self._go(branch)

    async def sibling(self, step: int) -> None:
        await self._note("sibling", step)
        self._go(f"sibling{step:+d}")

    async def sibling_at(self, turn: int, step: int) -> None:
        await self._note("sibling_at", turn, step)

    async def parent(self) -> None:
        await self._note("parent")
        self._go("main")

    async def child(self) -> None:
        await self._note("child")
        self._go("fr")

    async def rename_branch(self, branch: str, title: str) -> None:
        await self._note("rename_branch", branch, title)

    async def delete_branch(self, branch: str) -> None:
        await self._note("delete_branch", branch)

    async def restore_branch(self, branch_id: str) -> None:
        await self._note("restore_branch", branch_id)

    async def pin_branch(self, branch: str) -> None:
        await self._note("pin_branch", branch)

    async def stop_branch(self, branch: str) -> None:
        await self._note("stop_branch", branch)

    async def fan(self, spec: str, text: str) -> None:
        await self._note("fan", spec, text)
        if self.fanned is not None:
            self.publish(fan=self.fanned)

    async def fan_now(self) -> Fan | None:
        await self._note("fan_now")
        return self.fanned

    async def turn_on(self, branch_id: str, turn: int) -> TurnView | None:
        await self._note("turn_on", branch_id, turn)
        return self.answers.get(branch_id)

    async def keep(self, branch: str) -> None:
        await self._note("keep", branch)
        self._go(branch)

    async def fork_on(self, branch: str, turn: int) -> str:
        await self._note("fork_on", branch, turn)
        self._forks += 1
        self._go(f"fork{self._forks}")
        return self._snapshot.branch_id

    async def compare(self, left: str, right: str) -> Comparison:
        await self._note("compare", left, right)
        return self.comparison

    async def carry(self, source: str, turns: Sequence[int], target: str) -> None:
        await self._note("carry", source, tuple(turns), target)

    async def carry_summary(self, source: str, target: str) -> None:
        await self._note("carry_summary", source, target)

    async def estimate(self, text: str) -> SendEstimate | None:
        await self._note("estimate", text)
        return self.estimated

    async def set_budget(self, amount: str, *, branch: bool = False) -> None:
        await self._note("set_budget", amount, branch)

    async def undo(self) -> str:
        await self._note("undo")
        return "deleted “fr”"

    async def new_conversation(self, title: str = "") -> None:
        await self._note("new_conversation", title)
        self.publish(conversation_id="c2", conversation_title=title, branch_id="main", turn_count=0, draft="")

    async def open_conversation(self, ident: str) -> None:
        await self._note("open_conversation", ident)
        self.publish(conversation_id=ident, branch_id="main", draft="")

    async def rename_conversation(self, title: str) -> None:
        await self._note("rename_conversation", title)

    async def conversations(self, start: int, stop: int) -> list[Conversation]:
        await self._note("conversations", start, stop)
        return self.listed[start:stop]

    async def turns(self, start: int, stop: int) -> list[TurnView]:
        await self._note("turns", start, stop)
        numbers = range(start + 1, min(stop, self._snapshot.turn_count) + 1)
        return [self.views.get(number) or turn_view(number) for number in numbers]

    async def turn_rows(self, start: int, stop: int) -> list[TurnRow]:
        await self._note("turn_rows", start, stop)
        return turn_rows(min(stop, self._snapshot.turn_count))[start:]

    async def search(self, term: str) -> list[SearchHit]:
        await self._note("search", term)
        return self.hits

    async def usage_report(
        self, cut: ReportCut, span: ReportSpan = "month", *, everywhere: bool = True
    ) -> UsageReport:
        await self._note("usage_report", cut, span, everywhere)
        return usage_report(cut, span, everywhere=everywhere)

    async def save_draft(self, text: str) -> None:
        await self._note("save_draft", text, self._snapshot.branch_id)
        self.drafts[self._snapshot.branch_id] = text

    async def remember_heights(self, width: int, heights: dict[int, int]) -> None:
        await self._note("remember_heights", width)

    async def answer_offer(self, choice: str) -> None:
        await self._note("answer_offer", choice)
        self.publish(offer=None)

    async def continue_turn(self, turn: int) -> None:
        await self._note("continue_turn", turn)

    async def retry_turn(self, turn: int) -> None:
        await self._note("retry_turn", turn)

    async def discard_partial(self, turn: int) -> None:
        await self._note("discard_partial", turn)

    async def set_model(self, name: str) -> None:
        await self._note("set_model", name)

    def unqueue(self, queue_id: int) -> str:
        self.calls.append(("unqueue", queue_id))
        found = next((prompt for prompt in self._snapshot.queue if prompt.queue_id == queue_id), None)
        if found is None:
            raise UserError("That prompt has been sent already.")
        self.publish(queue=tuple(prompt for prompt in self._snapshot.queue if prompt is not found))
        return found.text

    async def export(self, path: str) -> str:
        await self._note("export", path)
        return f"/tmp/{path}"

    def live(self, branch_id: str | None = None) -> TurnView | None:
        return self.growing.get(branch_id) if branch_id in self.growing else self.answering

    async def close(self) -> None:
        await self._note("close")


async def until(pause: Callable[[], object], true: Callable[[], bool], tries: int = 400) -> None:
    """Let the app work until something is true; fail if it never is."""
    for _ in range(tries):
        if true():
            return
        result = pause()
        if asyncio.iscoroutine(result):
            await result
    raise AssertionError("it never came true")
