"""Stand-ins for the controller in tests of screens: data in memory, every call noted.

They know nothing of stores and models; what the whole program does is tested with the real controller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from advchat.actions import OnEvent, OnSnapshot, UserError
from advchat.events import RunEvent
from advchat.state import (
    ComparedSide,
    Comparison,
    Fan,
    SendEstimate,
    Snapshot,
    TurnRow,
    TurnView,
)
from advchat.usage_report import (
    ReportCut,
    ReportSpan,
    UsageReport,
)
from advchat_storage.models import Conversation, SearchHit, UsageSum
from tests.app.values import (
    TIME,
    branch,
    conversation,
    queued,
    row,
    run,
    snapshot,
    some_branches,
    some_usage,
    turn_rows,
    turn_view,
    usage,
    usage_report,
)

__all__ = [
    "TIME",
    "FakeActions",
    "branch",
    "conversation",
    "queued",
    "row",
    "run",
    "snapshot",
    "some_branches",
    "some_usage",
    "turn_rows",
    "turn_view",
    "usage",
    "usage_report",
]


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
