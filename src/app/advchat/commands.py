"""The one registry of what the program can be told to do.

Owns the readings of the list of commands: by ID, by slash form, by scope, with the keys in force. Key
bindings, the palette, slash commands with their completion, the help screen, the footer and the tables in the
docs are all made from it. Knows no Textual and nothing of how a command is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advchat.command_list import COMMANDS, SCOPES, Command, Scope

__all__ = [
    "BY_ID",
    "BY_SLASH",
    "COMMANDS",
    "SCOPES",
    "Command",
    "Scope",
    "completions",
    "in_scope",
    "key_label",
    "key_problems",
    "keys_of",
    "markdown",
]

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}
BY_SLASH: Mapping[str, Command] = {command.slash: command for command in COMMANDS if command.slash}

_KEY_WORDS = {
    "escape": "Esc",
    "enter": "Enter",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "Shift",
    "space": "Space",
    "slash": "/",
    "tab": "Tab",
    "underscore": "_",
    "backspace": "Backspace",
    "delete": "Del",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def in_scope(*scopes: Scope) -> Iterable[Command]:
    """Yield the commands of the scopes, in the registry's order."""
    return (command for command in COMMANDS if command.scope in scopes)


def keys_of(command: Command, overrides: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Tell the keys in force: the config's (an empty tuple takes them away) or the built-in ones."""
    return (overrides or {}).get(command.id, command.keys)


def key_label(key: str) -> str:
    """Write a key for people: ``ctrl+p`` as ``Ctrl+P``, ``alt+up`` as ``Alt+↑``, ``f`` as ``f``."""
    *modifiers, last = key.split("+")
    word = _KEY_WORDS.get(last) or (last.upper() if modifiers or len(last) > 1 else last)
    return "+".join([*(_KEY_WORDS.get(part, part.title()) for part in modifiers), word])


def key_problems(overrides: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Name each mistake of the config's keys: unknown commands, and a key that two commands share."""
    problems = [f"keys.{name}: no such command" for name in overrides if name not in BY_ID]
    for scope in SCOPES:
        owners: dict[str, str] = {}
        for command in in_scope("global", scope):
            for key in keys_of(command, overrides):
                other = owners.setdefault(key, command.id)
                if other != command.id and (command.id in overrides or other in overrides):
                    problems.append(f"keys.{command.id}: {key} is already the key of {other}")
    return list(dict.fromkeys(problems))


def completions(text: str) -> list[Command]:
    """Tell which slash commands the text may be the beginning of; empty once an argument is begun."""
    if not text.startswith("/") or text.startswith("//") or any(character.isspace() for character in text):
        return []
    return [command for name, command in sorted(BY_SLASH.items()) if name.startswith(text[1:])]


def markdown(overrides: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Write the tables of keys and slash commands for the docs and the help screen, as Markdown."""
    parts: list[str] = []
    for scope, heading in SCOPES.items():
        rows = [
            f"| {' · '.join(key_label(key) for key in keys)} | {command.title} | {command.help} |"
            for command in in_scope(scope)
            if (keys := keys_of(command, overrides))
        ]
        if rows:
            parts += [f"### {heading}", "", "| key | command | does |", "|---|---|---|", *rows, ""]
    parts += ["### Slash commands", "", "| command | does |", "|---|---|"]
    parts += [
        f"| `/{name}{' ' + command.args if command.args else ''}` | {command.help} |"
        for name, command in BY_SLASH.items()
    ]
    return "\n".join([*parts, "| `//text` | Send text that begins with a slash. |", ""])
