"""The usage panel's words and numbers, as lines.

Owns what is said of which sum and how it is laid out in a given width. Pure: values in, cells out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from advchat.state import Share, UsageView
from advchat.text import one_line
from advchat.widgets.numbers import count, money
from advchat.widgets.rows import Cell
from advchat_storage.models import UsageSum

Line = tuple[Cell, ...]

_LABEL = 11
"""Cells of the column of words, the space before them included."""

_COLUMN = 9
"""Cells of a column of numbers, the space before them included."""

_ROWS: tuple[tuple[str, str], ...] = (
    ("requests", "requests"),
    ("input", "input_tokens"),
    (" cached", "cached_tokens"),
    (" written", "cache_write_tokens"),
    ("output", "output_tokens"),
    (" reasoning", "reasoning_tokens"),
    ("total", "total_tokens"),
)
"""Label and field; an indented row is part of the one that it hangs under."""

WARN_AT = 0.70
ALARM_AT = 0.90


def lines(view: UsageView, width: int) -> list[Line]:
    """Lay the whole panel out, the bars excepted."""
    found: list[Line] = [*_gauge(view, width), ()]
    columns = max(1, (width - _LABEL) // _COLUMN)
    for heading, group in _groups(view):
        found.append(((f" {heading}", "strong"),))
        for start in range(0, len(group), columns):
            found += [*_table(group[start : start + columns], local=view.local), ()]
    found += _speed(view)
    found += _binned(view)
    found += _shares("model", view.models, width)
    found += _shares("tool", view.tools, width)
    return found


def _groups(view: UsageView) -> Iterator[tuple[str, list[tuple[str, UsageSum]]]]:
    near = [
        (f"turn {view.turn}" if view.turn else "turn", view.this_turn),
        ("branch", view.branch.own),
        ("inherited", view.branch.inherited),
        ("all", view.conversation),
    ]
    yield "This conversation", near
    yield "All conversations", [("today", view.today), ("month", view.month), ("ever", view.everything)]


def _table(group: Sequence[tuple[str, UsageSum]], *, local: bool) -> Iterator[Line]:
    heads = tuple((f"{one_line(name, _COLUMN):>{_COLUMN}}", "quiet") for name, _ in group)
    yield ((" " * _LABEL, ""), *heads)
    for label, field in _ROWS:
        part = label.startswith(" ")
        numbers = tuple(_number(usage, field, part=part) for _, usage in group)
        yield ((f" {label:<{_LABEL - 1}}", "quiet"), *numbers)
    yield ((f" {'cost':<{_LABEL - 1}}", "quiet"), *(_cost(usage, local=local) for _, usage in group))


def _number(usage: UsageSum, field: str, *, part: bool) -> Cell:
    if not usage.requests:
        return f"{'–':>{_COLUMN}}", "quiet"
    value: int | None = getattr(usage, field)
    at_least = usage.at_least and field != "requests" and value is not None
    text = count(value, _COLUMN - 1, at_least=at_least)
    return f"{text:>{_COLUMN}}", "quiet" if part or value is None else ""


def _cost(usage: UsageSum, *, local: bool) -> Cell:
    if not usage.requests:
        return f"{'–':>{_COLUMN}}", "quiet"
    if local and usage.cost_nano == 0 and not usage.at_least:
        return f"{'local':>{_COLUMN}}", "good"
    text = money(usage.cost_nano, _COLUMN - 1, at_least=usage.at_least)
    return f"{text:>{_COLUMN}}", "strong" if usage.cost_nano is not None else "warn"


def _gauge(view: UsageView, width: int) -> Iterator[Line]:
    used, window = view.context_tokens, view.context_window
    if used is None or not window:
        known = f"{used:,} of an unknown window" if used is not None else "nothing sent yet"
        yield ((" context   ", "quiet"), (one_line(known, width - _LABEL - 1), "quiet"))
        return
    share = used / window
    style = "bad" if share >= ALARM_AT else "warn" if share >= WARN_AT else "accent"
    mark = " ▲" if share >= WARN_AT else ""
    head = f"{count(used, 9)} of {count(window, 9)}"
    percent = f"{share:.0%}{mark}"
    yield (
        (" context   ", "quiet"),
        (head, ""),
        (f"{percent:>{max(1, width - _LABEL - 1 - cell_len(head))}}", style),
    )
    cells = max(1, width - 2)
    filled = min(cells, max(1 if used else 0, round(share * cells)))
    yield ((" ", ""), ("━" * filled, style), ("━" * (cells - filled), "rule"))


def _speed(view: UsageView) -> Iterator[Line]:
    usage = view.this_turn
    parts = []
    if usage.seconds and usage.output_tokens:
        parts.append(f"{usage.output_tokens / usage.seconds:.1f} tokens/s")
    if usage.first_token_seconds is not None:
        parts.append(f"first after {usage.first_token_seconds:.2f} s")
    if usage.estimated_output_tokens:
        parts.append(f"≈{usage.estimated_output_tokens:,} output, not counted")
    for part in parts:
        yield ((f" {'speed' if part is parts[0] else '':<{_LABEL - 1}}", "quiet"), (part, ""))
    if parts:
        yield ()


def _binned(view: UsageView) -> Iterator[Line]:
    if view.binned.requests:
        cost = money(view.binned.cost_nano, 9, at_least=view.binned.at_least)
        yield ((f" {'in the bin':<{_LABEL - 1}}", "quiet"), (cost, ""))
        yield ()


def _shares(what: str, shares: Sequence[Share], width: int) -> Iterator[Line]:
    if not shares:
        return
    whole = sum(share.total_tokens or 0 for share in shares)
    yield ((f" by {what}", "strong"),)
    for share in shares:
        tokens = f"{count(share.total_tokens, 7):>8}"
        cost = f"{money(share.cost_nano, 7, at_least=share.at_least):>8}" if what == "model" else ""
        part = (
            f"{(share.total_tokens or 0) / whole:>5.0%}"
            if whole and share.total_tokens is not None
            else "     "
        )
        numbers = f"{f'{share.requests}×':>5}" if what == "tool" else part + tokens + cost
        room = max(1, width - 1 - len(numbers))
        name = one_line(share.name, room)
        yield ((" " + name + " " * (room - cell_len(name)), ""), (numbers, "quiet"))
    yield ()
