"""Runs inside a run: agents that are tools, and those that the user's own code starts.

Owns the count of how deep a model request lies, so that only the outermost answer is shown, and leads the
requests of inner runs to the same endpoints and the same ledger. Imports the SDK: import it late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents import Agent, Model, ModelProvider, RunResult
from agents.run import AgentRunner, set_default_agent_runner

from advchat.models.providers import Providers, RunProvider
from advchat.models.scope import DEPTH, SCOPE
from advchat.models.sdk_types import Sdk
from advchat.models.streaming import StreamingModel, Target


class ScopedRunner(AgentRunner):
    """The SDK's runner, with our providers for whatever runs inside a run of ours."""

    def __init__(self, providers: Providers) -> None:
        super().__init__()
        self._providers = providers

    async def run(
        self,
        starting_agent: Agent[Any],
        input: Sdk,  # noqa: A002 - the SDK's name
        **options: Sdk,
    ) -> RunResult:
        """Run the agent; see ``Runner.run``."""
        if SCOPE.get() is None:
            return await super().run(starting_agent, input, **options)
        depth = DEPTH.set(DEPTH.get() + 1)
        try:
            return await super().run(starting_agent, input, **self._led(options))
        finally:
            DEPTH.reset(depth)

    def _led(self, options: dict[str, Any]) -> dict[str, Any]:
        config = options.get("run_config")
        if config is None or isinstance(config, dict):
            given = config or {}
            provider = _counted(given["model_provider"]) if "model_provider" in given else self._ours()
            return {**options, "run_config": {**given, "model_provider": provider}}
        return {**options, "run_config": replace(config, model_provider=_counted(config.model_provider))}

    def _ours(self) -> ModelProvider:
        scope = SCOPE.get()
        return RunProvider(self._providers, scope.default_model if scope else None)


def _counted(provider: ModelProvider) -> ModelProvider:
    return provider if isinstance(provider, RunProvider | _Counting) else _Counting(provider)


class _Counting(ModelProvider):
    """Wraps the models of a provider that the user's code has chosen."""

    def __init__(self, inner: ModelProvider) -> None:
        self._inner = inner

    def get_model(self, model_name: str | None) -> Model:
        return StreamingModel(self._inner.get_model(model_name), Target(model_name))


def lead_inner_runs(providers: Providers) -> None:
    """Make every run of this process that begins inside one of ours use ``providers``."""
    set_default_agent_runner(ScopedRunner(providers))
