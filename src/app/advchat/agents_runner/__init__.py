"""The runner that drives the OpenAI Agents SDK.

Owns the life of runs: importing the SDK in a thread, starting, stopping and settling each run. ``running``
owns what happens inside one. Importing this package imports no SDK: that costs seconds and happens in
``prepare``.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from advchat.events import Waiting
from advchat.models.names import LOCAL_NAMES, TOUR, describe
from advchat.models.scope import SCOPE, Patience, RunScope
from advchat.runner import Emit, ModelInfo, Record, RunRequest, RunResult

if TYPE_CHECKING:
    from advchat.agents_runner.running import Engine, Run
    from advchat.config import Config
    from advchat.models.local import LocalModel
    from advchat.pricing import Pricing

__all__ = ["AgentsRunner", "RunnerSettings"]

log = logging.getLogger(__name__)

T = TypeVar("T")

_SWITCH_SECONDS = 0.0005
"""Between two threads while the SDK is imported, so that keys are painted meanwhile."""
_STOP_SECONDS = 0.6
"""How long a stopped run may take to let go before its result is given without it."""


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """What a runner is made of."""

    config: Config
    agent: str | None = None
    """The user's own agent, as ``FILE.py:NAME`` or ``MODULE:NAME``."""
    local: LocalModel | None = None
    """The embedded model; None where there is none."""
    pricing: Pricing | None = None
    """For what is known of providers and models; None knows nothing of them."""
    model_asked: bool = False
    """Whether the config's model was asked for on the command line: then it goes before the agent's own."""
    patience: Patience | None = None
    """None: the defaults, with the config's idle timeout."""


@dataclass(slots=True, eq=False)
class _Active:
    """A run in progress."""

    task: asyncio.Task[None]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


