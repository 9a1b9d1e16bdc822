"""What surrounds an answer's text: a turn's head and prompt, reasoning, tool calls, notices, how it ended.

Owns how those are worded and drawn. Everything that comes from outside is neutralised here. Knows no widget.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from advchat.state import ItemView, TurnView
from advchat.text import one_line
from advchat.widgets.transcript.code import CodeRows
from advchat.widgets.transcript.flow import flow
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import Row, Run, Target, make_row, outside

MARGIN = 2
"""Cells left of everything but the prompt's bar."""
_MOST_ROWS = 60
_MOST_LETTERS = 6000
_TURN_ACTIONS = (("edit", "edit"), ("regenerate", "regenerate"), ("copy", "copy"), ("compare", "compare"))
_OFFERS = {"continue": "Continue", "retry": "Retry", "discard": "Discard"}
_ENDS = {
    "stopped": ("■", "stopped"),
    "interrupted": ("⚠", "interrupted"),
    "failed": ("✗", "failed"),
    "refused": ("⊘", "blocked"),
}


@dataclass(frozen=True, slots=True)
class Head:
    """What a turn's head row says and offers."""

    turn: int
    siblings: int = 0
    sibling_index: int = 0
    note: str = ""
    active: bool = False
    """Whether the cursor or the mouse is on the turn: then its actions are offered."""


def head_rows(head: Head, palette: Palette, width: int) -> list[Row]:
    """Draw number, actions, siblings and the fork button of a turn."""
    fork = " ⑂ Fork " if width >= 24 else " ⑂ "
    right = [*_sibling_runs(head, palette), Run(fork, palette.button, target=Target("fork"))]
    left = [
        Run("█ " if head.active else "▌ ", palette.bar),
        Run(str(head.turn), palette.number + palette.strong),
    ]
    room = width - _cells(left) - _cells(right) - 1
    if head.active:
        actions = _action_runs(palette, room)
        right = [*actions, *right]
        room -= _cells(actions)
    if head.note and room > 8:
        left.append(Run("  " + one_line(head.note, room - 4), palette.number))
    gap = max(0, width - _cells(left) - _cells(right))
    return [make_row([*left, Run(" " * gap, palette.number), *right], width, palette.number)]


def _sibling_runs(head: Head, palette: Palette) -> list[Run]:
    if head.siblings < 2:
        return []
    count = f"{head.sibling_index + 1}/{head.siblings}"
    return [
        Run(" ‹ ", palette.button, target=Target("action", "previous_sibling")),
        Run(count, palette.number + palette.strong),
        Run(" › ", palette.button, target=Target("action", "next_sibling")),
    ]


def _action_runs(palette: Palette, room: int) -> list[Run]:
    runs: list[Run] = []
    for action, label in _TURN_ACTIONS:
        text = f" {label} "
        if len(text) > room:
            break
        runs.append(Run(text, palette.button, target=Target("action", action)))
        room -= len(text)
    return runs


