"""Text as people said it and as SQLite can hold it.

Owns the reading of a message item's words and the small changes that make any text storable and
comparable. Pure; knows neither SQL nor the screen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Literal

Role = Literal["user", "assistant"]

_SPOKEN_PARTS = ("text", "refusal", "transcript")


def storable(text: str) -> str:
    """Give ``text`` as UTF-8 can hold it: split surrogate pairs joined, lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def one_line(text: str, limit: int) -> str:
    """Give the first ``limit`` characters on one line, runs of white space as one space."""
    line = " ".join(text[: limit * 8].split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def folded(text: str) -> str:
    """Give ``text`` for comparing without regard to case, in any script.

    Canonically composed first, so that one letter written in two ways is found either way; NUL, which
    ends a text for SQLite's functions, is folded away like a lone surrogate.
    """
    if text.isascii():
        return text.lower().replace("\0", "\ufffd")
    return unicodedata.normalize("NFC", storable(text)).casefold().replace("\0", "\ufffd")


def spoken(item: object) -> tuple[Role, str] | None:
    """Give the role and the words of a user or assistant message; None for any other item.

    Whatever its type, an item of the user's role opens a turn, and is one here too.
    """
    if not isinstance(item, Mapping):
        return None
    role = item.get("role")
    if role not in ("user", "assistant") or (role != "user" and item.get("type", "message") != "message"):
        return None
    return role, content_text(item.get("content"))


def content_text(content: object) -> str:
    """Give the words of a message's content: a string, or a list of parts of which some have text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    return "\n".join(text for part in content if (text := _part_text(part)))


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        for key in _SPOKEN_PARTS:
            if isinstance(part.get(key), str):
                return str(part[key])
    return ""


def excerpt(text: str, term: str, width: int) -> tuple[str, tuple[int, int]]:
    """Give text around the first place of ``term`` (folded), on one line, and where the term is in it."""
    shown = unicodedata.normalize("NFC", storable(text)).replace("\0", "\ufffd")
    start, end = _span(shown, term)
    first = max(0, start - max(0, width - (end - start)) // 3)
    last = max(end, first + width)
    before = _flat(shown[first:start]).lstrip() if first == 0 else "…" + _flat(shown[first:start]).lstrip()
    match = _flat(shown[start:end])
    after = _flat(shown[end:last]).rstrip() + ("…" if last < len(shown) else "")
    return before + match + after, (len(before), len(before) + len(match))


def _span(text: str, term: str) -> tuple[int, int]:
    """Give where ``term`` (folded) is in ``text``; one letter may fold to several."""
    whole = folded(text)
    place = whole.find(term)
    if place < 0:
        return 0, 0
    if len(whole) == len(text):
        return place, place + len(term)
    start = end = length = 0
    for index, letter in enumerate(text):
        if length <= place:
            start = index
        length += len(letter.casefold())
        end = index + 1
        if length >= place + len(term):
            break
    return start, end


def _flat(text: str) -> str:
    """Give ``text`` with each white-space character as a space, the length unchanged."""
    return "".join(" " if letter.isspace() else letter for letter in text)
