"""Which items of a history may be sent to a model.

Pure. Owns the rules by which providers refuse a history that an interrupted run or a limit has cut: a call
goes with its output, reasoning with what it led to, and an assistant message has content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advchat_storage.items import Json

_PAIRS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
    "mcp_approval_request": "mcp_approval_response",
}
_CALL_OF = {output: call for call, output in _PAIRS.items()}
_OPTIONAL_OUTPUT = frozenset({"tool_search_call", "mcp_approval_request"})
"""Calls that the provider answers itself, or that may still be answered by the next request."""


def acceptable(items: Sequence[Json]) -> list[Json]:
    """Give the items that a provider accepts, in their order; the same items where nothing is cut."""
    keep = [not _is_empty_answer(item) for item in items]
    _drop_unpaired(items, keep)
    _drop_dangling_reasoning(items, keep)
    return [item for item, kept in zip(items, keep, strict=True) if kept]


def _drop_unpaired(items: Sequence[Json], keep: list[bool]) -> None:
    waiting: dict[tuple[str, object], list[int]] = {}
    for index, item in enumerate(items):
        kind = _kind(item)
        if kind in _PAIRS:
            waiting.setdefault((kind, _call_id(item)), []).append(index)
            keep[index] = keep[index] and kind in _OPTIONAL_OUTPUT
        elif kind in _CALL_OF:
            calls = waiting.get((_CALL_OF[kind], _call_id(item)))
            if calls:
                keep[calls.pop(0)] = True
            else:
                keep[index] = kind == "tool_search_output" and _call_id(item) is None


def _drop_dangling_reasoning(items: Sequence[Json], keep: list[bool]) -> None:
    followed = False
    for index in range(len(items) - 1, -1, -1):
        if not keep[index]:
            continue
        if _kind(items[index]) == "reasoning":
            keep[index] = followed
        else:
            followed = _comes_from_model(items[index])


def _comes_from_model(item: Json) -> bool:
    if not isinstance(item, Mapping):
        return False
    kind = _kind(item)
    if item.get("role") is not None:
        return bool(item["role"] == "assistant")
    return kind not in _CALL_OF and kind not in ("", "item_reference")


def _is_empty_answer(item: Json) -> bool:
    if not isinstance(item, Mapping) or item.get("role") != "assistant" or item.get("tool_calls"):
        return False
    content = item.get("content")
    if isinstance(content, list):
        return not any(_has_content(part) for part in content)
    return content is None or content == ""


def _has_content(part: Json) -> bool:
    if not isinstance(part, Mapping):
        return bool(part)
    words = [part[key] for key in ("text", "refusal") if key in part]
    return any(words) if words else True


def _kind(item: Json) -> str:
    kind = item.get("type") if isinstance(item, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _call_id(item: Mapping[str, Json]) -> object:
    """Give what pairs a call with its output: a call ID, or the ID of a request for approval."""
    kind = _kind(item)
    if kind == "mcp_approval_request":
        return _hashable(item.get("id"))
    if kind == "mcp_approval_response":
        return _hashable(item.get("approval_request_id"))
    call_id = item.get("call_id")
    if call_id is None and kind.startswith("local_shell"):
        call_id = item.get("id")
    return _hashable(call_id)


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | None) else repr(value)
