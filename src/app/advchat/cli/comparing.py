"""The `compare` command: two branches from their fork point, as text.

Owns how the differences are written without colour: `-` the first branch, `+` the second, words that only
one side has between brackets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from advchat.cli.reports import usage_json, wanted_branch, wanted_conversation
from advchat.cli.tables import print_json
from advchat.controller.branch_turns import branch_turns
from advchat.controller.comparing import align, common_prefix
from advchat.differences import Span
from advchat.state import ComparedTurn, TurnView, dollars
from advchat.text import clean
from advchat.usage_report import add_up
from advchat_storage import Store


async def compare(store: Store, options: argparse.Namespace) -> int:
    """Print two branches side by side in time, turn by turn; exits with 0 also where they differ."""
    conversation = await wanted_conversation(store, options)
    names = [await wanted_branch(store, conversation, name) for name in (options.left, options.right)]
    left, right = [await branch_turns(store, conversation.conversation_id, name) for name in names]
    shared = common_prefix([turn.key for turn in left], [turn.key for turn in right])
    rows = align(left[shared:], right[shared:])
    sides = [(name, turns[shared:]) for name, turns in zip(names, (left, right), strict=True)]
    if options.json:
        print_json(
            {
                "shared_turns": shared,
                "sides": [
                    {"branch_id": name, "usage": usage_json(add_up([turn.usage for turn in turns]))}
                    for name, turns in sides
                ],
                "turns": [_row_json(row) for row in rows],
            }
        )
        return 0
    for mark, (name, turns) in zip("-+", sides, strict=True):
        sys.stdout.write(f"{mark} {clean(name)}: {_numbers(turns)}\n")
    sys.stdout.write(f"  {shared} turns shared\n")
    for row in rows:
        _print_row(row)
    return 0


def _numbers(turns: Sequence[TurnView]) -> str:
    """Tell turns, tokens and cost of one side; only turns where nothing was asked."""
    usage = add_up([turn.usage for turn in turns])
    told = [f"{len(turns)} turn{'' if len(turns) == 1 else 's'}"]
    if usage.requests:
        mark = "≥ " if "total_tokens" in usage.unknown else ""
        tokens = "unknown" if usage.total_tokens is None else f"{mark}{usage.total_tokens:,}"
        told += [f"{tokens} tokens", dollars(usage.cost_nano, at_least="cost_nano" in usage.unknown)]
    return ", ".join(told)


def _row_json(row: ComparedTurn) -> dict[str, object]:
    return {
        side: None if turn is None else {"turn": turn.turn, "prompt": spans(prompt), "answer": spans(answer)}
        for side, turn, prompt, answer in zip(
            ("left", "right"), (row.left, row.right), row.prompts(), row.answers(), strict=True
        )
    }


def spans(parts: Sequence[Span]) -> list[dict[str, object]]:
    """Give spans as plain values."""
    return [asdict(part) for part in parts]


def _print_row(row: ComparedTurn) -> None:
    for mark, turn, prompt, answer in zip(
        "-+", (row.left, row.right), row.prompts(), row.answers(), strict=True
    ):
        if turn is None:
            continue
        sys.stdout.write(f"\n{mark} turn {turn.turn}\n")
        for text in (_marked(prompt), _marked(answer)):
            for line in text.splitlines():
                sys.stdout.write(f"{mark} {line}\n")


def _marked(parts: Sequence[Span]) -> str:
    return "".join(_bracketed(part.text) if part.changed else clean(part.text) for part in parts)


def _bracketed(text: str) -> str:
    """Put brackets around the words of a text, not around the blanks before and after."""
    words = text.strip()
    if not words:
        return clean(text)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{clean(before)}[{clean(words)}]{clean(after)}"
