"""Reads the composer's line as a slash command.

Owns the grammar of slash commands. The commands themselves are the registry's. Knows no Textual.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from advchat.actions import UserError
from advchat.commands import BY_SLASH, Command

_QUOTES = "\"'“”"


@dataclass(frozen=True, slots=True)
class SlashCall:
    """A slash command with its argument, quotes removed."""

    command: Command
    argument: str


def parse(text: str) -> SlashCall | str:
    """Tell a slash command from a prompt; a prompt comes back as the text to send.

    Raises UserError for a slash command that is unknown, lacks its argument, or runs over several lines.
    """
    if not text.startswith("/"):
        return text
    if text.startswith("//"):
        return text[1:]
    line = text.rstrip()
    if "\n" in line:
        raise UserError("A slash command takes one line. To send this as text, begin with //")
    name, _, rest = line[1:].partition(" ")
    command = BY_SLASH.get(name.lower())
    if command is None:
        raise UserError(_unknown(name))
    argument = unquote(rest.strip())
    if command.needs_argument and not argument:
        raise UserError(f"/{command.slash} needs {command.args.split()[0]}: /{command.slash} {command.args}")
    if argument and not command.args:
        raise UserError(f"/{command.slash} takes nothing after it. To send this as text, begin with //")
    return SlashCall(command, argument)


def unquote(argument: str) -> str:
    """Remove one pair of quotes around the whole of an argument."""
    quoted = len(argument) >= 2 and argument[0] in _QUOTES and argument[-1] in _QUOTES
    inner = argument[1:-1]
    return inner if quoted and not any(quote in inner for quote in (argument[0], argument[-1])) else argument


def fork_argument(argument: str) -> tuple[int, str]:
    """Split ``N [name]`` into the turn's number and the new branch's title. Raises UserError."""
    number, _, title = argument.partition(" ")
    if not (number.isascii() and number.isdigit()):
        raise UserError(f"/fork needs a turn's number, not “{number}”: /fork 2 [name]")
    return int(number), unquote(title.strip())


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), BY_SLASH, n=1)
    hint = f"Did you mean /{close[0]}?" if close else "F1 lists the commands."
    return f"There is no command /{name}. {hint} To send this as text, begin with //"
