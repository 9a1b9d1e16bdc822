"""Numbers, short enough for a column.

Owns how counts and money are written where space is scarce. Exact where they fit; never a 0 for unknown.
"""

from __future__ import annotations

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def count(value: int | None, cells: int = 7, *, at_least: bool = False) -> str:
    """Write a count into a column: exact where it fits, else with a unit; ``?`` or ``unknown`` for None."""
    if value is None:
        return "unknown" if cells >= 7 else "?"
    mark = "≥" if at_least else ""
    exact = f"{mark}{value:,}"
    if len(exact) <= cells:
        return exact
    plain = f"{mark}{value}"
    return plain if len(plain) <= cells else mark + short_count(value, cells - len(mark))


def short_count(value: int, cells: int = 5) -> str:
    """Write a count with a unit: ``12.3k``, ``1.2M``; as many digits as fit."""
    for size, unit in _UNITS:
        if value >= size:
            for digits in (2, 1, 0) if value < size * 1_000 else (0,):
                text = f"{value / size:.{digits}f}{unit}"
                if len(text) <= cells:
                    return text
            return f"{value // size}{unit}"
    return str(value)


def money(nano: int | None, cells: int = 7, *, at_least: bool = False) -> str:
    """Write nano-dollars into a column; rounding never turns a cost into $0."""
    if nano is None:
        return "unknown" if cells >= 7 else "?"
    mark = "≥" if at_least else ""
    if nano == 0:
        return f"{mark}$0"
    room = cells - len(mark) - 1
    value = nano / 1_000_000_000
    if value >= 10 ** (room - 3):
        whole = f"{value:,.0f}"
        return f"{mark}${whole if len(whole) <= room else short_count(round(value), room)}"
    digits = max(2, room - len(str(int(value))) - 1)
    text = f"{value:.{digits}f}"
    if not text.strip("0."):
        return ">$0" if mark else f"<${10 ** -(cells - 4):.{cells - 4}f}"
    return f"{mark}${text}"
