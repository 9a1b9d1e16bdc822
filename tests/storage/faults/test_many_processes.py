"""Four processes at work on one conversation."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from advchat_storage import AdvancedSQLiteSession
from tests.storage.faults.processes import started, told
from tests.storage.faults.stored import assert_sound, contents
from tests.storage.faults.workload import append_fork_delete

PROCESSES = 4
OPERATIONS = 500


async def test_appends_forks_and_deletes(path: Path) -> None:
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        await session.add_items([{"role": "user", "content": f"begin {number}"} for number in range(3)])
    names = [f"p{number}" for number in range(PROCESSES)]
    with ExitStack() as stack:
        pipes = [
            stack.enter_context(started(append_fork_delete, str(path), name, OPERATIONS))[1] for name in names
        ]
        said = {name: list(told(pipe)) for name, pipe in zip(names, pipes, strict=True)}

    assert [message for messages in said.values() for message in messages if message[0] == "error"] == []
    stored = contents(path)
    for name, messages in said.items():
        acknowledged = [text for kind, text in messages if kind == "add"]
        twice = [text for text in acknowledged for _ in range(2)]
        assert [text for text in stored["main"] if text.startswith(f"{name} ")] == twice
    forks = [branch for messages in said.values() for kind, branch in messages if kind == "fork"]
    assert len(forks) == len(set(forks)) > PROCESSES * 10
    left = {branch for messages in said.values() for branch in messages[-1][1]}
    assert set(stored) <= {"main", *left}
    async with AdvancedSQLiteSession(session_id="c", db_path=path) as session:
        assert {row["branch_id"] for row in await session.list_branches()} == {"main", *left}
    assert_sound(path)
