"""A screen with a field and a list under it, over the main screen.

Owns typing, moving and picking. What there is to pick, and what a pick means, is the subclass's and the
opener's: the screen is dismissed with the pick's key, or None.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets._input import Input

from advchat.widgets.line_input import LineInput
from advchat.widgets.picker import PickList


class PickScreen(ModalScreen[str | None]):
    """Type to narrow the list, Enter to pick, Esc to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False, priority=True),
        Binding("up", "move(-1)", "Up", show=False, priority=True),
        Binding("down", "move(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
        Binding("ctrl+q", "app.leave", "Quit", show=False, priority=True),
    ]
    """Moving in the list while the field keeps the focus."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]  # noqa: RUF012 - Textual declares it so
    """In a narrow terminal the list takes the whole width."""

    DEFAULT_CSS = """
    PickScreen {
        align: center top;
        background: $background 60%;
        &.-narrow > Vertical {
            width: 100%;
            margin-top: 1;
            max-height: 90%;
        }
        & > Vertical {
            width: 80%;
            max-width: 100;
            height: auto;
            max-height: 80%;
            margin-top: 2;
            background: $panel;
            border-top: solid $accent;
            border-title-color: $accent;
            border-title-background: $panel;
            border-title-style: bold;
        }
        & LineInput { margin: 0 1 1 1; }
        & PickList { height: auto; max-height: 100%; min-height: 3; background: $panel; }
    }
    """

    heading: str = ""
    """Title of the box."""

    placeholder: str = ""
    """Said in the empty field."""

    empty: str = "Nothing found."
    """Said in place of an empty list."""

    def compose(self) -> ComposeResult:
        """Lay the field over the list."""
        with Vertical() as box:
            box.border_title = self.heading
            yield LineInput(placeholder=self.placeholder)
            yield PickList(empty=self.empty)

    @property
    def field(self) -> LineInput:
        """Where the user types."""
        return self.query_one(LineInput)

    @property
    def rows(self) -> PickList:
        """What there is to pick."""
        return self.query_one(PickList)

    def on_mount(self) -> None:
        """Begin in the field with everything listed."""
        self.field.focus()
        self.narrow("")

    def narrow(self, term: str) -> None:
        """List what the term leaves."""
        raise NotImplementedError

    @on(Input.Changed)
    def _narrow_list(self, event: Input.Changed) -> None:
        event.stop()
        self.narrow(event.value)

    @on(Input.Submitted)
    def _pick_row(self, event: Input.Submitted) -> None:
        event.stop()
        chosen = self.rows.chosen
        if chosen is not None:
            self.dismiss(chosen.key)

    @on(PickList.Chosen)
    def _pick_click(self, event: PickList.Chosen) -> None:
        event.stop()
        self.dismiss(self.rows.pick_at(event.index).key)

    def action_move(self, step: int) -> None:
        """Move in the list."""
        self.rows.action_move(step)

    def action_page(self, direction: int) -> None:
        """Move in the list by windows."""
        self.rows.action_page(direction)

    def action_leave(self) -> None:
        """Close without a pick."""
        self.dismiss(None)


def matches(term: str, text: str) -> bool:
    """Tell whether every word of the term is in the text, case aside."""
    folded = text.casefold()
    return all(word in folded for word in term.casefold().split())
