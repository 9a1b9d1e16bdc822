"""Waiting for a screen to show something.

Owns the waits that the pseudo-terminal and tmux share: each watches for output until a predicate over the
screen holds, and fails with the screen in the message once the deadline has passed. Nothing here pauses.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

PATIENCE = 40.0
"""Seconds until a wait fails: far more than anything takes, so that a slow machine fails no test."""

LOOK = 0.02
"""Seconds of output between two looks at something outside the screen."""

Wanted = str | Callable[[str], object]


class Watching(ABC):
    """A terminal whose screen can be waited for."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The rows of the screen, without trailing spaces."""

    @abstractmethod
    def pump(self, seconds: float) -> bool:
        """Take output in, waiting for it so long at most; False once there will be no more."""

    @abstractmethod
    def whole(self) -> bool:
        """Whether the screen is no half-drawn frame."""

    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.lines())

    def wait(self, *wanted: Wanted, seconds: float = PATIENCE) -> str:
        """Wait until the screen holds every text and every predicate; gives the screen."""
        return self._until(lambda text: all(_holds(one, text) for one in wanted), wanted, seconds)

    def wait_gone(self, *unwanted: Wanted, seconds: float = PATIENCE) -> str:
        """Wait until the screen holds none of these."""
        return self._until(lambda text: not any(_holds(one, text) for one in unwanted), unwanted, seconds)

    def _until(self, holds: Callable[[str], bool], said: tuple[Wanted, ...], seconds: float) -> str:
        deadline = time.monotonic() + seconds
        more = True
        while True:
            text = self.text()
            if self.whole() and holds(text):
                return text
            left = deadline - time.monotonic()
            if left <= 0 or not more:
                why = f"within {seconds} s" if more else "before the program ended"
                raise AssertionError(f"not {why}: {_named(said)}\n{_framed(text)}")
            more = self.pump(left)

    def wait_for(self, holds: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until something outside the screen holds, taking output in meanwhile."""
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {holds}\n{_framed(self.text())}")
            self.pump(LOOK)

    def find(self, text: str, *, nth: int = 0) -> tuple[int, int]:
        """Column and row of a text on the screen, counted from 0, top to bottom."""
        places = [
            (_cells(line[:column]), row)
            for row, line in enumerate(self.lines())
            for column in range(len(line))
            if line.startswith(text, column)
        ]
        if not -len(places) <= nth < len(places):
            raise AssertionError(f"not on the screen: {text!r}\n{_framed(self.text())}")
        return places[nth]


def _holds(wanted: Wanted, text: str) -> bool:
    return wanted in text if isinstance(wanted, str) else bool(wanted(text))


def _named(said: tuple[Wanted, ...]) -> str:
    return ", ".join(repr(one) if isinstance(one, str) else getattr(one, "__name__", repr(one)) for one in said)


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _framed(text: str) -> str:
    return "\n".join(f"│{line}" for line in text.rstrip().split("\n"))
