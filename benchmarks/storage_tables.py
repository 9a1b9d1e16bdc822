"""The storage benchmark's tables and the goals that stand in them.

Owns the goals and the drawing. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.storage_files import Size

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- storage: begin -->", "<!-- storage: end -->"


@dataclass(frozen=True)
class Result:
    """Median seconds of one operation at one size."""

    name: str
    size: Size
    ours: float
    sdk: float
    touches_all: bool

    @property
    def ratio(self) -> float:
        """Ours ÷ SDK's."""
        return self.ours / self.sdk


@dataclass(frozen=True)
class Goal:
    """What ours ÷ SDK's must not exceed, where the sizes match."""

    names: tuple[str, ...]
    ratio: float
    applies: Callable[[Size], bool]


def _at(messages: int) -> Callable[[Size], bool]:
    return lambda size: size.messages == messages


def _always(_: Size) -> bool:
    return True


GOALS = (
    Goal(("get_items(limit=20)",), 1 / 50, _at(100_000)),
    Goal(("pop_item",), 1 / 20, _at(100_000)),
    Goal(("get_items() of 10 beside all",), 1 / 20, _at(100_000)),
    Goal(("find_turns_by_content",), 1 / 5, _at(100_000)),
    Goal(("list_branches",), 1 / 5, lambda size: size.branches >= 1_000),
    Goal(("get_items(limit=50)",), 1 / 20, lambda size: size == Size(10_000, 1)),
    Goal(("pop_item",), 1 / 2, lambda size: size == Size(10_000, 1)),
    Goal(("list_branches",), 1 / 3, lambda size: size == Size(10_000, 1)),
    Goal(("fork at the last turn",), 1 / 4, lambda size: size.messages in {10_000, 100_000}),
    Goal(("delete_branch",), 1 / 3, lambda size: size.messages >= 10_000),
    Goal(
        (
            "add_items of 1",
            "add_items of 4",
            "add_items of 100",
            "get_items()",
            "store_run_usage",
            "switch_to_branch, twice",
            "get_turn_usage",
            "opening, to the first item",
        ),
        1.0,
        _always,
    ),
)
"""The first that matches counts."""


def goal_of(result: Result) -> float | None:
    """Give the greatest ratio that is good enough; None where none was set."""
    matching = (goal.ratio for goal in GOALS if result.name in goal.names and goal.applies(result.size))
    return next(matching, None)


def report(results: list[Result], notes: Iterable[str]) -> str:
    """Draw everything as Markdown."""
    sizes = list(dict.fromkeys(result.size for result in results))
    parts = [_table(size, [result for result in results if result.size == size]) for size in sizes]
    return "\n\n".join([*parts, _growth(results), "\n".join(f"- {note}" for note in notes)])


def write(text: str) -> None:
    """Put the report between the page's marks."""
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def _table(size: Size, results: list[Result]) -> str:
    branches = "1 branch" if size.branches == 1 else f"{size.branches:,} branches"
    lines = [
        f"### {size.messages:,} messages on `main`, {branches}",
        "",
        "| operation | ours, ms | SDK, ms | ours ÷ SDK | goal |",
        "|---|--:|--:|--:|--:|",
    ]
    for result in results:
        goal = goal_of(result)
        mark = (
            "" if goal is None else f"{_ratio(goal)} {'✓' if round(result.ratio, 2) <= round(goal, 2) else '✗'}"
        )
        cells = (result.name, _ms(result.ours), _ms(result.sdk), _ratio(result.ratio), mark)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _growth(results: list[Result]) -> str:
    single = sorted({result.size.messages for result in results if result.size.branches == 1})
    if len(single) < 2:
        return ""
    head = " | ".join(f"{messages:,}, ms" for messages in single)
    lines = [
        "### Growth with the messages of one branch (ours)",
        "",
        f"| operation | {head} | time | rows touched |",
        f"|---|{'--:|' * (len(single) + 2)}",
    ]
    for name in dict.fromkeys(result.name for result in results):
        row = [result for result in results if result.name == name and result.size.branches == 1]
        row.sort(key=lambda result: result.size.messages)
        touched = single[-1] // single[0] if row[0].touches_all else 1
        cells = " | ".join(_ms(result.ours) for result in row)
        lines.append(f"| {name} | {cells} | ×{row[-1].ours / row[0].ours:.1f} | ×{touched} |")
    return "\n".join(lines)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"


def _ratio(ratio: float) -> str:
    if ratio == 1:
        return "1"
    fraction = f"1/{1 / ratio:.0f}"
    # Only what is a fraction, or far below one, reads better as one.
    return fraction if ratio < 0.2 or abs(round(1 / ratio) - 1 / ratio) < 0.01 else f"{ratio:.2f}"
