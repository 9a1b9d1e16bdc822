"""A screen over the main one, with keys of its own in its footer.

Owns running the commands of its scope by key and by click, leaving, and help. What the commands do is the
subclass's: each command ``a.b`` of the registry is its method ``do_a_b``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.screen import Screen, ScreenResultType

from advchat.commands import BY_ID, Scope, in_scope, key_label, keys_of
from advchat.widgets.footer import FooterKey, KeyFooter


class OverScreen(Screen[ScreenResultType]):
    """What fan-out and comparison have in common."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False, priority=True, id="app.escape"),
        Binding("f1", "help", "Help", show=False, priority=True, id="app.help"),
        Binding("ctrl+q", "app.leave", "Quit", show=False, priority=True, id="app.quit"),
    ]
    """Leaving."""

    DEFAULT_CSS = """
    OverScreen { background: $background; color: $foreground; }
    """

    scope: ClassVar[Scope]
    """Where its commands stand in the registry."""

    def __init__(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.keys = keys

    def action_command(self, command_id: str) -> None:
        """Carry out the command of a key or of the footer."""
        if command_id == "app.escape":
            self.action_leave()
        else:
            getattr(self, f"do_{command_id.replace('.', '_')}")()

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def action_help(self) -> None:
        """Show the keys and commands in force."""
        # Late: it is long, and most never ask from here.
        from advchat.screens.help import HelpScreen  # noqa: PLC0415

        self.app.push_screen(HelpScreen(self.keys))

    def show_keys(self) -> None:
        """Show the keys that work here."""
        found: list[FooterKey] = []
        for command in [*in_scope(self.scope), BY_ID["app.escape"]]:
            keys = keys_of(command, self.keys)
            if keys and command.footer:
                word = "Close" if command.id == "app.escape" else command.footer
                found.append((key_label(keys[0]), word, command.id))
        self.query_one(KeyFooter).show(found)

    @on(KeyFooter.Pressed)
    def _press(self, event: KeyFooter.Pressed) -> None:
        event.stop()
        self.action_command(event.command_id)
