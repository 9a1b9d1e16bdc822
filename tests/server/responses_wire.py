"""The Responses API's shapes.

Owns how a reply becomes one response object or a stream of its events. Knows nothing of HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.server.script import Call, Content, Control, Fail, Reasoning, Refusal, Reply, Text, Usage

Frame = tuple[dict[str, Any], Text | None]
"""An event and the text it is a piece of, for pacing."""


def response_object(reply: Reply, *, number: int, model: str, usage: Usage | None) -> dict[str, Any]:
    """The whole response, as a request without ``stream`` gets it."""
    output = [_item(part, number, index) for index, part in enumerate(_joined(reply.content))]
    return _response(reply, number=number, model=model, output=output, usage=usage, done=True)


def events(
    reply: Reply, *, number: int, model: str, usage: Usage | None
) -> Iterator[tuple[dict[str, Any] | Control, Text | None]]:
    """The stream: events, with controls at their places."""
    start = _response(reply, number=number, model=model, output=[], usage=None, done=False)
    yield {"type": "response.created", "response": start}, None
    yield {"type": "response.in_progress", "response": start}, None
    output: list[dict[str, Any]] = []
    grouped: list[Content | Control | list[Text | Control]] = _grouped(reply)
    for part in grouped:
        if isinstance(part, list):
            yield from _message_events(part, number, len(output), output)
        elif isinstance(part, Fail):
            yield {"type": "error", "code": part.code, "message": part.message, "param": None}, None
            return
        elif isinstance(part, Content):
            yield from _item_events(part, number, len(output), output)
        else:
            yield part, None
    end = _response(reply, number=number, model=model, output=output, usage=usage, done=True)
    kind = "response.completed" if reply.finish == "stop" else "response.incomplete"
    yield {"type": kind, "response": end}, None


def _grouped(reply: Reply) -> list[Content | Control | list[Text | Control]]:
    """Put neighbouring texts, and the controls between and after them, into one message."""
    groups: list[Content | Control | list[Text | Control]] = []
    for part in reply.parts:
        last = groups[-1] if groups else None
        if isinstance(part, Text):
            if isinstance(last, list):
                last.append(part)
            else:
                groups.append([part])
        elif isinstance(last, list) and not isinstance(part, Content | Fail):
            last.append(part)
        else:
            groups.append(part)
    return groups


def _joined(parts: tuple[Content, ...]) -> list[Content]:
    joined: list[Content] = []
    for part in parts:
        if isinstance(part, Text) and joined and isinstance(joined[-1], Text):
            joined[-1] = Text(joined[-1].text + part.text)
        else:
            joined.append(part)
    return joined


def pieces(text: Text) -> Iterator[str]:
    """The text in pieces of its size."""
    for start in range(0, len(text.text), text.size):
        yield text.text[start : start + text.size]


def arguments_of(call: Call) -> str:
    """A call's arguments as they go over the wire."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))


def call_id_of(call: Call, number: int, index: int) -> str:
    """The call's ID: its own, or one made of the request's and the item's number."""
    return call.call_id or f"call_{number}_{index}"


def _message_events(
    parts: list[Text | Control], number: int, index: int, output: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any] | Control, Text | None]]:
    item = _item(Text(""), number, index)
    place = {"output_index": index, "item_id": item["id"], "content_index": 0}
    opened = item | {"status": "in_progress", "content": []}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": opened}, None
    yield {"type": "response.content_part.added", **place, "part": empty}, None
    said = ""
    for part in parts:
        if not isinstance(part, Text):
            yield part, None
            continue
        for piece in pieces(part):
            said += piece
            yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}, part
    done = _item(Text(said), number, index)
    yield {"type": "response.output_text.done", **place, "text": said, "logprobs": []}, None
    yield {"type": "response.content_part.done", **place, "part": done["content"][0]}, None
    yield {"type": "response.output_item.done", "output_index": index, "item": done}, None
    output.append(done)


def _item_events(
    part: Content, number: int, index: int, output: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], None]]:
    item = _item(part, number, index)
    place = {"output_index": index, "item_id": item["id"]}
    added = {"type": "response.output_item.added", "output_index": index}
    if isinstance(part, Call):
        yield {**added, "item": item | {"status": "in_progress", "arguments": ""}}, None
        for piece in pieces(Text(item["arguments"])):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}, None
        done = {"type": "response.function_call_arguments.done", "name": part.name}
        yield {**done, **place, "arguments": item["arguments"]}, None
    elif isinstance(part, Reasoning):
        place["summary_index"] = 0
        yield {**added, "item": item | {"summary": []}}, None
        opened = {"type": "summary_text", "text": ""}
        yield {"type": "response.reasoning_summary_part.added", **place, "part": opened}, None
        for piece in pieces(Text(part.text)):
            yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}, None
        yield {"type": "response.reasoning_summary_text.done", **place, "text": part.text}, None
        yield {"type": "response.reasoning_summary_part.done", **place, "part": item["summary"][0]}, None
    elif isinstance(part, Refusal):
        place["content_index"] = 0
        yield {**added, "item": item | {"status": "in_progress", "content": []}}, None
        opened = {"type": "refusal", "refusal": ""}
        yield {"type": "response.content_part.added", **place, "part": opened}, None
        for piece in pieces(Text(part.text)):
            yield {"type": "response.refusal.delta", **place, "delta": piece}, None
        yield {"type": "response.refusal.done", **place, "refusal": part.text}, None
        yield {"type": "response.content_part.done", **place, "part": item["content"][0]}, None
    yield {"type": "response.output_item.done", "output_index": index, "item": item}, None
    output.append(item)


def _item(part: Content, number: int, index: int) -> dict[str, Any]:
    if isinstance(part, Call):
        return {
            "type": "function_call",
            "id": f"fc_{number}_{index}",
            "call_id": call_id_of(part, number, index),
            "name": part.name,
            "arguments": arguments_of(part),
            "status": "completed",
        }
    if isinstance(part, Reasoning):
        summary = [{"type": "summary_text", "text": part.text}]
        item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{number}_{index}", "summary": summary}
        return item | ({"encrypted_content": part.encrypted} if part.encrypted else {})
    if isinstance(part, Refusal):
        content: dict[str, Any] = {"type": "refusal", "refusal": part.text}
    else:
        content = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
    return {
        "type": "message",
        "id": f"msg_{number}_{index}",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }


def _response(
    reply: Reply, *, number: int, model: str, output: list[dict[str, Any]], usage: Usage | None, done: bool
) -> dict[str, Any]:
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = reasons.get(reply.finish) if done else None
    status = "in_progress" if not done else "incomplete" if reason else "completed"
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000 + number,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": _usage(usage) if usage else None,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    inputs = {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_write}
    details = {name: value for name, value in inputs.items() if value is not None}
    shown: dict[str, Any] = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.total,
    }
    if details:
        shown["input_tokens_details"] = details
    if usage.reasoning is not None:
        shown["output_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return shown
