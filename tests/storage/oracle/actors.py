"""Who acts in an oracle test: one instance of a session class, here or in a process of its own.

Owns how an operation is run and how its answer or error becomes a plain value that can be compared. Knows
no expectations.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

SDK = "agents.extensions.memory"
OURS = "advchat_storage"


@dataclass(frozen=True)
class Outcome:
    """What an operation answered: a value, or the type and message of its error."""

    value: Any = None
    error: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Call:
    """One operation: a method of the session class and its arguments."""

    method: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Place:
    """Which class works on which file under which conversation."""

    module: str
    path: Path
    session_id: str = "conversation"
    limit: int | None = None
    create_tables: bool = True


class Actor(Protocol):
    """Runs operations one after another, or several begun together."""

    def run(self, *calls: Call) -> list[Outcome]:
        """Begin the calls in order, at once, and give their outcomes in the same order."""

    def renew_loop(self) -> None:
        """Go on under another event loop."""

    def close(self) -> None:
        """Close the session and whatever carries it."""


def open_session(place: Place) -> Any:
    """Build the session of ``place``."""
    session_class = importlib.import_module(place.module).AdvancedSQLiteSession
    settings = None
    if place.limit is not None:
        from agents.memory import SessionSettings

        settings = SessionSettings(limit=place.limit)
    return session_class(
        session_id=place.session_id,
        db_path=place.path,
        create_tables=place.create_tables,
        session_settings=settings,
    )


def usage_result(requests: int, input_tokens: int, cached: int, output: int, reasoning: int) -> Any:
    """Give what ``store_run_usage`` reads of a run's result."""
    from agents.usage import Usage
    from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

    usage = Usage(
        requests=requests,
        input_tokens=input_tokens,
        input_tokens_details=InputTokensDetails(cached_tokens=cached, cache_write_tokens=0),
        output_tokens=output,
        output_tokens_details=OutputTokensDetails(reasoning_tokens=reasoning),
        total_tokens=input_tokens + output,
    )
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=usage))


async def perform(session: Any, call: Call) -> Outcome:
    """Run one operation and catch how it ended."""
    args = (usage_result(*call.args),) if call.method == "store_run_usage" else call.args
    try:
        return Outcome(value=await getattr(session, call.method)(*args))
    except Exception as error:
        return Outcome(error=type(error).__name__, message=str(error))


class LocalActor:
    """A session in this process."""

    def __init__(self, place: Place) -> None:
        self.session = open_session(place)
        self._runner = asyncio.Runner()

    def run(self, *calls: Call) -> list[Outcome]:
        """Begin the calls in order, at once, and give their outcomes in the same order."""

        async def together() -> list[Outcome]:
            return await asyncio.gather(*(perform(self.session, call) for call in calls))

        return self._runner.run(together())

    def renew_loop(self) -> None:
        """Go on under another event loop."""
        self._runner.close()
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """Close the session and its loop."""
        self.session.close()
        self._runner.close()


def _serve(place: Place, pipe: Connection) -> None:
    actor = LocalActor(place)
    try:
        while (calls := pipe.recv()) is not None:
            pipe.send(actor.run(*calls))
    finally:
        actor.close()


class RemoteActor:
    """A session in a process of its own."""

    def __init__(self, place: Place) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([SDK, OURS, __name__])
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(place, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, *calls: Call) -> list[Outcome]:
        """Begin the calls there and wait for the outcomes."""
        self.begin(*calls)
        return self.outcomes()

    def begin(self, *calls: Call) -> None:
        """Begin the calls there and wait for nothing."""
        self._pipe.send(calls)

    def outcomes(self) -> list[Outcome]:
        """Wait for the outcomes of the oldest calls that were begun."""
        outcomes: list[Outcome] = self._pipe.recv()
        return outcomes

    def renew_loop(self) -> None:
        """Nothing to do: the process keeps its loop."""

    def close(self) -> None:
        """Let the process close its session and end."""
        self._pipe.send(None)
        self._process.join(30)
        self._pipe.close()
        self._process.close()


MakeActor = Callable[[Place], Actor]
