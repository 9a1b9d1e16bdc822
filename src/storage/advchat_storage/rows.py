"""Small helps for statements that ask about many rows at once.

Owns the splitting of long lists of parameters. Knows no table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CHUNK = 400


def for_each_of(
    connection: sqlite3.Connection,
    statement: str,
    wanted: Sequence[int] | Sequence[str],
    values: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Yield the rows of ``statement``, whose ``{wanted}`` stands for a list, run as often as the list needs."""
    for start in range(0, len(wanted), CHUNK):
        part = {f"wanted{index}": value for index, value in enumerate(wanted[start : start + CHUNK])}
        marks = ", ".join(f":{name}" for name in part)
        yield from connection.execute(statement.format(wanted=marks), {**(values or {}), **part})
