"""One run of the agent.

Owns the choice of agent and model for a run, the call of the SDK, and the reading of how it ended: what came
of an unfinished run is stored, so that the next request holds it. Imports the SDK: import it late.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import agents
from agents import Agent, RunConfig, Runner
from agents.models import get_default_model
from agents.usage import Usage

from advchat.agents_runner.history_view import HistoryView
from advchat.agents_runner.hooks import ScopeHooks
from advchat.agents_runner.nested import lead_inner_runs
from advchat.agents_runner.tool_servers import ToolServers
from advchat.models.failures import Failure, of_run, trace
from advchat.models.faults import RequestError
from advchat.models.mending import mend
from advchat.models.names import LOCAL_NAMES
from advchat.models.providers import Providers, RunProvider, all_agents
from advchat.models.scope import RunScope
from advchat.models.sdk_types import Sdk
from advchat.models.streaming import StreamingModel
from advchat.models.user_agent import AgentLoadError, load_agent
from advchat.runner import RunRequest, RunResult
from advchat_storage.sending import acceptable

if TYPE_CHECKING:
    from advchat.agents_runner import RunnerSettings

log = logging.getLogger(__name__)

INSTRUCTIONS = "You are a helpful assistant. Answer in Markdown."
_CUT_SHORT = "The answer reached the model's output limit. Continue goes on."


class Engine:
    """The SDK, imported, with the providers and the agent. Made in a thread."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._providers = Providers(settings.config, settings.local, settings.pricing)
        self._agent: Agent[Any] | None = None
        self._load_error: AgentLoadError | None = None
        self._tool_servers = ToolServers(())
        agents.set_tracing_disabled(not settings.config.tracing)  # For runs that the user's code starts, too.
        lead_inner_runs(self._providers)
        logging.getLogger("openai.agents").addHandler(logging.NullHandler())  # Else it writes over the screen.
        if settings.pricing is not None:
            settings.pricing.load()
        if settings.agent is not None:
            self._load(settings.agent)

    async def warm(self, model: str | None) -> None:
        """Do what takes time before ``model`` is asked. Raises a RequestError with a line for a person."""
        if self._load_error is not None:
            raise self._load_error
        try:
            await self._providers.warm(model)
        except RequestError:
            if model is not None or self._agent is None:
                raise  # Else the agent may bring a model of its own, which needs nothing of ours.
        await self._tool_servers.connect()

    @property
    def default_model(self) -> str | None:
        """The model of a run that names none: the agent's own, or the SDK's default."""
        model = self._agent.model if self._agent is not None else None
        if isinstance(model, StreamingModel):
            return model.target.model
        return model if isinstance(model, str) else get_default_model()

    def new_run(self, request: RunRequest, scope: RunScope, model: str | None) -> Run:
        """Prepare a run with ``model``; None is the agent's own."""
        agent = self._agent_for(request, model)
        scope.default_model = model
        config = RunConfig(
            model_provider=RunProvider(self._providers, model),
            tracing_disabled=not self._settings.config.tracing,
            tool_error_formatter=lambda error: _note_tool_error(scope, error),
            tool_not_found_behavior="return_error_to_model",
        )
        return Run(request, scope, agent, config, self._providers)

    async def close(self) -> None:
        """Close the clients, end the agent's servers."""
        await self._tool_servers.close()
        await self._providers.close()

    def _load(self, spec: str) -> None:
        try:
            self._agent = load_agent(spec)
            self._providers.adopt(self._agent)
            found = all_agents(self._agent)
            self._tool_servers = ToolServers([server for agent in found for server in agent.mcp_servers])
        except AgentLoadError as error:
            self._load_error = error

    def _agent_for(self, request: RunRequest, model: str | None) -> Agent[Any]:
        if self._agent is None:
            return Agent(name="Assistant", instructions=request.instructions or INSTRUCTIONS, model=model)
        agent = self._agent
        changes: dict[str, Any] = {}
        if request.instructions:
            changes["instructions"] = request.instructions
        if model is not None and (agent.model is None or self._is_asked_for(model)):
            changes["model"] = model
        if model in LOCAL_NAMES:
            changes |= {"tools": [], "handoffs": [], "mcp_servers": []}
        return agent.clone(**changes) if changes else agent

    def _is_asked_for(self, model: str) -> bool:
        """Whether the model was chosen by somebody, not only set as a default for what names none."""
        return self._settings.model_asked or model != self._settings.config.model