class AgentsRunner:
    """Drives the agent; see ``advchat.runner.Runner``."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._patience = settings.patience or Patience(idle_seconds=settings.config.idle_timeout)
        self._engine: Engine | None = None
        self._loading: asyncio.Future[Engine] | None = None
        self._active: dict[str, _Active] = {}
        self._stopped_early: set[str] = set()
        self._model: str | None = None

    @property
    def ready(self) -> bool:
        """Whether the SDK and the model prepared last can be used at once."""
        return self._engine is not None and not self._is_loading(self._model)

    async def prepare(self, model: str | None = None) -> None:
        """Import the SDK in a thread, load the user's agent, start the embedded model if ``model`` is it.

        Failures are logged and surface on the first run.
        """
        self._model = self._named(model)
        try:
            engine = await self._load()
            await engine.warm(self._model)
        except Exception:
            log.info("the model is not ready", exc_info=True)

    def model_info(self, model: str | None = None) -> ModelInfo:
        """Tell of the model that a run with ``model`` would use."""
        name = self._named(model)
        if name is None and self._engine is not None:
            name = self._engine.default_model
        return describe(name, self._settings.config, self._settings.pricing)

    async def run(self, request: RunRequest, emit: Emit, record: Record) -> RunResult:
        """Answer the prompt; see ``advchat.runner.Runner.run``."""
        scope = RunScope(
            run_id=request.run_id,
            branch_id=request.session.bound_branch or "main",
            turn=request.turn,
            emit=emit,
            record=record,
            patience=self._patience,
            allow=request.allow,
        )
        box: list[Run] = []
        task = asyncio.create_task(self._drive(request, scope, box), name=f"agent {request.run_id}")
        active = _Active(task)
        self._active[request.run_id] = active
        try:
            stopped = await self._wait(active)
        finally:
            del self._active[request.run_id]
        return await self._settle(task, scope, box, stopped=stopped)

    def stop(self, run_id: str) -> None:
        """Stop that run; nothing happens when it is over."""
        active = self._active.get(run_id)
        if active is not None:
            active.stopping.set()

    async def close(self) -> None:
        """Stop what runs, close clients, end the embedded model."""
        for active in self._active.values():
            active.stopping.set()
        if self._loading is not None and not self._loading.done():
            self._loading.cancel()
        if self._engine is not None:
            await self._engine.close()
        if self._settings.local is not None:
            await self._settings.local.close()

    def _named(self, model: str | None) -> str | None:
        """Give the model that a run with ``model`` asks for; None leaves it to the agent or the SDK."""
        settings = self._settings
        named = model or settings.config.model
        if named is not None or settings.agent is not None or settings.config.endpoint.connected:
            return named
        local = settings.local
        usable = local is not None and local.unavailable() is None and local.downloaded()
        return "local" if usable else TOUR

    def _is_loading(self, model: str | None) -> bool:
        """Whether the model is the embedded one and does not run yet."""
        local = self._settings.local
        return model in LOCAL_NAMES and local is not None and not local.running

    async def _load(self) -> Engine:
        """Import the SDK once, whoever asks; a cancelled caller does not stop it."""
        if self._engine is None:
            if self._loading is None:
                self._loading = _in_daemon_thread(lambda: _import_engine(self._settings))
            self._engine = await asyncio.shield(self._loading)
        return self._engine

    async def _drive(self, request: RunRequest, scope: RunScope, box: list[Run]) -> None:
        SCOPE.set(scope)
        named = self._named(request.model)
        if self._engine is None or self._is_loading(named):
            scope.tell(Waiting(request.run_id, "the model is getting ready", None))
        engine = await self._load()
        await engine.warm(named)
        box.append(engine.new_run(request, scope, named))
        await box[0].go()

    async def _wait(self, active: _Active) -> bool:
        """Wait for the run's end, or for a stop and a little more; whether it was stopped."""
        stop = asyncio.create_task(active.stopping.wait())
        try:
            await asyncio.wait({active.task, stop}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None:
                current.uncancel()  # Being cancelled is being stopped: the caller gets a result.
            active.stopping.set()
        finally:
            stop.cancel()
        if active.task.done():
            return False
        active.task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait({active.task}, timeout=_STOP_SECONDS)
        return True

    async def _settle(
        self, task: asyncio.Task[None], scope: RunScope, box: list[Run], *, stopped: bool
    ) -> RunResult:
        error: BaseException | None = None
        if task.done() and not task.cancelled():
            error = task.exception()
        elif task.cancelled() and not stopped:
            error = asyncio.CancelledError()
        if not task.done():
            task.add_done_callback(_forget)
        if box:
            return await box[0].result(error, stopped=stopped)
        scope.closed = True
        return _before_start(error, stopped=stopped)


def _import_engine(settings: RunnerSettings) -> Engine:
    """Import the SDK beside a running screen: short turns for this thread, no collector until it is done."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    collecting = gc.isenabled()
    gc.disable()
    try:
        running: Any = importlib.import_module("advchat.agents_runner.running")
        engine: Engine = running.Engine(settings)
        gc.freeze()
        return engine
    finally:
        if collecting:
            gc.enable()
        sys.setswitchinterval(interval)


def _in_daemon_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run ``work`` in a thread that nobody waits for: quitting while it imports takes no longer for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(give: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # The loop may be gone by then.
            loop.call_soon_threadsafe(lambda: None if future.done() else give())

    def run() -> None:
        try:
            made = work()
        except BaseException as error:
            problem = error
            tell(lambda: future.set_exception(problem))
        else:
            tell(lambda: future.set_result(made))

    threading.Thread(target=run, name="import the SDK", daemon=True).start()
    return future


def _forget(task: asyncio.Task[None]) -> None:
    """Take the late end of a run whose result was given without it."""
    if not task.cancelled() and task.exception() is not None:
        log.warning("a stopped run ended late", exc_info=task.exception())


def _before_start(error: BaseException | None, *, stopped: bool) -> RunResult:
    """Give the result of a run that ended before the SDK was asked."""
    if stopped or error is None or isinstance(error, asyncio.CancelledError):
        return RunResult("stopped")
    return RunResult("failed", error=" ".join(str(error).split()), detail=getattr(error, "detail", None))
