"""A process killed at random moments: nothing acknowledged is missing, nothing is there by halves."""

from __future__ import annotations

import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.storage.faults.processes import started, told
from tests.storage.faults.stored import assert_sound, contents, has_tables, ledger, plain
from tests.storage.faults.workload import Expected, Operation, work_until_killed

KILLS = 200
PARTS = 4
"""Files, and tests that may run beside each other."""


def in_file(path: Path) -> Expected:
    """Read what the file holds of the conversation."""
    if not has_tables(path):
        return Expected()
    found = contents(path)
    with plain(path) as connection:
        rows = connection.execute("SELECT branch_id FROM advchat_branches WHERE session_id = 'c' AND NOT gone")
        known = ["main", *(row[0] for row in rows)]
    return Expected({name: found.get(name, []) for name in {*known, *found}}, ledger(path))


class Witness:
    """Hears what the process says, and so knows what it must not have lost."""

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.begun: Operation | None = None
        self.acknowledged = 0

    def hear(self, said: str, operation: Operation) -> None:
        """Take one message: an operation begins, or is acknowledged."""
        self.begun = operation if said == "begin" else None
        if said == "done":
            self.expected = self.expected.after(operation)
            self.acknowledged += 1

    def listen(self, pipe: Connection, count: int) -> None:
        """Hear until ``count`` operations are acknowledged."""
        while self.acknowledged < count:
            self.hear(*pipe.recv())


def survive_a_kill(path: Path, seed: int, before: Expected) -> Expected:
    """Kill a process that works on the file; give what the file holds, once it has proven right."""
    rng = random.Random(seed)
    witness = Witness(before)
    with started(work_until_killed, str(path), seed, before) as (process, pipe):
        witness.listen(pipe, rng.randint(0, 10))
        until = time.perf_counter() + rng.random() * 0.005
        while time.perf_counter() < until:
            pass
        process.kill()
        for message in told(pipe):
            witness.hear(*message)
    found = in_file(path)
    possible = [witness.expected]
    if witness.begun is not None:
        possible.append(witness.expected.after(witness.begun))
    assert found in possible, f"seed {seed}: {witness.begun}\n{found}\n{witness.expected}"
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_random_moments(path: Path, part: int) -> None:
    expected = Expected()
    for number in range(KILLS // PARTS):
        expected = survive_a_kill(path, part * KILLS + number, expected)
        if has_tables(path):
            assert_sound(path)
    assert len(expected.requests) > 10, "the workload has done something"
