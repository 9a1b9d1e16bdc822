"""The Chat Completions API's shapes.

Owns how a reply becomes one completion object or a stream of its chunks. Knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.server.responses_wire import arguments_of, call_id_of, pieces
from tests.server.script import Call, Content, Control, Fail, Reasoning, Refusal, Reply, Text, Usage


def completion_object(reply: Reply, *, number: int, model: str, usage: Usage | None) -> dict[str, Any]:
    """The whole completion, as a request without ``stream`` gets it."""
    texts = [part.text for part in reply.content if isinstance(part, Text)]
    refusals = [part.text for part in reply.content if isinstance(part, Refusal)]
    thoughts = [part.text for part in reply.content if isinstance(part, Reasoning)]
    calls = [
        _call(part, call_id_of(part, number, index))
        for index, part in enumerate(part for part in reply.content if isinstance(part, Call))
    ]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(texts) if texts else None,
        "refusal": "".join(refusals) if refusals else None,
    }
    if calls:
        message["tool_calls"] = calls
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    shown = _head(number, model) | {"object": "chat.completion", "choices": [choice]}
    return shown | ({"usage": usage_object(usage)} if usage else {})


def chunks(
    reply: Reply, *, number: int, model: str, usage: Usage | None
) -> Iterator[tuple[dict[str, Any] | Control, Text | None]]:
    """The stream: chunks, with controls at their places; usage comes in a chunk of its own at the end."""
    head = _head(number, model) | {"object": "chat.completion.chunk"}
    yield head | _choice({"role": "assistant", "content": ""}), None
    calls = 0
    for part in reply.parts:
        if isinstance(part, Fail):
            shown = {"message": part.message, "code": part.code, "type": part.type, "param": None}
            yield {"error": shown}, None
            return
        if not isinstance(part, Content):
            yield part, None
            continue
        for delta in _deltas(part, number, calls):
            yield head | _choice(delta), part if isinstance(part, Text) else None
        calls += isinstance(part, Call)
    yield head | _choice({}, _finish(reply)), None
    if usage:
        yield head | {"choices": [], "usage": usage_object(usage)}, None


def usage_object(usage: Usage) -> dict[str, Any]:
    """Usage as this API words it; details that are None are left out."""
    shown: dict[str, Any] = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
    }
    inputs = {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_write}
    details = {name: value for name, value in inputs.items() if value is not None}
    if details:
        shown["prompt_tokens_details"] = details
    if usage.reasoning is not None:
        shown["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return shown


def _deltas(part: Content, number: int, calls: int) -> Iterator[dict[str, Any]]:
    if isinstance(part, Call):
        whole = _call(part, call_id_of(part, number, calls)) | {"index": calls}
        yield {"tool_calls": [whole | {"function": {"name": part.name, "arguments": ""}}]}
        for piece in pieces(Text(arguments_of(part))):
            yield {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}
        return
    name = {Text: "content", Refusal: "refusal", Reasoning: "reasoning_content"}[type(part)]
    for piece in pieces(part if isinstance(part, Text) else Text(part.text)):
        yield {name: piece}


def _head(number: int, model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "created": 1_700_000_000 + number, "model": model}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def _call(call: Call, call_id: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments_of(call)},
    }


def _finish(reply: Reply) -> str:
    if reply.finish == "stop" and any(isinstance(part, Call) for part in reply.content):
        return "tool_calls"
    return reply.finish
