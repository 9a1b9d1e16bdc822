"""What happens during a run, as plain values.

Owns the vocabulary between the runner and the controller, and between the controller and the screen.
Knows neither the SDK nor Textual nor the store. Text in events is raw: whoever shows it neutralises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["completed", "stopped", "failed", "refused", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has begun; its user message is on disk."""

    run_id: str
    conversation_id: str
    branch_id: str
    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning (its summary)."""

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call has begun."""

    run_id: str
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call has ended; ``seconds`` is its wall time."""

    run_id: str
    call_id: str
    name: str
    output: str
    seconds: float


@dataclass(frozen=True, slots=True)
class AgentChanged:
    """A handoff: another agent of the user's speaks from here on."""

    run_id: str
    agent: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run waits for something outside, e.g. a rate limit's Retry-After, or the model's loading."""

    run_id: str
    reason: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """One model request has ended, well or not, and its ledger row is on disk.

    Token counts are None where the answer did not tell.
    """

    run_id: str
    request_id: str
    model: str | None
    status: Literal["completed", "stopped", "failed", "refused"]
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost_nano: int | None


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over and everything it left is on disk."""

    run_id: str
    conversation_id: str
    branch_id: str
    turn: int
    outcome: Outcome
    error: str | None = None
    """One line naming the cause and the way out."""
    detail: str | None = None
    """More for a fold-out, e.g. the traceback of the user's own code."""


RunEvent = (
    RunStarted
    | TextDelta
    | ReasoningDelta
    | ToolStarted
    | ToolFinished
    | AgentChanged
    | Waiting
    | RequestEnded
    | RunFinished
)
