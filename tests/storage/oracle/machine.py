"""Random operations on a duo of files.

Owns the rules of the state machine: which operations there are and with what arguments. The cast, and so
what is compared with what, is the subclass's.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.storage.oracle.actors import Call, Outcome
from tests.storage.oracle.duo import Duo, Role
from tests.storage.oracle.items import ODD, WORDS, batches, user_messages

whos = st.integers(0, 5)
turns = st.one_of(st.integers(1, 2), st.integers(1, 4), st.integers(1, 4), st.integers(-1, 9))
limits = st.one_of(st.none(), st.integers(-2, 9))
picks = st.integers(0, 30)
names = st.one_of(
    st.none(),
    st.none(),
    st.none(),
    st.sampled_from(("plan", "Plan", " draft ", "draft", "main", "", " ", "a'b", '"', "x%", "北京", "\u00a0")),
    st.text(max_size=5),
)
terms = st.one_of(
    st.sampled_from(WORDS + ODD), st.sampled_from(("WEATHER", "e", "100", "A_B", "i", "İ")), st.text(max_size=3)
)
counts = st.integers(0, 5000)
usages = st.tuples(st.integers(0, 3), counts, counts, counts, counts)


def budget(examples: int, steps: int) -> settings:
    """Settings for a machine: the same examples at every run.

    ORACLE_EXAMPLES=1000 tries that many new ones instead; ORACLE_SHRINK=1 reduces a failure (minutes).
    """
    wished = os.environ.get("ORACLE_EXAMPLES")
    reduce = (Phase.shrink,) if os.environ.get("ORACLE_SHRINK") else ()
    return settings(
        max_examples=int(wished or examples),
        stateful_step_count=steps,
        derandomize=wished is None,
        phases=(Phase.generate, *reduce),
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


class SessionMachine(RuleBasedStateMachine):
    """Drives a duo; a subclass says who acts."""

    cast: ClassVar[tuple[Role, ...]]
    in_memory: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="oracle-"))
        self.duo = Duo(None if self.in_memory else self._folder, self.cast)

    def do(self, who: int, method: str, *args: Any) -> Outcome:
        """Run one operation by one of the cast."""
        return self.duo.act(who % len(self.duo), Call(method, args))[0]

    def branch(self, who: int, pick: int) -> str:
        """Choose a branch: the current one, main, an existing, a past or an unknown one."""
        facts = self.duo.facts_of(who % len(self.duo))
        known = [facts.current, "main", "nowhere", *facts.forks, *facts.forks, *facts.used]
        return known[pick % len(known)]

    @initialize(batch=batches)
    def begin(self, batch: list[dict[str, Any]]) -> None:
        """Begin with a conversation that has turns, so that short examples reach forks."""
        self.do(0, "add_items", [{"role": "user", "content": "weather in Paris"}, *batch])
        self.do(0, "add_items", [{"role": "user", "content": "and in 北京?"}])

    @rule(who=whos, batch=batches)
    def add(self, who: int, batch: list[dict[str, Any]]) -> None:
        """Append a batch."""
        self.do(who, "add_items", batch)
        self.look(who)

    @rule(who=whos, message=user_messages)
    def add_turn(self, who: int, message: dict[str, Any]) -> None:
        """Append a whole turn."""
        self.do(who, "add_items", [message])
        self.do(who, "add_items", [{"role": "assistant", "content": "yes"}])

    @rule(who=whos, bad=st.sampled_from((b"bytes", {1, 2}, object)))
    def add_what_cannot_be_stored(self, who: int, bad: Any) -> None:
        """A batch that fails half-way changes nothing."""
        self.do(who, "add_items", [{"role": "user", "content": "fine"}, {"role": "user", "content": bad}])
        self.look(who)

    @rule(who=whos, times=st.integers(1, 4))
    def pop(self, who: int, times: int) -> None:
        """Remove the newest items."""
        for _ in range(times):
            self.do(who, "pop_item")
        self.look(who)

    @rule(who=whos, sure=st.integers(0, 3))
    def clear(self, who: int, sure: int) -> None:
        """Clear the conversation, now and then."""
        if sure == 0:
            self.do(who, "clear_session")
            for other in range(len(self.duo)):
                self.look(other)

    @rule(who=whos, turn=turns, name=names)
    def fork(self, who: int, turn: int, name: str | None) -> None:
        """Fork before a turn."""
        self.do(who, "create_branch_from_turn", turn, name)
        self.look(who)

    @rule(who=whos, term=terms, name=names)
    def fork_by_content(self, who: int, term: str, name: str | None) -> None:
        """Fork at the turn that holds a term."""
        self.do(who, "create_branch_from_content", term, name)
        self.look(who)

    @rule(who=whos, pick=picks)
    def switch(self, who: int, pick: int) -> None:
        """Switch to a branch."""
        self.do(who, "switch_to_branch", self.branch(who, pick))
        self.look(who)

    @rule(who=whos, pick=picks, force=st.booleans(), blank=st.integers(0, 9))
    def delete(self, who: int, pick: int, force: bool, blank: int) -> None:
        """Delete a branch."""
        self.do(who, "delete_branch", "  "[:blank] if blank < 3 else self.branch(who, pick), force)
        self.look(who)

    @rule(who=whos, usage=usages)
    def store_usage(self, who: int, usage: tuple[int, ...]) -> None:
        """Store a run's usage."""
        self.do(who, "store_run_usage", *usage)
        self.do(who, "get_turn_usage")
        self.do(who, "get_session_usage")

    @rule(who=whos, limit=limits, pick=st.one_of(st.none(), picks))
    def read_items(self, who: int, limit: int | None, pick: int | None) -> None:
        """Read a part of some branch."""
        self.do(who, "get_items", limit, None if pick is None else self.branch(who, pick))

    @rule(who=whos, term=terms, pick=st.one_of(st.none(), picks))
    def find(self, who: int, term: str, pick: int | None) -> None:
        """Search a branch."""
        self.do(who, "find_turns_by_content", term, None if pick is None else self.branch(who, pick))

    @rule(who=whos, pick=st.one_of(st.none(), picks), turn=st.one_of(st.none(), turns))
    def query(self, who: int, pick: int | None, turn: int | None) -> None:
        """Ask for everything about a branch."""
        self.look_at(who, None if pick is None else self.branch(who, pick))
        self.do(who, "get_turn_usage", turn, None if pick is None else self.branch(who, pick))

    @rule(who=whos, begun=st.lists(st.sampled_from(("add", "turn", "usage", "pop")), min_size=2, max_size=5))
    def together(self, who: int, begun: list[str]) -> None:
        """Begin several writes at once: they happen in the order of the calls."""
        kinds = {
            "add": Call("add_items", ([{"role": "assistant", "content": "more"}],)),
            "turn": Call("add_items", ([{"role": "user", "content": "next"}],)),
            "usage": Call("store_run_usage", (1, 10, 2, 5, 1)),
            "pop": Call("pop_item"),
        }
        self.duo.act(who % len(self.duo), *(kinds[kind] for kind in begun))
        self.look(who)

    @rule(pick=picks)
    def damage_a_row(self, pick: int) -> None:
        """Make some message's row unreadable."""

        def spoil(connection: sqlite3.Connection) -> None:
            ids = [row[0] for row in connection.execute("SELECT id FROM agent_messages ORDER BY id")]
            if ids:
                bad = ("{broken", ids[pick % len(ids)])
                connection.execute("UPDATE agent_messages SET message_data = ? WHERE id = ?", bad)

        if pick % 4 == 0:
            self.duo.on_both_files(spoil)

    @rule(who=whos)
    def another_loop(self, who: int) -> None:
        """Go on under another event loop."""
        self.duo.renew_loop(who % len(self.duo))

    @rule(who=whos)
    def reopen(self, who: int) -> None:
        """Close and open again."""
        self.duo.reopen(who % len(self.duo))
        self.look(who)

    def look(self, who: int) -> None:
        """Compare what is seen at a glance."""
        self.do(who, "get_items")
        self.do(who, "list_branches")

    def look_at(self, who: int, branch: str | None) -> None:
        """Compare everything that can be asked about a branch."""
        args = () if branch is None else (branch,)
        for method in (
            "get_conversation_turns",
            "get_conversation_by_turns",
            "get_tool_usage",
            "get_session_usage",
        ):
            self.do(who, method, *args)
        self.do(who, "get_items", None, branch)
        self.do(who, "get_turn_usage", None, branch)
        self.do(who, "find_turns_by_content", "", branch)

    def teardown(self) -> None:
        """Compare all branches a last time."""
        try:
            for who in range(len(self.duo)):
                facts = self.duo.facts_of(who)
                for branch in (None, "main", *facts.forks):
                    self.look_at(who, branch)
                self.do(who, "list_branches")
        finally:
            self.duo.close()
            shutil.rmtree(self._folder)
