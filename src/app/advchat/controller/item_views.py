"""How stored turns become what the transcript shows.

Owns the pure mapping from SDK items (plain mappings) to ``TurnView``. Knows no store connection, no
runner and no widget. Text stays raw: whoever draws it neutralises it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from advchat.state import ItemView, TurnView
from advchat_storage.models import Item, JournalEntry, RunStatus, Turn, UsageSum

_OUTPUT_SUFFIX = "_output"
_HOSTED = {
    "file_search_call": "file_search",
    "web_search_call": "web_search",
    "code_interpreter_call": "code_interpreter",
    "computer_call": "computer",
    "image_generation_call": "image_generation",
    "local_shell_call": "shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
    "mcp_list_tools": "mcp_list_tools",
    "mcp_approval_request": "mcp_approval",
}
_ARGUMENT_KEYS = ("arguments", "input", "action", "operation", "queries", "query", "code", "patch")


def text_of(content: object) -> str:
    """Give the readable text of a message's content, whether a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    return "\n".join(piece for piece in map(_part_text, content) if piece)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    for key in ("text", "refusal"):
        value = part.get(key)
        if isinstance(value, str):
            return value
    kind = str(part.get("type", "part"))
    return f"[{part.get('filename') or kind.removeprefix('input_')}]"


def turn_view(turn: Turn, usage: UsageSum, detail: str | None = None) -> TurnView:
    """Draw up one stored turn; ``branch`` order and sibling place come from the turn itself."""
    prompt, rest = _split_prompt(turn.items)
    return TurnView(
        turn=turn.turn,
        key=turn.message_id,
        prompt=prompt,
        items=tuple(item_views(rest)),
        status=turn.status,
        inherited=turn.inherited,
        error=turn.error,
        detail=detail,
        created_at=turn.created_at,
        siblings=turn.siblings,
        usage=usage,
        note=turn.note,
        actions=_offered(turn.status, answered=bool(rest)),
    )


def with_partial(view: TurnView, lost: JournalEntry | None) -> TurnView:
    """Add what a lost process had of the answer, and the offer to drop it."""
    if lost is None or not (lost.partial or lost.reasoning):
        return view
    came = (ItemView("reasoning", text=lost.reasoning), ItemView("text", text=lost.partial))
    items = (*view.items, *(item for item in came if item.text))
    return replace(view, items=items, actions=(*_offered(view.status, answered=True), "discard"))


def _offered(status: RunStatus, *, answered: bool) -> tuple[str, ...]:
    """Tell what can be done in place about a turn that did not complete; without an answer none goes on."""
    if status in ("interrupted", "stopped"):
        return ("continue", "retry") if answered else ("retry",)
    return ("retry",) if status == "failed" else ()


def _split_prompt(items: tuple[Item, ...]) -> tuple[str, tuple[Item, ...]]:
    if items and items[0].get("role") == "user":
        return text_of(items[0].get("content")), items[1:]
    return "", items


def item_views(items: Iterable[Item]) -> list[ItemView]:
    """Give the pieces of an answer in order, each tool call with its output folded into it."""
    views: list[ItemView] = []
    places: dict[str, int] = {}
    for item in items:
        kind = str(item.get("type") or "message")
        if kind.endswith(_OUTPUT_SUFFIX) and item.get("call_id") in places:
            place = places[str(item["call_id"])]
            views[place] = _with_output(views[place], item)
            continue
        view = _view(kind, item)
        if view is None:
            continue
        if view.kind == "tool" and view.call_id:
            places[view.call_id] = len(views)
        views.append(view)
    return views


def calls_of(turns: Iterable[Turn]) -> list[str]:
    """Give the IDs of the tool calls in the turns."""
    items = (item for turn in turns for item in turn.items)
    return [str(item["call_id"]) for item in items if item.get("call_id")]


def timed(view: TurnView, seconds: Mapping[str, float]) -> TurnView:
    """Give the turn with the wall times of its tool calls, by call ID."""
    if not seconds:
        return view
    items = tuple(
        replace(item, seconds=seconds[item.call_id]) if item.call_id in seconds else item for item in view.items
    )
    return replace(view, items=items)


def _view(kind: str, item: Item) -> ItemView | None:
    if kind == "message":
        return _message(item)
    if kind == "reasoning":
        text = text_of(item.get("summary") or item.get("content") or ())
        return ItemView("reasoning", text=text) if text else None
    if kind.endswith(_OUTPUT_SUFFIX):
        return ItemView("tool", name=kind.removesuffix(_OUTPUT_SUFFIX), text=_readable(item.get("output")))
    return ItemView(
        "tool",
        name=_tool_name(kind, item),
        arguments=_arguments(item),
        text=_readable(next((item[key] for key in ("output", "results", "outputs") if item.get(key)), "")),
        call_id=str(item.get("call_id") or item.get("id") or ""),
    )


def _message(item: Item) -> ItemView | None:
    text = text_of(item.get("content"))
    if not text:
        return None
    if item.get("role") == "assistant":
        return ItemView("text", text=text)
    return ItemView("notice", name=str(item.get("role", "")), text=text)


def _tool_name(kind: str, item: Item) -> str:
    name = item.get("name")
    if kind == "mcp_call" and name:
        server = item.get("server_label")
        return f"{server}.{name}" if server else str(name)
    return str(name or _HOSTED.get(kind) or kind.removesuffix("_call"))


def _arguments(item: Item) -> str:
    return _readable(next((item[key] for key in _ARGUMENT_KEYS if item.get(key)), ""))


def _with_output(view: ItemView, item: Item) -> ItemView:
    return ItemView(
        "tool",
        text=_readable(item.get("output")),
        name=view.name,
        arguments=view.arguments,
        call_id=view.call_id,
    )


def _readable(value: Any) -> str:  # noqa: ANN401 - an item's field is any JSON value
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, Mapping) and "text" in part for part in value)
    ):
        return text_of(value)
    return json.dumps(value, ensure_ascii=False)
