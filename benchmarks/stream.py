"""How the transcript keeps up with a stream, and how long a key takes to be seen meanwhile.

    python -m benchmarks.stream [--letters 20000] [--rates 200,1000]

Prose, code and a table are streamed into the transcript of a program in a pseudo-terminal, four letters a
token. A key is typed into a text field every 0.15 s, and counts as seen when the terminal gets its letter.
Goals at 200 tokens/s: no slower than the stream, median 20 ms, 95 % 60 ms.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass

from benchmarks.terminal import Terminal

LETTERS_PER_TOKEN = 4
GOAL_MEDIAN, GOAL_95 = 20.0, 60.0
DONE = "stream-is-over"

PROSE = (
    "A list can be turned around in **three** ways, see [the docs](https://docs.python.org) or `help(list)`. "
    "The first changes it in place, the second makes a *copy*, the third gives an iterator; which one is "
    "right depends on what is done with it afterwards, and on how long it is.\n\n"
    "- in place: `items.reverse()`\n- a copy: `items[::-1]`\n- an iterator: `reversed(items)`\n\n"
)
CODE = (
    "def number_{0}(items: list[int], *, reverse: bool = False) -> dict[str, int]:\n"
    '    """Return how often each item occurs."""\n'
    "    found: dict[str, int] = {{}}\n"
    "    for index, item in enumerate(sorted(items, reverse=reverse)):  # in order\n"
    '        found[f"{{item:>4}}"] = found.get(str(item), 0) + {0} * index\n'
    "    return found\n\n\n"
)
ROW = "| item {0} | {1} | `value_{0}` | what is to be said of the {0}th item, in a few words |\n"


def text_of(kind: str, letters: int) -> str:
    """Return Markdown of a kind, of about that many letters."""
    if kind == "prose":
        body = PROSE * (letters // len(PROSE) + 1)
    elif kind == "code":
        body = "```python\n" + "".join(CODE.format(number) for number in range(letters // 300 + 1))
    else:
        body = "| name | number | code | text |\n|---|---:|---|---|\n"
        body += "".join(ROW.format(number, number * 37 % 1009) for number in range(letters // 60 + 1))
    return body[:letters]


def child(kind: str, rate: int, letters: int) -> None:
    """Run the program that is measured."""
    from textual.app import App, ComposeResult
    from textual.widgets import Input

    from advchat.events import TextDelta
    from advchat.state import TurnView
    from advchat.widgets.transcript import Transcript

    text = text_of(kind, letters)
    step = LETTERS_PER_TOKEN

    class Streaming(App[None]):
        CSS = "Input { dock: bottom; }"

        def compose(self) -> ComposeResult:
            yield Transcript()
            yield Input()

        def on_mount(self) -> None:
            self.query_one(Input).focus()
            self.transcript = self.query_one(Transcript)
            self.transcript.set_conversation(("c", "b"), 0)
            self.sent = 0

        def on_input_changed(self, event: Input.Changed) -> None:
            if event.value == "!":
                self.transcript.begin_run(TurnView(1, 1, "Tell me.", (), "running"))
                self.begun = time.perf_counter()
                self.set_interval(0.01, self.tick)

        def tick(self) -> None:
            due = min(len(text), int((time.perf_counter() - self.begun) * rate) * step)
            while self.sent < due:
                self.transcript.feed(TextDelta("r", text[self.sent : min(self.sent + step, due)]))
                self.sent = min(self.sent + step, due)
            if self.sent >= len(text) and not self.transcript.drawing:
                self.query_one(Input).value = DONE

    Streaming().run()


@dataclass(frozen=True, slots=True)
class Result:
    """One stream's figures: seconds, milliseconds, MB."""

    seconds: float
    ideal: float
    keys: list[float]
    memory: float


def measure(kind: str, rate: int, letters: int) -> Result:
    """Stream one text and type meanwhile."""
    command = [sys.executable, "-m", "benchmarks.stream", "--child", kind, str(rate), str(letters)]
    keys: list[float] = []
    with Terminal(command) as terminal:
        terminal.idle(1.5)
        begun = terminal.type("!")
        ideal = letters / LETTERS_PER_TOKEN / rate
        for letter in map(chr, range(0x4E00, 0x9000)):
            if time.perf_counter() - begun > ideal - 0.3:
                break
            typed = terminal.type(letter)
            keys.append((terminal.wait(letter) - typed) * 1000)
            terminal.idle(max(0.0, 0.15 - keys[-1] / 1000))
        ended = terminal.wait(DONE)
        return Result(ended - begun, ideal, keys, terminal.memory)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=int, default=20_000)
    parser.add_argument("--rates", default="200,1000")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], int(options.child[1]), int(options.child[2]))
        return
    print(f"{options.letters:,} letters, {LETTERS_PER_TOKEN} a token; key to paint in ms")
    print(
        f"{'':14}{'tokens/s':>9} {'sustained':>9} {'× stream':>8}"
        f" {'median':>7} {'95 %':>6} {'worst':>6} {'MB':>6}"
    )
    for rate in map(int, options.rates.split(",")):
        for kind in ("prose", "code", "table"):
            found = measure(kind, rate, options.letters)
            keys = sorted(found.keys)
            tokens = options.letters / LETTERS_PER_TOKEN / found.seconds
            print(
                f"{kind:14}{rate:>9} {tokens:>9.0f} {found.seconds / found.ideal:>8.2f}"
                f" {statistics.median(keys):>7.1f} {keys[int(len(keys) * 0.95)]:>6.1f} {keys[-1]:>6.1f}"
                f" {found.memory:>6.1f}"
            )
    print(f"goals at 200 tokens/s: × stream 1.0, median {GOAL_MEDIAN:.0f}, 95 % {GOAL_95:.0f}")


if __name__ == "__main__":
    main()