class OnceRows:
    """Rows that are made in one go; ``update`` makes them of the whole source."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.rows = list(rows)

    def update(self, _source: str) -> int:
        """Nothing grows here."""
        return 0


class PlainRows:
    """Plain text, line for line, in one style; ``update`` renders all of it."""

    def __init__(self, style: Style, width: int, lead: Sequence[Run] = (), fill: Style | None = None) -> None:
        self._style = style
        self._width = width
        self._lead = lead
        self._fill = fill
        self.rows: list[Row] = []

    def update(self, source: str) -> int:
        """Render ``source``; return the first changed row."""
        self.rows = flow(
            plain_runs(source, self._style), self._width, first=self._lead, rest=self._lead, fill=self._fill
        )
        return 0


def plain_runs(source: str, style: Style) -> list[Run]:
    """Make runs of plain text, in which newlines stay line breaks."""
    runs: list[Run] = []
    start = 0
    for line in source.split("\n"):
        bare = line.removesuffix("\r")
        runs += outside(bare, style, start)
        start += len(line)
        if start < len(source):
            runs.append(Run("\n", style, start, start + 1))
        start += 1
    return runs


def prompt_lead(palette: Palette) -> list[Run]:
    """Return the bar that sets a prompt off."""
    return [Run("▌ ", palette.bar)]


def fold_row(text: str, fold: str, palette: Palette, lead: Sequence[Run], fill: int = 0) -> Row:
    """Draw a line that unfolds or folds what it names."""
    runs = [*lead, Run(text, palette.button if fill else palette.muted, target=Target("fold", fold))]
    return make_row(runs, fill, palette.prompt if fill else None)


def reasoning_rows(item: ItemView, fold: str, palette: Palette, width: int, *, unfolded: bool) -> list[Row]:
    """Draw reasoning: a line with its first words, or while it runs with its last ones; all of it unfolded."""
    sign = "▾" if unfolded else "▸"
    words = item.text.strip()
    if item.running and len(words) > width:
        words = "…" + words[-max(8, width - 18) :]
    label = f"{sign} Reasoning"
    shown = "" if unfolded else "  " + one_line(words, max(8, width - len(label) - 3))
    target = Target("fold", fold)
    rows = [
        make_row(
            [
                Run(label, palette.muted + palette.strong, target=target),
                Run(shown, palette.quote, target=target),
            ]
        )
    ]
    if unfolded:
        body = PlainRows(palette.quote, width, [Run("│ ", palette.rule)])
        body.update(item.text.rstrip())
        rows += body.rows
    return rows


def tool_rows(item: ItemView, fold: str, palette: Palette, width: int, *, unfolded: bool) -> list[Row]:
    """Draw a tool call as a folded line, or with its arguments and output."""
    state = "⟳" if item.running else "✓"
    time = "" if item.seconds is None else f"  {seconds(item.seconds)}"
    name = one_line(item.name or "tool", max(6, width // 2))
    label = f"{'▾' if unfolded else '▸'} {state} {name}"
    target = Target("fold", fold)
    room = width - cell_len(label) - len(time) - 3
    arguments = one_line(short_arguments(item.arguments), room) if room > 4 else ""
    rows = [
        make_row(
            [
                Run(label, palette.text + palette.strong, target=target),
                Run(f"  {arguments}" if arguments else "", palette.muted, target=target),
                Run(time, palette.muted, target=target),
            ]
        )
    ]
    if unfolded:
        rows += _box("arguments", pretty(item.arguments), item.arguments, palette, width, language="json")
        if not item.running:
            shown = pretty(item.text)
            language = "json" if shown is not item.text else ""
            rows += _box("output", shown, item.text, palette, width, language=language)
    return rows


def _box(title: str, shown: str, source: str, palette: Palette, width: int, language: str = "") -> list[Row]:
    """Draw text under a label, at most so many rows; its copy button gives all of it."""
    cut = shown[:_MOST_LETTERS]
    code = CodeRows(language or "text", palette, width - MARGIN, indent=MARGIN, copy=source, title=title)
    code.update(cut)
    rows = code.rows[: _MOST_ROWS + 1]
    if len(rows) < len(code.rows) or len(cut) < len(shown):
        more = shown.count("\n") + 1
        note = f"   … {len(shown):,} letters, {more:,} lines in all; copy takes everything"
        rows.append(make_row([Run(" " * MARGIN, Style()), Run(one_line(note, width - MARGIN), palette.muted)]))
    return rows


def pretty(text: str) -> str:
    """Lay out JSON for reading; leave any other text alone."""
    if len(text) > 100_000 or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def short_arguments(text: str) -> str:
    """Say a call's arguments in a few words: ``city: Oslo, days: 3``."""
    if len(text) > 20_000:
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict):
        return text
    return ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in found.items()
    )


def seconds(value: float) -> str:
    """Write a duration for people."""
    if value < 0.1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{int(value // 60)} min {value % 60:.0f} s"


def notice_rows(text: str, palette: Palette, width: int, sign: str = "ℹ") -> list[Row]:
    """Draw a notice of ours or of the run."""
    lead = [Run(f"{sign} ", palette.accent)]
    return flow(plain_runs(text, palette.muted), width, first=lead, rest=[Run("  ", Style())])


def end_rows(view: TurnView, palette: Palette, width: int, *, unfolded: bool) -> list[Row]:
    """Draw how a turn ended, where that needs saying, and what is offered for it."""
    rows: list[Row] = []
    if view.status in _ENDS:
        sign, word = _ENDS[view.status]
        style = palette.error if view.status == "failed" else palette.warning
        first = [Run(f"{sign} {word}", style)]
        colon = Run(": ", palette.text)
        runs = [*first, *((colon, *plain_runs(view.error, palette.text)) if view.error else ())]
        rows += flow(runs, width, rest=[Run("  ", Style())])
    if view.detail:
        sign = "▾" if unfolded else "▸"
        rows.append(fold_row(f"{sign} details", "detail", palette, ()))
        if unfolded:
            rows += _box("details", view.detail, view.detail, palette, width)
    offers = [(action, _OFFERS[action]) for action in view.actions if action in _OFFERS]
    if offers:
        rows.append(make_row(_offer_runs(offers, palette)))
    return rows


def _offer_runs(offers: Sequence[tuple[str, str]], palette: Palette) -> list[Run]:
    runs: list[Run] = []
    for action, label in offers:
        runs.append(Run(f" {label} ", palette.button + palette.strong, target=Target("action", action)))
        runs.append(Run(" ", Style()))
    return runs


def rule_rows(parent: str, palette: Palette, width: int) -> list[Row]:
    """Draw the line between what a branch inherited and what is its own."""
    source = f"from {parent} " if parent else ""
    label = f" ⑂ inherited {one_line(source, max(4, width - 24))}{' ' if parent else ''}above ".replace(
        "  ", " "
    )
    room = max(0, width - cell_len(label))
    left = min(2, room)
    return [
        make_row(
            [Run("─" * left, palette.rule), Run(label, palette.muted), Run("─" * (room - left), palette.rule)]
        )
    ]


def _cells(runs: Sequence[Run]) -> int:
    return sum(cell_len(run.text) for run in runs)
