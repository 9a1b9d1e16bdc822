"""What an endpoint does not take, learnt from its refusals.

Owns the reading of a 400 that names a setting, a role or an API, and the request without it. What was learnt
holds for the process: requests stay the same from then on. Imports the SDK: import it late.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import openai
from agents import ModelSettings

from advchat.config import Api

Asked = dict[str, Any]
"""The arguments of a model request, by the SDK's names."""

_NO_SUCH_PATH = frozenset({404, 405, 501})
_REFUSED = frozenset({400, 422})
_UNSUPPORTED_API = re.compile(
    r"(responses|endpoint|route|path|url)\b.{0,80}(not (be )?(support|implement|found)|unsupported|unknown)"
    r"|(not support|unsupported|unknown|not implement).{0,80}\b(responses|endpoint|route|path|url)"
    r"|\bmessages\b.{0,40}(required|missing)|(required|missing).{0,40}\bmessages\b",
    re.IGNORECASE | re.DOTALL,
)
_SYSTEM_ROLE = re.compile(r"\b(system|developer)\b.{0,60}\b(role|message|prompt|instruction)|\brole.{0,60}\b(system|developer)\b|\binstructions?\b.{0,40}support", re.IGNORECASE)  # fmt: skip  # noqa: E501 - one pattern


@dataclass(slots=True)
class EndpointState:
    """What is known of one endpoint."""

    api: Api | None = None
    """The API it speaks; None until an answer has told."""
    omitted: dict[str, set[str]] = field(default_factory=dict)
    """Model to the names of what it does not take."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting that a request can do without."""

    names: tuple[str, ...]
    """As refusals name it."""
    sent: Callable[[ModelSettings], bool]
    without: Mapping[str, Any]


def _setting(name: str, *names: str, off: object = None) -> _Setting:
    return _Setting(names or (name,), lambda settings: bool(getattr(settings, name) is not None), {name: off})


_SETTINGS = {
    "temperature": _setting("temperature"),
    "top_p": _setting("top_p"),
    "frequency_penalty": _setting("frequency_penalty"),
    "presence_penalty": _setting("presence_penalty"),
    "usage": _setting("include_usage", "stream_options", "include_usage", off=False),
    "verbosity": _setting("verbosity"),
    "encrypted": _setting("response_include", "include", "encrypted content", "encrypted_content"),
    "reasoning": _setting("reasoning", "reasoning_effort", "reasoning.effort", "reasoning"),
    "parallel": _setting("parallel_tool_calls"),
    "store": _setting("store"),
}


def speaks_other_api(error: openai.APIStatusError) -> bool:
    """Whether the refusal of a Responses request says that the endpoint has no such API."""
    message = _text(error)
    if "model" in message.lower() and error.status_code in _NO_SUCH_PATH and _code(error) is not None:
        return False
    if error.status_code in _NO_SUCH_PATH:
        return _code(error) != "model_not_found" and not re.search(r"\bmodel\b", message, re.IGNORECASE)
    return error.status_code in _REFUSED and _UNSUPPORTED_API.search(message) is not None


def learn(error: openai.APIStatusError, omitted: set[str], asked: Asked) -> bool:
    """Note what the refusal names; False when there is nothing to leave out."""
    if error.status_code not in _REFUSED:
        return False
    message, param = _text(error).lower(), str(_body(error).get("param") or "").lower()
    settings: ModelSettings = asked["model_settings"]
    for name, setting in _SETTINGS.items():
        named = param.startswith(setting.names) or any(word in message for word in setting.names)
        if named and name not in omitted and setting.sent(settings):
            omitted.add(name)
            return True
    has_reasoning = any(item.get("type") == "reasoning" for item in _items(asked))
    if has_reasoning and "reasoning_items" not in omitted and re.search(r"reasoning|encrypted", message):
        omitted.add("reasoning_items")
        return True
    if asked["system_instructions"] and "system" not in omitted and _SYSTEM_ROLE.search(message):
        omitted.add("system")
        return True
    return False


def without(asked: Asked, omitted: set[str]) -> Asked:
    """Return the request without what the model does not take."""
    if not omitted:
        return asked
    settings: ModelSettings = asked["model_settings"]
    for name in omitted & _SETTINGS.keys():
        settings = replace(settings, **_SETTINGS[name].without)
    asked = {**asked, "model_settings": settings}
    if "reasoning_items" in omitted:
        asked["input"] = [item for item in _items(asked) if item.get("type") != "reasoning"]
    if "system" in omitted and asked["system_instructions"]:
        asked["input"] = _with_instructions(_items(asked), asked["system_instructions"])
        asked["system_instructions"] = None
    return asked


def _with_instructions(items: list[dict[str, Any]], instructions: str) -> list[dict[str, Any]]:
    """Put the instructions before the first prompt, where a model has no place of its own for them."""
    first = items[0] if items else {}
    if first.get("role") == "user" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{instructions}\n\n{first['content']}"}, *items[1:]]
    return [{"role": "user", "content": instructions}, *items]


def _items(asked: Asked) -> list[dict[str, Any]]:
    given = asked["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _body(error: openai.APIStatusError) -> Mapping[str, Any]:
    body = error.body if isinstance(error.body, Mapping) else {}
    inner = body.get("error", body)
    return inner if isinstance(inner, Mapping) else {"message": str(inner)}


def _text(error: openai.APIStatusError) -> str:
    said = _body(error).get("message") or _body(error).get("detail")
    return str(said) if said else f"{error.message} {error.body or ''}"


def _code(error: openai.APIStatusError) -> str | None:
    code = _body(error).get("code")
    return str(code) if isinstance(code, str) and code else None
