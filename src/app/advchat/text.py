"""Text from outside, made harmless to show.

Owns how prompts, answers, titles, tool output, error messages and file names are neutralised, cut and
padded for a terminal. Must not know who shows them. What is stored and copied stays as it came: only what
is drawn passes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size

TAB_CELLS = 4
ELLIPSIS = "…"

_FLAG = "\U0001f3f4[\U000e0020-\U000e007f]+"
_UNSAFE = re.compile(
    "\r\n"
    f"|{_FLAG}"
    "|[\x00-\x09\x0b-\x1f\x7f-\x9f"
    "\u2028\u2029"
    "\u202a-\u202e\u2066-\u2069\u206a-\u206f"
    "\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_BREAKS = re.compile(r"[\n\u2028\u2029]|\r\n?")
_SPACES = re.compile(r"\s+")
_NOT_IN_URL = re.compile(f'[\\s"<>\\\\^`{{|}}\x00-\x20\x7f-\x9f]|{_UNSAFE.pattern}|[\u200b-\u200f\u061c]')
_SCHEMES = frozenset({"http", "https"})
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {
    "\t": "\t",
    "\x7f": "␡",
    "\u2028": "␤",
    "\u2029": "␤",
}


def clean(text: str, *, newlines: bool = True) -> str:
    """Return ``text`` with everything that could steer a terminal or hide text made visible.

    Control characters become their pictures (␛), invisible steering characters their code (⟨U+202E⟩), lone
    surrogates U+FFFD, and tabs spaces. Letters keep their logical order. Without ``newlines`` each line
    break becomes a space.
    """
    if not newlines:
        text = _BREAKS.sub(" ", text)
    if _UNSAFE.search(text) is None:
        return text
    cleaned = _UNSAFE.sub(_picture, text)
    return _expand_tabs(cleaned) if "\t" in cleaned else cleaned


def harmless_parts(text: str) -> Iterator[str]:
    """Cut ``text`` into the stretches that ``clean`` leaves alone and the single signs that it replaces."""
    start = 0
    for match in _UNSAFE.finditer(text):
        if match.start() > start:
            yield text[start : match.start()]
        yield match[0]
        start = match.end()
    if start < len(text):
        yield text[start:]


def _picture(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) > 1:
        return "\n" if found == "\r\n" else found
    code = ord(found)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return _PICTURES.get(found) or f"⟨U+{code:04X}⟩"


def _expand_tabs(text: str) -> str:
    if text.isascii():
        return text.expandtabs(TAB_CELLS)
    return "\n".join(_expand_line(line) if "\t" in line else line for line in text.split("\n"))


def _expand_line(line: str) -> str:
    """Expand by cells, so that a tab after a wide letter still ends at a tab stop."""
    parts: list[str] = []
    column = 0
    *stops, last = line.split("\t")
    for part in stops:
        column += cell_len(part)
        gap = TAB_CELLS - column % TAB_CELLS
        parts += (part, " " * gap)
        column += gap
    return "".join((*parts, last))


def one_line(text: str, cells: int) -> str:
    """Return ``text`` cleaned, on one line, at most ``cells`` wide; what is cut off leaves an ellipsis."""
    if cells <= 0:
        return ""
    text = text.strip()
    # A cut well past the width spares cleaning all of a huge text, and something is left over to be cut.
    head = text[: cells * 8 + 256]
    line = _SPACES.sub(" ", clean(head, newlines=False)).strip()
    if len(head) == len(text) and cell_len(line) <= cells:
        return line
    return _cut(line, cells)


def _cut(line: str, cells: int) -> str:
    if cell_len(line) >= cells:
        line = set_cell_size(line, cells - 1)
    return line.rstrip() + ELLIPSIS


def pad(text: str, cells: int, align: Literal["left", "right"] = "left") -> str:
    """Return ``text`` as ``one_line`` does, filled with spaces to exactly ``cells``."""
    line = one_line(text, cells)
    gap = " " * (cells - cell_len(line)) if cells > 0 else ""
    return gap + line if align == "right" else line + gap


def safe_link(url: str) -> str | None:
    """Return ``url`` if it may be offered for opening: ``http``, ``https`` with a host, or ``mailto``."""
    url = url.strip()
    if not url or len(url) > 8192 or _NOT_IN_URL.search(url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme in _SCHEMES:
        return url if host else None
    if parts.scheme == "mailto":
        return url if "@" in parts.path else None
    return None
