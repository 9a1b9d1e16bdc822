"""What the SDK tells of a run while it goes on.

Owns the events of tools and handoffs. Imports the SDK: import it late.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from agents import RunHooks

from advchat.events import AgentChanged, ToolFinished, ToolStarted
from advchat.models.mending import mend
from advchat.models.providers import Providers
from advchat.models.scope import RunScope
from advchat.models.sdk_types import Sdk

_STRUCTURED = ("text", "image", "file", "input_text", "input_image", "input_file")


class ScopeHooks(RunHooks[Any]):
    """Passes tool calls and handoffs on to the run's scope."""

    def __init__(self, scope: RunScope, providers: Providers) -> None:
        self._scope = scope
        self._providers = providers

    async def on_agent_start(self, context: Sdk, agent: Sdk) -> None:
        """Wrap the model of an agent that begins, however it was reached."""
        self._providers.adopt(agent)

    async def on_llm_start(self, context: Sdk, agent: Sdk, *_rest: Sdk, **_named: Sdk) -> None:
        """Note who asks; by then every tool has ended, those that were given up included."""
        self._scope.tools.clear()
        self._scope.agent = agent.name

    async def on_tool_start(self, context: Sdk, agent: Sdk, tool: Sdk) -> None:
        """Tell that a tool begins."""
        call_id = _call_id(context, tool)
        self._scope.tools[call_id] = time.monotonic()
        arguments = str(getattr(context, "tool_arguments", None) or "")
        self._scope.tell(ToolStarted(self._scope.run_id, call_id, tool.name, mend(arguments)))

    async def on_tool_end(self, context: Sdk, agent: Sdk, tool: Sdk, result: Sdk) -> None:
        """Tell that a tool has ended, and keep its output until the SDK stores it."""
        call_id = _call_id(context, tool)
        seconds = time.monotonic() - self._scope.tools.pop(call_id, time.monotonic())
        output = mend(as_text(result))
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        self._scope.unsaved.append(item)
        self._scope.tell(ToolFinished(self._scope.run_id, call_id, tool.name, output, seconds))

    async def on_handoff(self, context: Sdk, from_agent: Sdk, to_agent: Sdk) -> None:
        """Tell that another agent speaks from here on."""
        self._scope.tell(AgentChanged(self._scope.run_id, to_agent.name))


def as_text(result: Sdk) -> str:
    """Write a tool's result as the SDK hands it to the model, with a picture or a file by its kind's name."""
    if isinstance(result, list):
        parts = [as_text(part) for part in result if _is_structured(part)]
        return "\n".join(parts) if len(parts) == len(result) and parts else str(result)
    if not _is_structured(result):
        return str(result)
    plain = result if isinstance(result, Mapping) else result.model_dump()
    return str(plain.get("text") or f"[{plain.get('type')}]")


def _is_structured(result: Sdk) -> bool:
    """Whether it is one of the SDK's own outputs: text, a picture, a file."""
    given = result if isinstance(result, dict) else vars(result) if hasattr(result, "model_dump") else {}
    return given.get("type") in _STRUCTURED


def _call_id(context: Sdk, tool: Sdk) -> str:
    return str(getattr(context, "tool_call_id", None) or tool.name)
