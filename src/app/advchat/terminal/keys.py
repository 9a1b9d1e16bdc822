"""Reads what the terminal sends.

Owns the difference between keys and pasted text, and the spellings of keys that Textual's parser does not
know or takes for another key. Knows no widget.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.keys import Keys
from textual.message import Message

_MODIFY_OTHER_KEYS: Final = re.compile(r"\x1b\[27;(\d{1,3});(\d{1,7})~")
_LINES: Final = re.compile(r"[^\r\n][\r\n]+[^\r\n]")
_KEYS_ONLY: Final = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_END: Final = re.compile(r"\r\n?")


class KeyParser(XTermParser):
    """Textual's parser, with Alt+Enter and xterm's modifyOtherKeys told apart from a bare Enter."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if sequence in {"\x1b\r", "\x1b\n"} or (alt and sequence in {"\r", "\n"}):
            return [events.Key("alt+enter", None)]
        other = _MODIFY_OTHER_KEYS.fullmatch(sequence)
        if other is not None:
            modifiers, code = other.groups()
            if int(code) > 0x10FFFF:
                return [events.Key(Keys.Ignore, None)]
            return super()._sequence_to_key_events(f"\x1b[{code};{modifiers}u", alt)
        return super()._sequence_to_key_events(sequence, alt)


class InputReader:
    """Turns what was read at once into keys, mouse events and pastes; survives whatever it is fed."""

    def __init__(self) -> None:
        self._parser = KeyParser()
        self._pasting = False
        self._tail = ""

    def feed(self, text: str) -> Iterable[Message]:
        """Yield the messages in ``text``, which must be all that one read gave."""
        if not self._pasting and is_paste(text):
            yield events.Paste(_LINE_END.sub("\n", text).replace("\x00", ""))
            return
        self._follow_paste(text)
        yield from self._guarded(self._parser.feed, text)

    def tick(self) -> Iterable[Message]:
        """Yield what a pause settles: an escape that no sequence followed."""
        yield from self._guarded(self._parser.tick)

    def _follow_paste(self, text: str) -> None:
        joined = self._tail + text
        start, end = joined.rfind(BRACKETED_PASTE_START), joined.rfind(BRACKETED_PASTE_END)
        if start != end:
            self._pasting = start > end
        self._tail = joined[-(len(BRACKETED_PASTE_START) - 1) :]

    def _guarded(self, step: object, *arguments: str) -> Iterable[Message]:
        """Run the parser; a sequence that breaks it costs that sequence, not the input thread."""
        if not callable(step):
            return
        try:
            yield from step(*arguments)
        except (ValueError, OverflowError, KeyError, IndexError):
            self._parser = KeyParser()
            self._pasting = False


def is_paste(text: str) -> bool:
    """Tell text that was pasted without the terminal saying so: an Enter with text on both its sides."""
    return _LINES.search(text) is not None and _KEYS_ONLY.search(text) is None
