"""What the tour says.

Owns its words, made from the command registry so that they name the keys and commands there are, and the
choice of the topic by the prompt's words. Pure; knows neither the SDK nor the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from advchat.commands import COMMANDS, Command, key_label, keys_of

HEAD = "**Scripted guide, not an AI**"


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that can be asked about."""

    title: str
    words: tuple[str, ...]
    """Beginnings of the words in a prompt that ask for it."""
    text: str
    commands: tuple[str, ...] = ()
    """IDs of commands, or their beginnings up to a dot, that belong to it."""


CONNECT = """Three ways to talk to a real model:

1. **OpenAI**: set `OPENAI_API_KEY` and start again; `--model NAME` chooses the model.
2. **Any OpenAI-compatible endpoint**: `advchat --base-url http://localhost:11434/v1 --model NAME`. A local
   server needs no key. The same settings can stand in the config file.
3. **On this machine**: install the extra, `pip install 'advchat[local]'`, and accept the download of a small
   model (98 MB). It needs no key and no network afterwards.

An agent of your own, tools included, runs with `--agent FILE.py:NAME`."""

TOPICS = (
    Topic(
        "Forking",
        ("fork", "branch", "edit", "regenerate", "regenerat", "sibling", "tree", "path"),
        "A conversation is a tree. Every turn of yours can be forked: the new branch shares what came before "
        "it and leaves the old one as it is. Try it on this answer.",
        ("turn.", "branch."),
    ),
    Topic(
        "Models",
        ("model", "key", "connect", "openai", "api", "endpoint", "local", "agent", "ai", "llm"),
        CONNECT,
        ("model.",),
    ),
    Topic(
        "Usage",
        ("usage", "cost", "token", "price", "money", "dollar", "budget", "bill", "spend"),
        "Every request to a model is a row in a ledger: tokens in and out, cached ones told apart, and the "
        "cost. A fork counts what it shares once. The tour's own tokens are words, and free.",
        ("panel.usage", "usage.", "budget."),
    ),
    Topic(
        "Searching",
        ("search", "find", "look"),
        "All conversations are searched at once, in any script.",
        ("conversation.search", "search."),
    ),
    Topic(
        "Conversations",
        ("conversation", "chat", "new", "open", "title", "rename", "delete", "undo", "bin", "export", "save"),
        "Everything is on disk as it happens; the latest conversation opens again where it was left. What is "
        "deleted goes to a bin first.",
        ("conversation.", "branch.undo", "bin."),
    ),
    Topic(
        "Many answers at once",
        ("fan", "compare", "parallel", "several", "queue", "compar"),
        "A run belongs to its branch and goes on while you look elsewhere. A prompt for a branch that is "
        "answering waits in its queue.",
        ("fan.", "branch.fan", "branch.compare", "turn.compare", "run."),
    ),
    Topic(
        "Keys",
        ("shortcut", "keyboard", "keys", "command", "help", "slash", "palette"),
        "Each command has a place in the palette, and most have a key or a slash form.",
        ("app.", "panel.", "composer."),
    ),
)


Keys = Mapping[str, tuple[str, ...]]
"""Command ID to the keys that the user has set in place of its own."""


def answer(prompt: str, *, first: bool, keys: Keys | None = None) -> str:
    """Give the scripted answer to a prompt, in Markdown. ``first``: whether it opens the conversation."""
    topics = _asked_about(prompt)
    if not topics:
        return f"{HEAD}\n\n{_welcome() if first else _menu()}"
    return "\n\n".join([HEAD, *(_explain(topic, keys) for topic in topics)])


def _asked_about(prompt: str) -> list[Topic]:
    """Give the topics of a prompt, the two best at most."""
    words = re.findall(r"\w+", prompt.lower())
    scores = [(sum(any(map(word.startswith, topic.words)) for word in words), topic) for topic in TOPICS]
    best = sorted((pair for pair in scores if pair[0]), key=lambda pair: -pair[0])
    return [topic for _, topic in best[:2]]


def _welcome() -> str:
    return (
        "Welcome. No model is connected yet, so a script answers: it streams, is stored, can be forked, "
        "searched and accounted for like any answer, so that everything can be tried.\n\n"
        f"{CONNECT}\n\n{_menu()}"
    )


def _menu() -> str:
    lines = [f"- **{topic.title}**: {', '.join(topic.words[:4])}" for topic in TOPICS]
    return "Ask about one of these:\n\n" + "\n".join(lines)


def _explain(topic: Topic, keys: Keys | None) -> str:
    lines = [line for command in COMMANDS if _belongs(command, topic) and (line := _line(command, keys))]
    return "\n\n".join([f"## {topic.title}", topic.text, *(["\n".join(lines)] if lines else [])])


def _belongs(command: Command, topic: Topic) -> bool:
    return any(
        command.id.startswith(name) if name.endswith(".") else command.id == name for name in topic.commands
    )


def _line(command: Command, keys: Keys | None) -> str | None:
    """Say how a command is given and what it does; None when it is only in the palette."""
    ways = [f"`{key_label(key)}`" for key in keys_of(command, keys)[:1]]
    if command.slash:
        ways.append(f"`/{command.slash}{' ' + command.args if command.args else ''}`")
    return f"- {' or '.join(ways)}: {command.help}" if ways else None
