"""What is told of an answer in a fan-out: tokens, cost, time, speed, state.

Owns the wording. While an answer grows its tokens are guessed from its letters and marked as about; once its
run is over the provider's own numbers are told. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from advchat.widgets.numbers import count, money

if TYPE_CHECKING:
    from advchat.state import FanMember, RunInfo, TurnView

_LETTERS_PER_TOKEN = 4
_SIGNS = {"completed": "✓", "stopped": "■", "interrupted": "⚠", "failed": "✗", "refused": "⊘", "running": "⟳"}
_WORDS = {"completed": "", "stopped": "stopped", "interrupted": "interrupted", "failed": "failed"}


def numbers(
    member: FanMember, view: TurnView, run: RunInfo | None, now: datetime, *, short: bool = False
) -> str:
    """Tell of one answer in a line, the most telling first; ``short`` rounds more."""
    if view.status == "running":
        return " · ".join(_growing(member, view, run, now))
    usage = member.usage
    parts = [_SIGNS.get(view.status, "")]
    word = _WORDS.get(view.status, view.status)
    head = " ".join(part for part in (parts[0], word) if part)
    if not usage.requests:
        return f"{head} · no request went out" if view.status in ("failed", "refused") else head
    cells = (4, 7) if short else (5, 9)
    tokens = f"{count(usage.input_tokens, cells[0])}→{count(usage.output_tokens, cells[0])}"
    told = [f"{head} {tokens}{'' if short else ' tok'}"]
    told.append(money(usage.cost_nano, cells[1], at_least=usage.at_least))
    if usage.seconds is not None:
        told.append(duration(usage.seconds))
        if usage.output_tokens and usage.seconds > 0:
            told.append(f"{usage.output_tokens / usage.seconds:.0f}/s")
    return " · ".join(told)


def _growing(member: FanMember, view: TurnView, run: RunInfo | None, now: datetime) -> list[str]:
    letters = sum(len(item.text) for item in view.items if item.kind in ("text", "reasoning"))
    begun = datetime.fromisoformat(member.started_at) if member.started_at else now
    seconds = max(0.0, (now - begun).total_seconds())
    told = [f"⟳ {duration(seconds)}"]
    if run is not None and run.state == "stopping":
        told.append("stopping")
    elif run is not None and run.note:
        told.append(run.note)
    if letters:
        tokens = max(1, letters // _LETTERS_PER_TOKEN)
        told.append(f"~{count(tokens, 5)} tok")
        if seconds >= 1:
            told.append(f"~{tokens / seconds:.0f}/s")
    return told


def duration(seconds: float) -> str:
    """Write a time for people: ``0.8 s``, ``12 s``, ``2:05``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def label(member: FanMember, running: bool) -> str:
    """Name an answer on its tab, with its state."""
    return f"{_SIGNS['running'] if running else _SIGNS.get(member.status, '')} {member.title}"


def summary(members: Sequence[FanMember], live: Sequence[bool]) -> str:
    """Tell of all answers together: how many are done, and what they have cost."""
    done = len(members) - sum(live)
    text = f"{done} of {len(members)} answered"
    known = [member.usage for member in members if member.usage.requests]
    costs = [usage.cost_nano for usage in known if usage.cost_nano is not None]
    if costs:
        partly = len(costs) < len(members) or any(usage.at_least for usage in known) or any(live)
        text += f" · {money(sum(costs), 10, at_least=partly)}"
    return text
