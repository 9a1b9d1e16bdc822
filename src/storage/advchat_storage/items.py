"""What an item is: its kind, its tool, its words, its text in the file.

Pure functions over single items, as the SDK gives and takes them. Knows no SQL and no other item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Json = Any
"""What JSON can hold, as Python has it. Items come from outside: their shape is looked at, never assumed."""

PREVIEW = 100
"""Characters of a turn's content in a list; what is cut ends with three dots."""

_NAMED_AFTER_TYPE = frozenset(
    {
        "apply_patch_call",
        "code_interpreter_call",
        "computer_call",
        "file_search_call",
        "shell_call",
        "web_search_call",
    }
)
_NAMED_BY_SERVER = frozenset({"mcp_call", "mcp_approval_request"})
TOOL_SEARCH = frozenset({"tool_search_call", "tool_search_output"})
CALLS = (
    *sorted(_NAMED_AFTER_TYPE | _NAMED_BY_SERVER),
    "custom_tool_call",
    "function_call",
    "tool_call",
    "tool_search_call",
    "tool_search_output",
)
"""Message types that count as the use of a tool."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\\\"  # A backslash that is one, before which nothing is an escape.
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def classify(item: object) -> tuple[str, str | None]:
    """Give an item's message type and the name of the tool it is about, if any."""
    if not isinstance(item, Mapping):
        return "other", None
    role, kind = item.get("role"), item.get("type")
    if role in ("user", "assistant"):
        return str(role), _tool_name(item, kind)
    return str(kind) if kind else "other", _tool_name(item, kind)


def opens_turn(message_type: str) -> bool:
    """Tell whether an item of this type is the first of a user turn."""
    return message_type == "user"


def encode(item: object) -> str:
    """Give an item's text for the file; raises ``TypeError`` for what JSON cannot hold.

    Lone surrogates, which no UTF-8 file or request can hold, become U+FFFD.
    """
    return sound(json.dumps(item))


def sound(text: str) -> str:
    """Give a JSON text whose strings are all valid Unicode; the same text where nothing is wrong.

    Works on the text and not on the value: however deep a value is nested, its text is flat.
    """
    if _SURROGATE.search(text):
        return _ESCAPE.sub(_mended, text)
    return text


def _mended(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]


def content_preview(content: object) -> str:
    """Give a message's content as one string: itself, or its JSON where it is no string."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)


def cut(text: str) -> str:
    """Cut a preview to its length in a list."""
    return text if len(text) <= PREVIEW else text[:PREVIEW] + "..."


def says(content: object, term: str) -> bool:
    """Tell whether a user's words hold ``term`` (folded with ``ascii_folded``), part by part."""
    if isinstance(content, str):
        return term in ascii_folded(content)
    if not isinstance(content, list):
        return False
    texts = (part.get("text", "") for part in content if isinstance(part, Mapping))
    return any(isinstance(text, str) and term in ascii_folded(text) for text in texts)


def ascii_folded(text: str) -> str:
    """Lower ASCII letters only, as SQLite's LIKE and ``lower`` do."""
    if text.isascii():
        return text.lower()
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _tool_name(item: Mapping[str, Any], kind: object) -> str | None:
    if isinstance(kind, str):
        if kind in _NAMED_AFTER_TYPE:
            return kind
        if kind in TOOL_SEARCH:
            return "tool_search"
        if kind in _NAMED_BY_SERVER and "server_label" in item:
            parts = [str(part) for part in (item["server_label"], item.get("name")) if part]
            return ".".join(parts) or None
    if item.get("name") is None:
        return None
    name, namespace = (str(part) if part is not None else "" for part in (item["name"], item.get("namespace")))
    return f"{namespace}.{name}" if namespace and name and namespace != name else name