class Run:
    """One run, from the call of the SDK to its result."""

    def __init__(
        self,
        request: RunRequest,
        scope: RunScope,
        agent: Agent[Any],
        config: RunConfig,
        providers: Providers,
    ) -> None:
        self._request = request
        self._scope = scope
        self._agent = agent
        self._config = config
        self._providers = providers
        self._view = HistoryView(request.session, request.prompt, scope.stored)
        self._result: agents.RunResult | None = None

    async def go(self) -> None:
        """Run the agent to its end. Raises whatever ends it before."""
        prompt = mend(self._request.prompt)
        hooks = ScopeHooks(self._scope, self._providers)
        self._result = await Runner.run(
            self._agent, prompt, session=self._view, hooks=hooks, run_config=self._config
        )

    async def result(self, error: BaseException | None, *, stopped: bool) -> RunResult:
        """Store what an unfinished run has left, and tell how it ended."""
        scope = self._scope
        await scope.settle()
        scope.closed = True
        detail = "\n\n".join(scope.tracebacks) or None
        if self._result is not None:
            return self._completed(self._result, detail)
        failure = Failure("stopped", "") if stopped or error is None else await self._read(error)
        problem = await self._keep(failure)
        return RunResult(
            outcome=failure.outcome,
            error=" ".join(filter(None, (failure.line, problem, scope.unrecorded))) or None,
            detail=failure.detail or detail,
            partial=scope.said,
            usage_carrier=_carrier(scope),
        )

    def _completed(self, result: agents.RunResult, detail: str | None) -> RunResult:
        waiting = [item.tool_name or "a tool" for item in result.interruptions]
        if waiting:
            line = f"The tool {waiting[0]} asks for an approval, which cannot be given here."
            return RunResult("failed", error=line, detail=detail, usage_carrier=result)
        cut = self._scope.cut_short
        return RunResult(
            outcome="interrupted" if cut else "completed",
            error=_CUT_SHORT if cut else self._scope.unrecorded,
            detail=detail,
            usage_carrier=result,
        )

    async def _read(self, error: BaseException) -> Failure:
        if self._scope.failed is None or self._scope.failed[0] is not error:
            return of_run(error)
        failure: Failure = self._scope.failed[1]
        if failure.unknown_model is None:
            return failure
        offered = await self._providers.offered(failure.unknown_model)
        return replace(failure, line=f"{failure.line} {offered}") if offered else failure

    async def _keep(self, failure: Failure) -> str | None:
        """Store the calls that were answered and the text that came; gives what kept it from the disk."""
        scope = self._scope
        items: list[dict[str, Any]] = list(scope.unsaved)
        if scope.partial.strip():
            items.append({"role": "assistant", "content": scope.partial})
        if failure.withdrawn:
            items = []
        try:
            await self._view.keep([dict(item) for item in acceptable(items)])
        except Exception as error:
            log.exception("what came of a run could not be stored")
            return f"What came could not be stored: {error}"
        return None


def _note_tool_error(scope: RunScope, told: Sdk) -> str | None:
    """Keep the traceback of a tool whose failure the SDK tells to the model; the SDK's words stay."""
    if told.kind == "tool_exception" and told.error is not None:
        scope.tracebacks.append(f"{told.tool_name}:\n{trace(told.error)}")
    return None


def _carrier(scope: RunScope) -> Sdk:
    """Make an object that carries the usage so far, for a run that has no result."""
    usage = Usage()
    for part in scope.usage:
        usage.add(part)
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=usage))
