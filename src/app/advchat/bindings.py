"""Turns the registry's keys into Textual's bindings.

Owns that translation only. Every binding's ID is the command's, so that the config can move keys by ID, and
every binding's action asks the screen to run the command.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from advchat.commands import Command, Scope, in_scope


def bindings(*scopes: Scope, skip: Iterable[str] = ()) -> list[BindingType]:
    """Make the bindings of the scopes' commands; ``skip`` names commands that a widget handles by itself."""
    left_out = frozenset(skip)
    return [_binding(command) for command in in_scope(*scopes) if command.keys and command.id not in left_out]


def _binding(command: Command) -> Binding:
    return Binding(
        ",".join(command.keys),
        f"screen.command('{command.id}')",
        command.title,
        id=command.id,
        show=bool(command.footer),
        # Done at once, not after a way through the queues of all widgets between: the next key may already
        # mean something else.
        priority=True,
    )
