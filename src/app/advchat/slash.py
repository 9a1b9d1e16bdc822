"""Reads the composer's line as a slash command.

Owns the grammar of slash commands. The commands themselves are the registry's. Knows no Textual.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from advchat.actions import UserError
from advchat.commands import BY_SLASH, Command

_QUOTES = "\"'“”"
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
_COUNT = re.compile(r"[0-9]{1,9}")
_MOST_TURNS = 1_000
MOST_ANSWERS = 8
"""To how many branches a prompt can be sent at once."""


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
    name, rest = _cut(line[1:])
    command = BY_SLASH.get(name.lower())
    if "\n" in line and not (command is not None and command.prose):
        raise UserError("A slash command takes one line. To send this as text, begin with //")
    if command is None:
        raise UserError(_unknown(name))
    argument = unquote(rest.strip())
    if command.needs_argument and not argument:
        raise UserError(f"/{command.slash} needs {command.args.split()[0]}: /{command.slash} {command.args}")
    if argument and not command.args:
        raise UserError(f"/{command.slash} takes nothing after it. To send this as text, begin with //")
    return SlashCall(command, argument)


def _cut(text: str) -> tuple[str, str]:
    """Cut a text at its first blank or line break."""
    head, *rest = text.split(maxsplit=1) if text and not text[0].isspace() else ("", text)
    return head, rest[0] if rest else ""


def fan_models(spec: str) -> int | list[str]:
    """Read what to fan out to: a count, or model names with commas between. Raises UserError."""
    wanted = spec.strip()
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    count = int(wanted) if _COUNT.fullmatch(wanted) else len(names)
    if not 2 <= count <= MOST_ANSWERS:
        raise UserError(f"Fan out to 2 to {MOST_ANSWERS} answers: /fan 3, or /fan MODEL,MODEL.")
    return count if _COUNT.fullmatch(wanted) else names


def fan_argument(argument: str) -> tuple[str, str]:
    """Split ``N|MODEL,MODEL [prompt]``; names may be separated by a comma and a blank. Raises UserError."""
    spec, prompt = _cut(argument)
    while spec.endswith(",") and prompt:
        more, prompt = _cut(prompt)
        spec += more
    fan_models(spec)
    return spec, prompt


def budget_argument(argument: str) -> tuple[str, bool]:
    """Split ``AMOUNT [branch]``: the amount, and whether it is the branch's alone."""
    amount, rest = _cut(argument)
    if rest and rest.strip().lower() != "branch":
        raise UserError("/budget takes an amount, and perhaps the word branch: /budget 0.50 branch")
    return amount, bool(rest)


def carry_argument(argument: str) -> tuple[list[int] | None, str]:
    """Split ``TURNS|summary BRANCH``: turns as ``2``, ``2-4`` or ``1,3-5``, None for a summary.

    Raises UserError.
    """
    spec, branch = _cut(argument)
    if not branch:
        raise UserError("/carry needs turns and a branch: /carry 2-4 main, or /carry summary main")
    if spec.lower() == "summary":
        return None, unquote(branch.strip())
    return turns_of(spec), unquote(branch.strip())


def turns_of(spec: str) -> list[int]:
    """Read turns' numbers: ``2``, ``2-4``, ``1,3-5``. Raises UserError."""
    found: list[int] = []
    for part in spec.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise UserError(f"“{spec}” names no turns. Write 2, 2-4 or 1,3-5.")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= first + _MOST_TURNS:
            raise UserError(f"“{part}” is no range of turns: the smaller number comes first.")
        found += range(first, last + 1)
    return found


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
