"""What the transcript tells the screen."""

from __future__ import annotations

from textual.message import Message


class TurnsWanted(Message):
    """Turns have come near the view that are not loaded: positions ``[start, end)``."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        super().__init__()


class ForkRequested(Message):
    """A turn's fork button was pressed."""

    def __init__(self, turn: int, key: int) -> None:
        self.turn = turn
        self.key = key
        super().__init__()


class ActionRequested(Message):
    """An action on a turn was chosen.

    It is one of ``edit``, ``regenerate``, ``compare``, ``copy``, ``continue``, ``retry``, ``discard``,
    ``previous_sibling`` and ``next_sibling``.
    """

    def __init__(self, action: str, turn: int, key: int) -> None:
        self.action = action
        self.turn = turn
        self.key = key
        super().__init__()


class LinkRequested(Message):
    """A link was followed; the URL is http, https or mailto."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__()


class CopyRequested(Message):
    """Source text is to be copied."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class HeightsMeasured(Message):
    """Turns were laid out in full: rows by message key, at a width in cells."""

    def __init__(self, width: int, heights: dict[int, int]) -> None:
        self.width = width
        self.heights = heights
        super().__init__()


class TurnFocused(Message):
    """The cursor has come to another turn, by key, click or scrolling."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        super().__init__()
