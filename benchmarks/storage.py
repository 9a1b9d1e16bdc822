"""Our session against the SDK's own, operation by operation, on files of the same contents.

    python -m benchmarks.storage [--quick] [--write] [--sizes 1000x1,100000x1000]

Each operation is repeated with both classes in turn, each on its own copy of the file; what is shown is the
median of each and ours ÷ SDK's. ``--write`` puts the tables into ``docs/benchmarks.md``.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.extensions.memory import AdvancedSQLiteSession as SdkSession

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.store import Store
from benchmarks import storage_floor, storage_loop, storage_tables
from benchmarks.storage_cases import CASES, Case, Ground, Session, timed, timed_opening
from benchmarks.storage_files import CONVERSATION, NEEDLE, Size, adopt, copy, make
from benchmarks.storage_tables import Result

FULL = tuple(Size(messages, branches) for messages in (1_000, 10_000, 100_000) for branches in (1, 100, 1_000))
QUICK = (Size(1_000, 1), Size(10_000, 1), Size(1_000, 100))
REPETITIONS = 41
SECONDS_PER_CASE = 2.0
"""After this long, an operation is repeated no more, but five times at least."""
SEARCH_REPETITIONS = 30
FORK_OF = 30_000


@dataclass(frozen=True)
class Side:
    """One class and its file."""

    name: str
    session_class: Callable[..., Session]
    path: Path

    def open(self, session_id: str = CONVERSATION) -> Session:
        """Open a conversation of the file."""
        return self.session_class(session_id=session_id, db_path=self.path, create_tables=True)


def main() -> int:
    """Measure what the command line asks for."""
    options = _options().parse_args()
    logging.disable(logging.CRITICAL)
    sizes = QUICK if options.quick else FULL
    if options.sizes:
        sizes = tuple(Size(*map(int, size.split("x"))) for size in options.sizes.split(","))
    with tempfile.TemporaryDirectory(prefix="advchat-bench-") as folder:
        results = [result for size in sizes for result in measure(size, Path(folder), options.repetitions)]
        notes = asyncio.run(_notes(Path(folder), sizes))
    report = storage_tables.report(results, notes)
    print(report)
    if options.write:
        storage_tables.write(report)
    return 0


def measure(size: Size, folder: Path, repetitions: int) -> list[Result]:
    """Measure every operation at one size."""
    sdk, ours = _sides(size, folder)
    found = []
    for case in CASES:
        begun = time.perf_counter()
        found.append(asyncio.run(_measure_case(case, size, (sdk, ours), repetitions)))
        print(f"{size}: {case.name}: {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    found.append(asyncio.run(_measure_opening(size, (sdk, ours), repetitions)))
    return found


def _sides(size: Size, folder: Path) -> tuple[Side, Side]:
    original = folder / f"sdk-{size.messages}-{size.branches}.db"
    make(original, size)
    adopted = copy(original, folder / f"ours-{size.messages}-{size.branches}.db")
    adopt(adopted)
    return Side("sdk", SdkSession, original), Side("ours", AdvancedSQLiteSession, adopted)


async def _measure_case(case: Case, size: Size, sides: tuple[Side, Side], repetitions: int) -> Result:
    # Each case begins on files as they were made.
    places = [
        Side(side.name, side.session_class, copy(side.path, side.path.with_suffix(".work"))) for side in sides
    ]
    grounds = [Ground(side.open(case.session), size.messages // 2, size.branches) for side in places]
    times: dict[str, list[float]] = {side.name: [] for side in sides}
    gc.collect()
    for ground in grounds:
        await ground.session.get_items(limit=1)
        await timed(case, ground)
    begun = time.perf_counter()
    for repetition in range(repetitions):
        for side, ground in zip(places, grounds, strict=True):
            times[side.name].append(await timed(case, ground))
        if repetition >= 4 and time.perf_counter() - begun > SECONDS_PER_CASE:
            break
    for ground in grounds:
        ground.session.close()
    for side in places:
        side.path.unlink()
    return Result(case.name, size, _median(times["ours"]), _median(times["sdk"]), case.touches_all)


async def _measure_opening(size: Size, sides: tuple[Side, Side], repetitions: int) -> Result:
    times: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(repetitions + 1):
        for side in sides:
            times[side.name].append(await timed_opening(side.open))
    return Result(
        "opening, to the first item", size, _median(times["ours"][1:]), _median(times["sdk"][1:]), False
    )


async def _notes(folder: Path, sizes: tuple[Size, ...]) -> list[str]:
    largest = max(sizes, key=lambda size: (size.messages, -size.branches))
    path = folder / f"ours-{largest.messages}-{largest.branches}.db"
    fork_turn = min(FORK_OF, largest.messages) // 2
    waits = await storage_loop.reads_beside_a_fork(path, fork_turn)
    opening = await storage_loop.loop_beside_an_opening(path)
    return [
        *_floors(folder, sizes),
        await _search(path, largest.messages),
        f"While a fork of {fork_turn * 2} messages ran ({_ms(waits.work)}), "
        f"the longest read took {_ms(waits.longest)}.",
        f"While a file of {largest.messages} messages was opened ({_ms(opening.work)}), "
        f"the event loop was held for {_ms(opening.longest)} at the longest (goal: 10 ms).",
        await _durability(folder),
    ]


def _floors(folder: Path, sizes: tuple[Size, ...]) -> list[str]:
    """Tell what SQLite alone takes where the SDK's tables hold one branch."""
    told = []
    for size in sizes:
        if size.branches == 1:
            path = copy(folder / f"sdk-{size.messages}-1.db", folder / "floor.db")
            fork, delete = storage_floor.bare_fork_and_delete(path, size.messages)
            told.append(
                f"SQLite alone, without any class, inserts the rows of a fork of {size.messages} messages "
                f"in {_ms(fork)} and deletes them in {_ms(delete)}."
            )
    return told


async def _search(path: Path, messages: int) -> str:
    times = []
    async with Store(path) as store:
        await store.search(NEEDLE)
        for _ in range(SEARCH_REPETITIONS):
            begun = time.perf_counter()
            await store.search(NEEDLE)
            times.append(time.perf_counter() - begun)
    return f"Full-text search over {messages} messages: {_ms(_median(times))} median (goal: 30 ms)."


async def _durability(folder: Path) -> str:
    modes = ("off", "normal", "full", "extra")
    found = []
    for name, session_class in (("ours", AdvancedSQLiteSession), ("the SDK's", SdkSession)):
        session = session_class(session_id="s", db_path=folder / "pragmas.db", create_tables=True)
        await session.add_items([{"role": "user", "content": "x"}])
        with session._locked_connection() as connection:
            level = connection.execute("PRAGMA synchronous").fetchone()[0]
            journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
        found.append(f"{name} {modes[level]} with journal {journal}")
        session.close()
    return f"Durability (`PRAGMA synchronous`): {'; '.join(found)}."


def _median(times: list[float]) -> float:
    return statistics.median(times)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files only")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--sizes", help="for example 1000x1,100000x1000: messages x branches")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
