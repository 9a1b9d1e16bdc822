"""Text that UTF-8 cannot hold, made whole.

Owns the repair of lone surrogates, in whole texts, in nested values and in streams. Pure; knows nothing of
models.
"""

from __future__ import annotations

from typing import TypeVar, cast

T = TypeVar("T")

_HIGH = ("\ud800", "\udbff")


def mend(text: str) -> str:
    """Return the text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mend_value(value: T) -> T:
    """Mend every text inside lists and dictionaries; returns the very same object where nothing was amiss."""
    made: object = value
    if isinstance(value, str):
        made = mend(value)
    elif isinstance(value, dict):
        mended = {mend_value(key): mend_value(inner) for key, inner in value.items()}
        if any(mended.get(key) is not inner for key, inner in value.items()):
            made = mended
    elif isinstance(value, list):
        items = [mend_value(inner) for inner in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            made = items
    return cast("T", made)


class StreamMender:
    """Mends a text that comes in pieces: a pair split between two pieces is one character."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece and give what can be shown by now."""
        text = self._held + piece
        self._held = ""
        if text and _HIGH[0] <= text[-1] <= _HIGH[1]:
            text, self._held = text[:-1], text[-1]
        return mend(text)

    def end(self) -> str:
        """Give what was held back."""
        text, self._held = mend(self._held), ""
        return text
