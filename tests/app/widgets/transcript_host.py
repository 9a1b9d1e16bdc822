"""A program that holds nothing but a transcript, and what tests ask of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from advchat.state import ItemView, TurnView
from advchat.themes import DARK, LIGHT
from advchat.widgets.transcript import Transcript
from advchat_storage.models import RunStatus

M = TypeVar("M", bound=Message)
IDENT = ("conversation", "main")


def answered(
    turn: int, answer: str = "Yes.", prompt: str = "Is it?", *, key: int = 0, **more: object
) -> TurnView:
    """Make a turn with one text for an answer."""
    status: RunStatus = "completed"
    fields: dict[str, object] = {"status": status, **more}
    items = (ItemView("text", answer),) if answer else ()
    return TurnView(turn, key or 1000 + turn, prompt, items, **fields)  # type: ignore[arg-type]  # per test


class HostScreen(Screen[None]):
    """Notes the commands that keys run."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[str] = []

    def action_command(self, command: str) -> None:
        """Note a command."""
        self.commands.append(command)


class Host(App[None]):
    """Answers the transcript's questions from memory, and notes what it asks for."""

    CSS = "Input { dock: bottom; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, turns: Sequence[TurnView] = (), *, theme: str = "advchat-dark", answers: bool = True
    ) -> None:
        super().__init__()
        self.turns = list(turns)
        self.asked: list[tuple[int, int]] = []
        self.heard: list[Message] = []
        self.transcript = Transcript(id="transcript")
        """The widget under test."""
        self._answers = answers
        self._theme = theme

    def get_default_screen(self) -> Screen[None]:
        """Use the screen that notes commands."""
        return HostScreen()

    def compose(self) -> ComposeResult:
        """Put a text field below the transcript."""
        yield self.transcript
        yield Input()

    def on_mount(self) -> None:
        """Take the theme and show the turns."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = self._theme
        self.transcript.set_conversation(IDENT, len(self.turns))
        self.transcript.focus()

    @on(Transcript.TurnsWanted)
    def answer(self, event: Transcript.TurnsWanted) -> None:
        """Give the turns asked for."""
        self.asked.append((event.start, event.end))
        if self._answers:
            self.transcript.put_turns(event.start, self.turns[event.start : event.end])

    @on(Transcript.ForkRequested)
    @on(Transcript.ActionRequested)
    @on(Transcript.LinkRequested)
    @on(Transcript.CopyRequested)
    @on(Transcript.HeightsMeasured)
    @on(Transcript.TurnFocused)
    def note(self, event: Message) -> None:
        """Note any other message."""
        self.heard.append(event)

    def heard_of(self, kind: type[M]) -> list[M]:
        """Return the messages of a kind."""
        return [message for message in self.heard if isinstance(message, kind)]

    @property
    def shown(self) -> list[str]:
        """The text of the transcript's rows as painted; what was not painted again is as it was."""
        transcript = self.transcript
        strips = transcript.render_lines(transcript.size.region)
        return [strip.text.rstrip() for strip in strips]

    def find(self, text: str) -> tuple[int, int]:
        """Return the cell of the transcript at which ``text`` begins on the screen."""
        for y, row in enumerate(self.shown):
            if text in row:
                return row.index(text), y
        raise AssertionError(f"{text!r} is not on the screen:\n" + "\n".join(self.shown))


async def until(pilot: Pilot[None], true: Callable[[], bool], limit: float = 10.0) -> None:
    """Let the program work until something holds."""
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, "it never came to hold"
        await pilot.pause(0.01)
    await pilot.pause()
