"""How long a conversation takes to open, by its number of turns, and what memory that takes.

    python -m benchmarks.open [--turns 10,1000,10000] [--runs 5]

A program in a pseudo-terminal holds its turns in memory. A key opens the conversation; it counts as open when
the last answer's words are drawn. Then it scrolls to the top and back, and flips to a sibling branch.
Goals: 10,000 turns at most 1.5 × the time of 10, memory at most 2 ×; flipping at 1,000 turns 100 ms.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from advchat.state import TurnRow, TurnView

ANSWER = """Turn {0} is answered at some length, with **words** in bold and `code` in between, so that it
takes a few rows and wrapping has something to do.

- one point of {0}
- another, which is a little longer than the first

```python
def turn_{0}(items: list[int]) -> list[int]:
    return items[::-1]
```

That was turn {0}, `end-{0}-{1}`."""


def turn_of(turn: int, branch: str) -> TurnView:
    """Make one turn of a branch; the two branches share all but the last."""
    from advchat.state import ItemView, TurnView

    key = turn * 2 + (branch == "b")
    return TurnView(
        turn, key, f"Question {turn}?", (ItemView("text", ANSWER.format(turn, branch)),), "completed"
    )


def row_of(turn: int) -> TurnRow:
    """Make one row of the turn list, as the store knows it of an earlier visit."""
    from advchat.state import TurnRow

    key = turn * 2
    return TurnRow(
        turn,
        key,
        "",
        100,
        100,
        at_least=False,
        inherited=False,
        status="completed",
        height=18,
        height_width=158,
    )


def child(turns: int) -> None:
    """Run the program that is measured."""
    from textual import on
    from textual.app import App, ComposeResult

    from advchat.widgets.transcript import Transcript

    class Opening(App[None]):
        BINDINGS: ClassVar = [("o", "open"), ("b", "flip"), ("h", "top")]
        branch = "a"

        def compose(self) -> ComposeResult:
            yield Transcript()

        def on_mount(self) -> None:
            self.transcript = self.query_one(Transcript)

        def action_open(self) -> None:
            rows = [row_of(turn) for turn in range(max(1, turns - 200), turns + 1)]
            self.transcript.set_conversation(("c", "a"), turns, rows)

        def action_flip(self) -> None:
            self.branch = "b"
            self.transcript.set_conversation(("c", "b"), turns, keep_scroll_at=turns)

        def action_top(self) -> None:
            self.transcript.action_scroll_home()

        @on(Transcript.TurnsWanted)
        def answer(self, event: Transcript.TurnsWanted) -> None:
            views = [
                turn_of(n + 1, self.branch if n + 1 == turns else "a") for n in range(event.start, event.end)
            ]
            self.transcript.put_turns(event.start, views)

    Opening().run()


@dataclass(frozen=True, slots=True)
class Result:
    """One run: milliseconds and MB."""

    opened: float
    top: float
    flipped: float
    before: float
    after: float


def measure(turns: int) -> Result:
    """Open one conversation."""
    with Terminal([sys.executable, "-m", "benchmarks.open", "--child", str(turns)]) as terminal:
        terminal.idle(1.5)
        before = terminal.memory
        opened = -terminal.type("o") + terminal.wait(f"end-{turns}-a")
        terminal.idle(0.5)
        flipped = -terminal.type("b") + terminal.wait(f"end-{turns}-b")
        terminal.idle(0.5)
        top = -terminal.type("h") + terminal.wait("end-1-")
        terminal.idle(0.5)
        return Result(opened * 1000, top * 1000, flipped * 1000, before, terminal.memory)


def median_of(runs: Sequence[Result], figure: str) -> float:
    """Return the median of one of the runs' figures."""
    return float(statistics.median(getattr(run, figure) for run in runs))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", default="10,1000,10000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    print(f"{'turns':>8} {'open ms':>8} {'×':>5} {'flip ms':>8} {'top ms':>7} {'MB':>6} {'grown':>6} {'×':>5}")
    sizes = [int(turns) for turns in options.turns.split(",")]
    found: dict[int, list[Result]] = {turns: [] for turns in sizes}
    # In turn, so that the machine's mood meets all sizes alike.
    for turns in sizes * options.runs:
        found[turns].append(measure(turns))
    first = found[sizes[0]]
    for turns, runs in found.items():
        opened, memory = median_of(runs, "opened"), median_of(runs, "after")
        grown = memory - median_of(runs, "before")
        print(
            f"{turns:>8} {opened:>8.1f} {opened / median_of(first, 'opened'):>5.2f}"
            f" {median_of(runs, 'flipped'):>8.1f} {median_of(runs, 'top'):>7.1f}"
            f" {memory:>6.1f} {grown:>6.1f} {memory / median_of(first, 'after'):>5.2f}"
        )
    print("goals: open × 1.5, memory × 2, flip 100 ms at 1,000 turns")


if __name__ == "__main__":
    main()
