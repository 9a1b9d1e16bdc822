"""The one registry of what the program can be told to do.

Owns every command's name, keys, slash form and words. Key bindings, the palette, slash commands with their
completion, the help screen, the footer and the tables in the docs are all made from it. Knows no Textual and
nothing of how a command is carried out. What is listed works.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Scope = Literal["global", "composer", "turn", "branch", "usage"]

SCOPES: Mapping[Scope, str] = {
    "global": "Everywhere",
    "composer": "In the composer",
    "turn": "On a turn (in Turns and in the transcript)",
    "branch": "On a branch",
    "usage": "In Usage",
}
"""The scopes in the order of the help screen, and what they are called there."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the program can be told to do."""

    id: str
    title: str
    """What the palette says."""
    help: str
    """A sentence for the help screen."""
    scope: Scope = "global"
    keys: tuple[str, ...] = ()
    """In Textual's spelling; the first is the one that is shown."""
    slash: str | None = None
    """Without the slash."""
    args: str = ""
    """As shown after the slash command: ``N [name]``; capitals are needed, brackets optional."""
    footer: str = ""
    """A word for the footer; empty keeps the command out of it."""
    palette: bool = True
    """Whether the palette lists it: not so for what only means something while typing."""

    @property
    def needs_argument(self) -> bool:
        """Whether its slash form cannot do without an argument."""
        return bool(self.args) and not self.args.startswith("[")


COMMANDS: tuple[Command, ...] = (
    Command(
        "app.help", "Help", "Show the keys and commands in force.", keys=("f1",), slash="help", footer="Help"
    ),
    Command(
        "panel.branches",
        "Branches",
        "Unfold and focus the branches; pressed there, fold them.",
        keys=("f2",),
        slash="branches",
        footer="Branches",
    ),
    Command(
        "panel.turns",
        "Turns",
        "Unfold and focus the turns; pressed there, fold them.",
        keys=("f3",),
        footer="Turns",
    ),
    Command(
        "panel.usage",
        "Usage",
        "Unfold and focus the usage; pressed there, fold it.",
        keys=("f4",),
        slash="usage",
        footer="Usage",
    ),
    Command(
        "panel.transcript",
        "Transcript",
        "Focus the transcript; pressed there, return to the composer.",
        keys=("f5",),
        footer="Transcript",
    ),
    Command(
        "conversation.new",
        "New conversation",
        "Begin a conversation.",
        keys=("ctrl+n",),
        slash="new",
        args="[title]",
        footer="New",
    ),
    Command(
        "conversation.open", "Open a conversation", "List the conversations.", keys=("ctrl+o",), footer="Open"
    ),
    Command(
        "conversation.search",
        "Search everything",
        "Find a text in every conversation.",
        keys=("ctrl+f",),
        slash="search",
        args="TEXT",
        footer="Search",
    ),
    Command("conversation.rename", "Rename this conversation", "Give the conversation another title."),
    Command(
        "conversation.export",
        "Export this conversation",
        "Write the conversation into a file.",
        slash="export",
        args="FILE",
    ),
    Command(
        "app.palette",
        "Command palette",
        "Find any command.",
        keys=("ctrl+p",),
        footer="Commands",
        palette=False,
    ),
    Command(
        "branch.previous", "Previous sibling branch", "Show the sibling before this one.", keys=("alt+up",)
    ),
    Command("branch.next", "Next sibling branch", "Show the sibling after this one.", keys=("alt+down",)),
    Command("branch.parent", "Parent branch", "Show the branch this one was forked from.", keys=("alt+left",)),
    Command(
        "branch.child", "First child branch", "Show the first branch forked from here.", keys=("alt+right",)
    ),
    Command("model.set", "Change the model", "Use another model from now on.", slash="model", args="NAME"),
    Command("app.theme", "Dark or light", "Change between the dark and the light theme."),
    Command(
        "app.escape",
        "Close or stop",
        "Close the topmost open thing; with nothing open, stop the answer shown.",
        keys=("escape",),
        footer="Stop",
    ),
    Command("app.copy", "Copy the selection", "Copy what is selected.", keys=("ctrl+c",)),
    Command("app.suspend", "Suspend", "Return to the shell; fg comes back.", keys=("ctrl+z",)),
    Command("app.quit", "Quit", "Quit; asks only while an answer is running.", keys=("ctrl+q",), footer="Quit"),
    Command(
        "composer.send",
        "Send",
        "Send the prompt, or run the slash command.",
        "composer",
        keys=("enter",),
        footer="Send",
        palette=False,
    ),
    Command(
        "composer.newline",
        "New line",
        "Begin a new line.",
        "composer",
        keys=("ctrl+j", "shift+enter", "alt+enter"),
        footer="New line",
        palette=False,
    ),
    Command("composer.editor", "Edit in $EDITOR", "Edit the text in $EDITOR.", "composer", keys=("ctrl+g",)),
    Command("composer.undo", "Undo typing", "Take the last edit back.", "composer", keys=("ctrl+underscore",)),
    Command("composer.unqueue", "Take a queued prompt back", "Put the newest queued prompt into the composer."),
    Command(
        "turn.fork",
        "Fork here",
        "Fork before the turn: the next prompt begins a new branch.",
        "turn",
        keys=("f",),
        slash="fork",
        args="N [name]",
        footer="Fork",
    ),
    Command(
        "turn.branch", "Fork after this turn", "Fork after the turn, keeping its answer.", "turn", keys=("F",)
    ),
    Command(
        "turn.edit",
        "Edit and resend",
        "Fork, with the turn's prompt in the composer.",
        "turn",
        keys=("e",),
        footer="Edit",
    ),
    Command(
        "turn.regenerate",
        "Regenerate",
        "Fork, and send the same prompt again.",
        "turn",
        keys=("r",),
        footer="Regenerate",
    ),
    Command("turn.copy", "Copy this turn", "Copy the turn's text.", "turn", keys=("y",), footer="Copy"),
    Command("turn.continue", "Continue this answer", "Go on after an answer that broke off.", "turn"),
    Command("turn.retry", "Retry this turn", "Ask again after an answer that broke off.", "turn"),
    Command("turn.discard", "Discard this answer", "Drop what an interrupted answer left.", "turn"),
    Command(
        "branch.switch",
        "Switch to this branch",
        "Show the branch.",
        "branch",
        keys=("enter",),
        slash="switch",
        args="NAME",
        footer="Switch",
    ),
    Command(
        "branch.rename",
        "Rename this branch",
        "Give the branch another title.",
        "branch",
        keys=("n",),
        slash="rename",
        args="NAME",
        footer="Rename",
    ),
    Command(
        "branch.delete",
        "Delete this branch",
        "Put the branch into the bin; undo brings it back.",
        "branch",
        keys=("d",),
        slash="delete",
        args="NAME",
        footer="Delete",
    ),
    Command("branch.bin", "Open the bin", "List the deleted branches; Enter brings one back."),
    Command(
        "branch.undo", "Undo", "Take the last deletion or renaming back.", "branch", keys=("u",), footer="Undo"
    ),
    Command(
        "usage.previous",
        "Previous turn's bar",
        "Move to the turn before.",
        "usage",
        keys=("left",),
        palette=False,
    ),
    Command(
        "usage.next", "Next turn's bar", "Move to the turn after.", "usage", keys=("right",), palette=False
    ),
)
"""Every command. The order is the palette's."""

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
