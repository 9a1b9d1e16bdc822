"""What a terminal shows, put together from the bytes that a program writes.

Owns the emulation on top of pyte: the second screen, synchronised updates, the modes in force, and a record
of what pyte does not know (OSC, keyboard protocols). Knows no process.
"""

from __future__ import annotations

import codecs
import re

import pyte

_SEQUENCE = re.compile(
    r"\x1b(?:\[(?P<params>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|(?P<string>[\]PX^_])(?P<body>.*?)(?:\x07|\x1b\\)"
    r"|[()*+%#].|[0-OQ-WYZ`-~=>])",
    re.DOTALL,
)
_STRING_KINDS = {"]": "osc", "P": "dcs", "X": "sos", "^": "pm", "_": "apc"}
ALTERNATE = 1049
SYNCHRONISED = 2026
MOUSE = (1000, 1002, 1003, 1006)
PASTE = 2004
CURSOR = 25


class EmulatedScreen:
    """A terminal's screens and modes."""

    def __init__(self, columns: int, rows: int) -> None:
        self.main = pyte.Screen(columns, rows)
        self.alternate = pyte.Screen(columns, rows)
        self.modes: dict[int, bool] = {CURSOR: True}
        """DEC private modes that were set (True) or reset (False)."""
        self.strings: list[tuple[str, str]] = []
        """Operating system commands and other strings: ``("osc", "52;c;…")``."""
        self.keyboard_levels = 0
        """How often the Kitty keyboard protocol was pushed and not popped."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._streams = {True: pyte.Stream(self.alternate), False: pyte.Stream(self.main)}
        self._held = ""

    def feed(self, data: bytes) -> list[bytes]:
        """Take what the program wrote; gives the answers that a terminal would send back."""
        text = self._held + self._decoder.decode(data)
        answers: list[bytes] = []
        place = 0
        while (escape := text.find("\x1b", place)) >= 0:
            self._draw(text[place:escape])
            found = _SEQUENCE.match(text, escape)
            if found is None:
                self._held = text[escape:]
                return answers
            answers += self._sequence(found)
            place = found.end()
        self._held = ""
        self._draw(text[place:])
        return answers

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of both screens."""
        for screen in (self.main, self.alternate):
            screen.resize(max(rows, 1), max(columns, 1))

    @property
    def on_alternate(self) -> bool:
        """Whether the program has the second screen."""
        return self.modes.get(ALTERNATE, False)

    @property
    def settled(self) -> bool:
        """Whether no synchronised update is under way, so that the lines are those of one whole frame."""
        return not self.modes.get(SYNCHRONISED, False)

    def lines(self) -> list[str]:
        """The rows as text, without trailing spaces."""
        screen = self.alternate if self.on_alternate else self.main
        return [line.rstrip() for line in screen.display]

    def restored(self) -> bool:
        """Whether the terminal is as it was before a full-screen program: no mode of such a program is left."""
        left = [mode for mode in (ALTERNATE, PASTE, 1004, *MOUSE) if self.modes.get(mode)]
        return not left and self.modes[CURSOR] and self.keyboard_levels == 0

    def _draw(self, text: str) -> None:
        if text:
            self._streams[self.on_alternate].feed(text)

    def _sequence(self, found: re.Match[str]) -> list[bytes]:
        if found["string"]:
            self.strings.append((_STRING_KINDS[found["string"]], found["body"]))
            return []
        params, between, final = found["params"], found["between"], found["final"]
        if final is None:
            self._draw(found[0])
            return []
        if between == "$" and final == "p" and params == f"?{SYNCHRONISED}":
            return [f"\x1b[?{SYNCHRONISED};2$y".encode()]
        if params.startswith("?") and final in "hl":
            self._set_modes(params[1:], on=final == "h")
        elif params[:1] in ("<", ">", "=") and final == "u":
            self.keyboard_levels = max(0, self.keyboard_levels + {">": 1, "<": -1, "=": 0}[params[0]])
        elif not between and not set(params) & set("<>=:?"):
            self._draw(found[0])
        return []

    def _set_modes(self, numbers: str, *, on: bool) -> None:
        for number in numbers.split(";"):
            if not number.isdigit():
                continue
            if int(number) == ALTERNATE and on:
                self.alternate.reset()
            self.modes[int(number)] = on
