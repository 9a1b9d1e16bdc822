"""The same conversation twice: once with the classes under test, once with the SDK's class throughout.

Owns the comparison: every operation goes to both, generated IDs and times are made comparable, and an
answer that differs must be excused by the table of differences.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.storage.oracle.actors import OURS, SDK, Actor, Call, LocalActor, MakeActor, Outcome, Place
from tests.storage.oracle.differences import Difference, Facts, wanted

GENERATED = re.compile(r"branch_from_turn_(\d+)_\d{9,}\S*")
STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")
TIMES = {"created_at", "timestamp"}


@dataclass(frozen=True)
class Role:
    """One instance of a class at work on the file under test."""

    module: str
    session_id: str = "conversation"
    make: MakeActor = LocalActor
    limit: int | None = None


class Names:
    """Generated branch IDs of one file and the names that both files share for them."""

    def __init__(self) -> None:
        self._shared: dict[str, str] = {}

    def learn(self, real: str, shared: str) -> None:
        """Call ``real`` by ``shared`` from now on."""
        self._shared[real] = shared

    def real(self, value: Any) -> Any:
        """Give the argument to pass for a shared name."""
        return next((real for real, shared in self._shared.items() if shared == value), value)

    def comparable(self, value: Any, *, key: str | None = None) -> Any:
        """Replace generated IDs and times all through a value."""
        if isinstance(value, dict):
            return {name: self.comparable(inner, key=str(name)) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.comparable(inner, key=key) for inner in value)
        if not isinstance(value, str):
            return value
        if key in TIMES and STAMP.fullmatch(value):
            return "a time"
        if value in self._shared:
            return self._shared[value]
        for real in sorted(self._shared, key=len, reverse=True):
            value = value.replace(f"'{real}'", f"'{self._shared[real]}'")
        return value


class Duo:
    """Two files, the same cast of instances on each, and the same operations for both."""

    def __init__(self, folder: Path | None, cast: Sequence[Role]) -> None:
        self._cast = cast
        self._in_memory = folder is None
        self._files = (
            (folder / "tested.db", folder / "sdk.db") if folder else (Path(":memory:"), Path(":memory:"))
        )
        self._names = (Names(), Names())
        self.facts = {role.session_id: Facts() for role in cast}
        self._current = ["main" for _ in cast]
        self._ours = [self._hire(role) for role in cast]
        self._sdk = [LocalActor(self._place(role, SDK, 1)) for role in cast]
        self._generated = 0
        self.excused: list[Difference] = []
        """The wanted differences that were met."""

    def __len__(self) -> int:
        return len(self._cast)

    def facts_of(self, who: int) -> Facts:
        """What is known of the conversation that instance ``who`` works on."""
        return replace(self.facts[self._cast[who].session_id], current=self._current[who])

    def act(self, who: int, *calls: Call) -> list[Outcome]:
        """Run the calls, begun together, on both files; give the comparable answers of the tested one."""
        ours = self._ours[who].run(*(self._spoken(call, self._names[0]) for call in calls))
        sdk = self._sdk[who].run(*(self._spoken(call, self._names[1]) for call in calls))
        sdk = [self._by_turn(who, *told) for told in zip(calls, ours, sdk, strict=True)]
        for mine, theirs in zip(ours, sdk, strict=True):
            self._learn_generated(mine, theirs)
        return [
            self._compare(who, call, mine, theirs) for call, mine, theirs in zip(calls, ours, sdk, strict=True)
        ]

    @property
    def tested_file(self) -> Path:
        """The file under test."""
        return self._files[0]

    def on_both_files(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """Change both files behind the instances' backs; what is in memory cannot be reached so."""
        for file in () if self._in_memory else self._files:
            with closing(sqlite3.connect(file, timeout=30)) as connection, connection:
                change(connection)

    def renew_loop(self, who: int) -> None:
        """Let the instance go on under another event loop."""
        self._ours[who].renew_loop()
        self._sdk[who].renew_loop()

    def reopen(self, who: int) -> None:
        """Close the instance and open another in its place."""
        self._ours[who].close()
        self._sdk[who].close()
        self._ours[who] = self._hire(self._cast[who])
        self._sdk[who] = LocalActor(self._place(self._cast[who], SDK, 1))
        self._current[who] = "main"
        if self._in_memory:
            self.facts[self._cast[who].session_id] = Facts()

    def close(self) -> None:
        """Close every instance."""
        for actor in (*self._ours, *self._sdk):
            actor.close()

    def _hire(self, role: Role) -> Actor:
        return role.make(self._place(role, role.module, 0))

    def _place(self, role: Role, module: str, file: int) -> Place:
        return Place(module, self._files[file], role.session_id, role.limit)

    @staticmethod
    def _spoken(call: Call, names: Names) -> Call:
        return replace(call, args=tuple(names.real(value) for value in call.args))

    def _learn_generated(self, ours: Outcome, sdk: Outcome) -> None:
        pair = (ours.value, sdk.value)
        if not all(isinstance(value, str) and GENERATED.fullmatch(value) for value in pair):
            return
        turns = {GENERATED.fullmatch(value)[1] for value in pair}  # type: ignore[index] # matched just above
        assert len(turns) == 1, f"the IDs name different turns: {pair}"
        self._generated += 1
        for names, real in zip(self._names, pair, strict=True):
            names.learn(real, f"generated-{self._generated}")

    def _by_turn(self, who: int, call: Call, ours: Outcome, sdk: Outcome) -> Outcome:
        """Let the SDK's instance fork by turn where its search has met a message without content."""
        excused = wanted(call, ours, sdk, self.facts_of(who)) is not None
        if call.method != "create_branch_from_content" or ours.error or not excused:
            return sdk
        branches = self._ours[who].run(Call("list_branches"))[0].value
        inherited = next(row["user_turns"] for row in branches if row["branch_id"] == ours.value)
        return self._sdk[who].run(Call("create_branch_from_turn", (inherited + 1, *call.args[1:])))[0]

    def _compare(self, who: int, call: Call, ours: Outcome, sdk: Outcome) -> Outcome:
        mine, theirs = (
            replace(
                outcome,
                value=_sorted(call, names.comparable(outcome.value)),
                message=names.comparable(outcome.message),
            )
            for outcome, names in zip((ours, sdk), self._names, strict=True)
        )
        facts = self.facts_of(who)
        if _text(mine) != _text(theirs):
            entry = wanted(call, mine, theirs, facts)
            assert entry, f"\n{call}\nours  {mine}\nsdk   {theirs}\nknown {facts}"
            self.excused.append(entry)
            self._follow(who, call)
        if mine.error is None:
            self._remember(who, call, mine)
            if call.method == "list_branches" and self._cast[who].module == OURS:
                _check_order(self._names[0].comparable(ours.value), facts)
        return mine

    def _follow(self, who: int, call: Call) -> None:
        """Bring the SDK's instance to where ours went, so that what follows stays comparable."""
        session = self._sdk[who].session
        if call.method == "switch_to_branch":
            session._branch_state = (self._names[1].real(call.args[0]), session._branch_state[1])
        elif call.method == "add_items":
            self._delete_again(who)
        elif call.method == "delete_branch" and self._current[who] == call.args[0]:
            session._branch_state = ("main", session._branch_state[1])

    def _delete_again(self, who: int) -> None:
        """Take out of the SDK's file what an append has brought back there."""
        other = LocalActor(self._place(self._cast[who], SDK, 1))
        other.run(Call("delete_branch", (self._names[1].real(self._current[who]),)))
        other.close()

    def _remember(self, who: int, call: Call, outcome: Outcome) -> None:
        facts = self.facts[self._cast[who].session_id]
        if call.method.startswith("create_branch"):
            facts.forks.append(outcome.value)
            facts.used.append(outcome.value)
            self._current[who] = outcome.value
        elif call.method == "switch_to_branch":
            self._current[who] = call.args[0]
        elif call.method == "delete_branch":
            name = call.args[0]
            if name in facts.forks:
                facts.forks.remove(name)
                if self._cast[who].module == OURS:
                    facts.deleted_by_us.add(name)
            if self._current[who] == name:
                self._current[who] = "main"
        elif call.method == "clear_session":
            facts.forks.clear()
            for other, role in enumerate(self._cast):
                if role.session_id == self._cast[who].session_id:
                    self._current[other] = "main"


def _sorted(call: Call, value: Any) -> Any:
    """Put branches in an order that both share: the SDK leaves the order within one second open."""
    if call.method == "list_branches" and isinstance(value, list):
        return sorted(value, key=lambda row: str(row["branch_id"]))
    return value


def _text(outcome: Outcome) -> str:
    """Make an outcome comparable to the letter: dicts in their order, NaN like NaN, 1 unlike True."""
    return repr((outcome.error, outcome.message)) + json.dumps(outcome.value)


def _check_order(rows: list[dict[str, Any]], facts: Facts) -> None:
    listed = [row["branch_id"] for row in rows]
    expected = [name for name in facts.forks if name in listed]
    assert [name for name in listed if name in facts.forks] == expected, "not in order of creation"
