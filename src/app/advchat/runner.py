"""The port through which the controller drives an agent.

Owns the shape of that conversation only. ``agents_runner`` implements it with the SDK; the controller
depends on nothing else of it. Knows neither Textual nor the SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from advchat.events import Outcome, RunEvent
from advchat_storage.models import RequestRecord

if TYPE_CHECKING:
    from advchat_storage import AdvancedSQLiteSession

Emit = Callable[[RunEvent], None]
"""Takes an event on the event loop's thread; must not block."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the screen says of a model."""

    name: str
    """As asked for, e.g. ``gpt-4.1-mini``; ``smollm2-135m``; ``tour``."""
    label: str
    """For people, e.g. ``local · SmolLM2 135M``."""
    provider: str | None
    context_window: int | None
    free: bool
    can_use_tools: bool


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """A model request that is about to be sent."""

    model: str | None
    """As asked for; None where that is not known."""
    provider: str | None
    characters: int
    """Of instructions and input, as JSON."""


Allow = Callable[[RequestPlan], Coroutine[Any, Any, str | None]]
"""Asked before each model request goes out; a line for a person keeps it from going."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One prompt to answer on one branch."""

    run_id: str
    prompt: str
    message_id: int
    """Row of the user message that holds ``prompt``: it is already on disk, as the newest of its branch, so
    the run hides it from the history that the SDK reads and takes the SDK's own append of it as done."""
    session: AdvancedSQLiteSession
    """Bound to the run's branch for life."""
    model: str | None = None
    """Overrides the configured model for this run."""
    instructions: str | None = None
    turn: int = 0
    """Number of the prompt's turn on its branch, for the ledger."""
    allow: Allow | None = None
    """None allows every request."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. The partial text of a run that did not complete is in ``partial``."""

    outcome: Outcome
    error: str | None = None
    detail: str | None = None
    partial: str = ""
    usage_carrier: Any = None
    """For ``session.store_run_usage``: the SDK's result, or an object with the usage so far."""


Record = Callable[[RequestRecord], Coroutine[Any, Any, RequestRecord | None]]
"""Writes a ledger row; the runner calls it as each response arrives, before it passes the response on.

Returns the row as written, with its price, for the event that tells of it; None when that is not known.
"""


class Runner(Protocol):
    """Drives the agent. One instance serves every run of the program."""

    @property
    def ready(self) -> bool:
        """Whether the SDK and the model can be used at once."""

    async def prepare(self, model: str | None = None) -> None:
        """Import the SDK in a thread and make the model ready; errors surface on the first run."""

    def model_info(self, model: str | None = None) -> ModelInfo:
        """Tell of the model that a run with ``model`` would use. Never imports, never asks the network."""

    async def run(self, request: RunRequest, emit: Emit, record: Record) -> RunResult:
        """Answer the prompt. Cancelling the task stops the run: the result then says ``stopped``.

        Never raises for what a model, a network or the user's own tools do: that is in the result.
        The caller cancels through ``stop``; a bare task cancellation is treated as ``stop`` too.
        """

    def stop(self, run_id: str) -> None:
        """Stop that run; its ``run`` returns with ``stopped`` within a second."""

    async def close(self) -> None:
        """Release clients and child processes."""


class Embedded(Protocol):
    """The small model that can run on this machine."""

    def unavailable(self) -> str | None:
        """One line why it cannot be used here at all (the extra is missing, say); None when it can."""

    def downloaded(self) -> bool:
        """Whether its file is here."""

    async def download(self, progress: Callable[[float], None]) -> None:
        """Fetch its file; ``progress`` is told 0 to 1. Raises an exception whose text is for a person."""
