"""The history of a request, read and judged as providers do.

Owns one reading for both wire formats, and the refusals that providers answer to a history that they
do not accept. Knows nothing of scripts nor of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Body = Mapping[str, Any]


def lines(body: Body) -> list[str]:
    """The history in short: ``user: text``, ``assistant: text``, ``call name``, ``output text``, …"""
    return list(_chat_lines(body) if "messages" in body else _responses_lines(body))


def instructions(body: Body) -> str | None:
    """What the request tells the model to be."""
    if "messages" not in body:
        return body.get("instructions")
    for message in body["messages"]:
        if message.get("role") in {"system", "developer"}:
            return text_of(message.get("content"))
    return None


def last_user_text(body: Body) -> str:
    """The newest prompt."""
    said = [line for line in lines(body) if line.startswith("user: ")]
    return said[-1].removeprefix("user: ") if said else ""


def text_of(content: Any) -> str:
    """The text of a message's content, whole or in parts."""
    if isinstance(content, str):
        return content
    parts = content or []
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)


def fault(body: Body) -> str | None:
    """Why a provider would refuse this history; None when it would not."""
    return _chat_fault(body["messages"]) if "messages" in body else _responses_fault(_items(body))


def _items(body: Body) -> list[dict[str, Any]]:
    given = body.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _responses_lines(body: Body) -> Iterator[str]:
    for item in _items(body):
        kind = item.get("type") or "message"
        if kind == "message":
            yield f"{item['role']}: {text_of(item.get('content'))}"
        elif kind == "function_call":
            yield f"call {item['name']}"
        elif kind == "function_call_output":
            yield f"output {text_of(item['output'])}"
        else:
            yield kind


def _chat_lines(body: Body) -> Iterator[str]:
    for message in body["messages"]:
        role = message["role"]
        if role in {"system", "developer"}:
            continue
        if role == "tool":
            yield f"output {text_of(message['content'])}"
            continue
        text = text_of(message.get("content"))
        if text or role == "user":
            yield f"{role}: {text}"
        for call in message.get("tool_calls") or ():
            yield f"call {call['function']['name']}"


def _responses_fault(items: list[dict[str, Any]]) -> str | None:
    open_calls: dict[str, str] = {}
    for index, item in enumerate(items):
        kind = item.get("type") or "message"
        follower = items[index + 1] if index + 1 < len(items) else None
        if kind == "message" and item.get("role") == "assistant" and not text_of(item.get("content")):
            return f"Invalid 'input[{index}].content': empty assistant message."
        if kind == "reasoning" and (follower is None or follower.get("role") == "user"):
            return (
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
            )
        if kind == "function_call":
            open_calls[item["call_id"]] = item["name"]
        if kind == "function_call_output" and open_calls.pop(item["call_id"], None) is None:
            return f"No tool call found for function call output with call_id {item['call_id']}."
        if item.get("role") == "user" and open_calls:
            break
    if open_calls:
        return f"No tool output found for function call {next(iter(open_calls))}."
    return None


def _chat_fault(messages: list[dict[str, Any]]) -> str | None:
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"Invalid 'messages[{index}]': 'tool' must follow a message with 'tool_calls'."
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            break
        if role == "assistant":
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]
            if not open_calls and not text_of(message.get("content")) and not message.get("refusal"):
                return f"Invalid 'messages[{index}].content': empty assistant message."
    if open_calls:
        return f"An assistant message with 'tool_calls' lacks the answer to {open_calls[0]}."
    return None
