"""What one run has done so far.

Owns the state that the streaming model, the hooks and the runner share during a run, and the ledger rows
made of it. A context variable leads each model request to its run, whichever agent makes it. Knows neither
the SDK nor how requests are made.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from advchat.events import ReasoningDelta, RequestEnded, RunEvent, TextDelta
from advchat.runner import Allow, Record
from advchat_storage.models import RequestRecord

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a run waits, and how often it tries again."""

    idle_seconds: float = 120.0
    """Silence after which a request counts as lost."""
    retries: int = 2
    """Further attempts after a passing failure of the provider, when nothing has been shown yet."""
    pause_seconds: float = 0.5
    """Before the first of them; each next pause is twice as long."""
    limited_retries: int = 5
    """Further attempts when the provider asks to wait."""
    longest_wait: float = 3600.0
    """The longest wait that is waited out."""


@dataclass(slots=True)
class RunScope:
    """One run's shared state. Lives on one event loop."""

    run_id: str
    branch_id: str
    turn: int
    emit: Callable[[RunEvent], None]
    record: Record
    patience: Patience = field(default_factory=Patience)
    allow: Allow | None = None
    """Asked before each model request goes out."""
    agent: str | None = None
    """The agent that speaks."""
    tools: dict[str, float] = field(default_factory=dict)
    """Call IDs of the tools that run now, with their start on the monotonic clock."""
    default_model: str | None = None
    """The model of agents that name none."""
    unsaved: list[dict[str, Any]] = field(default_factory=list)
    """Items that came and that the SDK has not stored yet, finished tools' outputs included."""
    usage: list[Any] = field(default_factory=list)
    """The SDK's usage of each response so far."""
    cut_short: bool = False
    """Whether the newest answer ended at the model's output limit."""
    tracebacks: list[str] = field(default_factory=list)
    """Of the user's tools, where the SDK told the model about the failure and went on."""
    unrecorded: str | None = None
    """Why a ledger row could not be written."""
    failed: tuple[BaseException, Any] | None = None
    """The exception that the newest failed request has raised, and what it means."""
    closed: bool = False
    """Set when the run's end has been told: whatever comes later is dropped."""
    _partial: list[str] = field(default_factory=list)
    _finished: list[str] = field(default_factory=list)
    _writes: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def partial(self) -> str:
        """Text of the answer that is coming, as far as it is in no item yet."""
        return "".join(self._partial)

    @property
    def said(self) -> str:
        """Text that came and that the SDK has not stored yet, finished answers' included."""
        return "".join([*self._finished, *self._partial])

    def say(self, text: str) -> None:
        """Show a piece of the answer."""
        self._partial.append(text)
        self.tell(TextDelta(self.run_id, text))

    def finish(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Take a whole response's items in place of the text that came of it."""
        self.unsaved += [dict(item) for item in items]
        self._finished += self._partial
        self._partial.clear()

    def stored(self) -> None:
        """Note that the SDK has stored everything that came so far."""
        self.unsaved.clear()
        self._finished.clear()

    def think(self, text: str) -> None:
        """Show a piece of the reasoning."""
        self.tell(ReasoningDelta(self.run_id, text))

    def tell(self, event: RunEvent) -> None:
        """Pass an event on, unless the run is over."""
        if not self.closed:
            self.emit(event)

    async def write(self, row: RequestRecord) -> None:
        """Write a ledger row and tell of it. A cancelled caller does not keep the row from the disk."""
        task = asyncio.create_task(self._write(row))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        await asyncio.shield(task)

    async def settle(self) -> None:
        """Wait for the rows that are still on their way."""
        while self._writes:
            await asyncio.wait(set(self._writes))

    async def _write(self, row: RequestRecord) -> None:
        try:
            written = await self.record(row) or row
        except Exception as error:
            log.exception("a ledger row could not be written")
            self.unrecorded = f"The usage of this answer could not be stored: {error}"
            written = row
        self.tell(
            RequestEnded(
                run_id=self.run_id,
                request_id=row.request_id,
                model=row.model or row.model_asked,
                status=row.status,
                input_tokens=row.input_tokens,
                cached_tokens=row.cached_tokens,
                output_tokens=row.output_tokens,
                cost_nano=written.cost_nano,
            )
        )


SCOPE: ContextVar[RunScope | None] = ContextVar("scope", default=None)
"""The run that the current task belongs to."""


DEPTH: ContextVar[int] = ContextVar("depth", default=0)
"""How many runs lie around the current task; the text of a request deeper than 1 is no part of the answer."""


def now() -> str:
    """Return the time as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider says of one request; None where it says nothing."""

    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None


NO_TOKENS = Tokens(0, 0, 0, 0, 0, 0)


def read_tokens(usage: Mapping[str, Any] | None) -> Tokens:
    """Read usage as either API words it. Usage of nothing at all is no statement: it counts as unknown."""
    if usage is None:
        return Tokens()
    given = _count(usage, "input_tokens", "prompt_tokens")
    output = _count(usage, "output_tokens", "completion_tokens")
    total = _count(usage, "total_tokens")
    if not given and not output and not total:
        return Tokens()
    inputs = _details(usage, "input_tokens_details", "prompt_tokens_details")
    outputs = _details(usage, "output_tokens_details", "completion_tokens_details")
    cached = _count(inputs, "cached_tokens")
    if total is None and given is not None and output is not None:
        total = given + output
    return Tokens(
        input=given,
        cached=_count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
        cache_write=_count(inputs, "cache_write_tokens"),
        output=output,
        reasoning=_count(outputs, "reasoning_tokens"),
        total=total,
    )


def _count(values: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _details(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((usage[name] for name in names if isinstance(usage.get(name), Mapping)), {})
