"""Results for people and for programs, on standard output.

Owns how tables, JSON and CSV are written. Text from outside is neutralised where people read it.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from advchat.text import one_line, pad

MAX_CELL = 60


def print_json(value: object) -> None:
    """Write a value as JSON that any terminal and pipe can carry."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")


def print_json_line(value: object) -> None:
    """Write a value as one line of JSON, at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def print_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write rows as CSV with a header; unknown values are empty."""
    writer = csv.DictWriter(sys.stdout, fieldnames=list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: "" if row.get(key) is None else _flat(row[key]) for key in columns})


def _flat(value: object) -> object:
    if isinstance(value, str):
        text = one_line(value, 10_000)
        # A spreadsheet must not run it as a formula.
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
    return value


def print_table(rows: Sequence[Sequence[str]], heads: Sequence[str], right: Sequence[int] = ()) -> None:
    """Write an aligned table; columns in ``right`` are set flush right."""
    cells = [[one_line(cell, MAX_CELL) for cell in row] for row in rows]
    table = [list(heads), *cells]
    widths = [max(_cells(row[column]) for row in table) for column in range(len(heads))]
    for row in table:
        line = "  ".join(
            pad(cell, width, "right" if column in right else "left")
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        sys.stdout.write(line.rstrip() + "\n")


def _cells(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415 - only tables for people need it

    return cell_len(text)
