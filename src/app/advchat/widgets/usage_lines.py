"""The usage panel's words and numbers, as lines.

Owns what is said of which sum and how it is laid out in a given width. Pure: values in, cells out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from advchat.text import one_line
from advchat.widgets.numbers import count, money
from advchat.widgets.rows import Cell

if TYPE_CHECKING:
    from advchat.state import Share, TurnBar, UsageView
    from advchat_storage.models import UsageSum

Line = tuple[Cell, ...]

_LABEL = 11
"""Cells of the column of words, the space before them included."""

_COLUMN = 9
"""Least cells of a column of numbers, the space before them included."""

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


_NOTHING = "Nothing spent yet: tokens and cost will stand here."


class _Column(NamedTuple):
    """A column of a table."""

    name: str
    width: int
    usage: UsageSum


WARN_AT = 0.70
ALARM_AT = 0.90


def lines(view: UsageView, width: int, picked: TurnBar | None = None) -> list[Line]:
    """Lay the whole panel out, the bars excepted; the turn is the one whose bar is picked, else the newest."""
    if not view.everything.requests and not view.conversation.requests:
        return [(), ((" " + one_line(_NOTHING, width - 1), "quiet"),)]
    found: list[Line] = [*_gauge(view, width), ()]
    for heading, group in _groups(view, picked):
        if not any(column.usage.requests for column in group):
            continue
        found.append(((f" {heading}", "strong"),))
        for part in _tables(group, width - _LABEL):
            found += [*_table(part, local=view.local), ()]
    found += _binned(view)
    found += _shares("model", view.models, width)
    found += _shares("tool", view.tools, width)
    return found


def _groups(view: UsageView, picked: TurnBar | None) -> Iterator[tuple[str, list[_Column]]]:
    number, usage = (view.turn, view.this_turn) if picked is None else (picked.turn, picked.usage)
    near = [
        (f"turn {number}" if number else "turn", usage),
        ("branch", view.branch.own),
        ("inherited", view.branch.inherited),
        ("all", view.conversation),
    ]
    yield "This conversation", [_column(*pair) for pair in near]
    far = [("today", view.today), ("month", view.month), ("ever", view.everything)]
    yield "All conversations", [_column(*pair) for pair in far]


def _column(name: str, usage: UsageSum) -> _Column:
    return _Column(name, max(_COLUMN, len(name) + 1), usage)


def _tables(columns: list[_Column], room: int) -> Iterator[list[_Column]]:
    """Break columns that do not fit beside each other into tables one under the other."""
    table: list[_Column] = []
    for column in columns:
        if table and sum(other.width for other in table) + column.width > room:
            yield table
            table = []
        table.append(column)
    yield table


def _table(columns: Sequence[_Column], *, local: bool) -> Iterator[Line]:
    heads = tuple((f"{column.name:>{column.width}}", "quiet") for column in columns)
    yield ((" " * _LABEL, ""), *heads)
    for label, field in _ROWS:
        part = label.startswith(" ")
        numbers = tuple(_number(column, field, part=part) for column in columns)
        yield ((f" {label:<{_LABEL - 1}}", "quiet"), *numbers)
    yield ((f" {'cost':<{_LABEL - 1}}", "quiet"), *(_cost(column, local=local) for column in columns))
    for label, write in _EXTRAS:
        told = [write(column.usage) for column in columns]
        if any(told):
            cells = zip(told, columns, strict=True)
            yield (
                (f" {label:<{_LABEL - 1}}", "quiet"),
                *((f"{text:>{column.width}}", "quiet") for text, column in cells),
            )


def _speed(usage: UsageSum) -> str:
    if not usage.seconds or not usage.output_tokens:
        return ""
    speed = usage.output_tokens / usage.seconds
    return f"{speed:,.1f}" if speed < 1_000 else f"{speed:,.0f}"


def _first_token(usage: UsageSum) -> str:
    return "" if usage.first_token_seconds is None else f"{usage.first_token_seconds:.2f} s"


def _estimate(usage: UsageSum) -> str:
    return f"≈{count(usage.estimated_output_tokens, 7)}" if usage.estimated_output_tokens else ""


_EXTRAS: tuple[tuple[str, Callable[[UsageSum], str]], ...] = (
    ("tokens/s", _speed),
    ("1st token", _first_token),
    ("uncounted", _estimate),
)
"""Rows that are there only where something is known: the last is the output of stopped answers, estimated."""


def _number(column: _Column, field: str, *, part: bool) -> Cell:
    usage, width = column.usage, column.width
    if not usage.requests:
        return f"{'–':>{width}}", "quiet"
    value: int | None = getattr(usage, field)
    if value is None:
        # What a part is is not told by every provider: quieter than a whole that is unknown.
        return f"{'?' if part else 'unknown':>{width}}", "quiet"
    text = count(value, width - 1, at_least=field in usage.unknown)
    return f"{text:>{width}}", "quiet" if part else ""


def _cost(column: _Column, *, local: bool) -> Cell:
    usage, width = column.usage, column.width
    if not usage.requests:
        return f"{'–':>{width}}", "quiet"
    at_least = "cost_nano" in usage.unknown
    if local and usage.cost_nano == 0 and not at_least:
        return f"{'local':>{width}}", "good"
    text = money(usage.cost_nano, width - 1, at_least=at_least)
    return f"{text:>{width}}", "strong" if usage.cost_nano is not None else "warn"


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


def _binned(view: UsageView) -> Iterator[Line]:
    if view.binned.requests:
        cost = money(view.binned.cost_nano, 9, at_least="cost_nano" in view.binned.unknown)
        yield ((f" {'binned':<{_LABEL - 1}}", "quiet"), (cost, ""))
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
