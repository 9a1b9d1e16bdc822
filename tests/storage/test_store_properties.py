"""Whatever is done to the branches of a conversation, its tree holds and its sums reconcile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from advchat_storage import Branch, UsageSum
from advchat_storage.usage_cuts import CutName
from tests.storage.scenes import CONVERSATION, Scene, user

Step = tuple[str, int, int]
"""What to do, and two numbers that choose where."""

_STEPS = st.tuples(
    st.sampled_from(["ask", "ask", "ask", "fork", "fork", "after", "pop", "delete", "bin", "restore", "add"]),
    st.integers(0, 30),
    st.integers(0, 30),
)


@dataclass
class Play:
    """A conversation on which steps are done, and what was paid on it."""

    scene: Scene
    paid: list[int | None] = field(default_factory=list)
    made: int = 0

    async def tree(self) -> list[Branch]:
        async with self.scene.store.session(CONVERSATION) as session:
            return await session.branch_tree()

    async def do(self, step: Step) -> None:
        """Do a step where it is possible."""
        what, first, second = step
        tree = await self.tree()
        branch = tree[first % len(tree)]
        name = branch.branch_id
        if what == "ask":
            cost = None if second % 7 == 0 else second
            tokens = None if second % 5 == 0 else second
            await self.scene.ask(
                f"prompt {second}",
                branch=name,
                input_tokens=second,
                output_tokens=tokens,
                cost_nano=cost,
                model=f"model {second % 3}",
                tools=("a", "b")[: second % 3],
            )
            self.paid.append(cost)
        elif what in ("fork", "after") and branch.user_turns:
            self.made += 1
            turn = 1 + second % branch.user_turns
            await self.scene.fork(turn, source=name, name=f"b{self.made}", after=what == "after")
        elif what == "pop":
            await self.scene.pop(name, 1 + second % 4)
        elif what == "add":
            async with self.scene.store.session(CONVERSATION, branch_id=name) as session:
                await session.add_items(
                    [{"role": "assistant", "content": "more"}, user("by hand")][: 1 + second % 2]
                )
        elif what == "delete" and name != "main":
            await self.scene.delete(name)
        elif what == "bin" and name != "main":
            await self.scene.bin(name)
        elif what == "restore":
            await self._restore(second)

    async def _restore(self, number: int) -> None:
        async with self.scene.store.session(CONVERSATION) as session:
            binned = await session.binned_branches()
            if binned:
                await session.restore_branch(binned[number % len(binned)].branch_id)

    async def messages(self, branch: str) -> dict[int, int]:
        """Give first messages by turn."""
        count = await self.scene.store.turn_count(CONVERSATION, branch)
        headers = await self.scene.store.turn_headers(CONVERSATION, branch, 0, count)
        return {header.turn: header.message_id for header in headers}


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(_STEPS, max_size=25))
def test_sums_reconcile_and_the_tree_holds(steps: list[Step]) -> None:
    asyncio.run(_play(steps))


async def _play(steps: Sequence[Step]) -> None:
    async with Scene.open(":memory:") as scene:
        play = Play(scene)
        for step in steps:
            await play.do(step)
        await _sums_reconcile(play)
        await _tree_holds(play)
        await _siblings_agree(play)
        assert (await scene.store.check()).findings == ()


async def _sums_reconcile(play: Play) -> None:
    store = play.scene.store
    total = await store.usage()
    assert total.requests == len(play.paid)
    assert (total.cost_nano or 0) == sum(cost or 0 for cost in play.paid)
    binned, live = await store.usage(binned=True), await store.usage(binned=False)
    own = [(await store.branch_usage(CONVERSATION, branch.branch_id)).own for branch in await play.tree()]
    assert _sum([binned, live]) == _sum([total])
    assert _sum(own) == _sum([live])
    assert [usage.cost_nano for usage in own] == [branch.own_cost_nano for branch in await play.tree()]
    for cut in get_args(CutName):
        rows = await store.usage_by(cut)
        assert _sum([row.usage for row in rows]) == _sum([total]), cut
    cut_name: CutName = "turn"
    messages = [row.keys["message_id"] for row in await store.usage_by(cut_name)]
    assert len(set(messages)) == len(messages)


def _sum(usages: Sequence[UsageSum]) -> tuple[int, int, int, int, bool]:
    return (
        sum(usage.requests for usage in usages),
        sum(usage.input_tokens or 0 for usage in usages),
        sum(usage.output_tokens or 0 for usage in usages),
        sum(usage.cost_nano or 0 for usage in usages),
        any(usage.at_least for usage in usages),
    )


async def _tree_holds(play: Play) -> None:
    tree = await play.tree()
    assert (tree[0].branch_id, tree[0].parent, tree[0].fork_turn) == ("main", None, None)
    seen: dict[str, dict[int, int]] = {}
    for branch in tree:
        own = seen[branch.branch_id] = await play.messages(branch.branch_id)
        assert branch.user_turns == max(own, default=0)
        if branch.parent is None or branch.fork_turn is None:
            assert branch.branch_id == "main"
            continue
        parent = seen[branch.parent]
        for turn, message in own.items():
            if turn > 0:
                assert (parent.get(turn) == message) == (turn < branch.fork_turn)


async def _siblings_agree(play: Play) -> None:
    tree = await play.tree()
    parted: dict[str, dict[int, tuple[str, ...]]] = {}
    for branch in tree:
        turns = await play.scene.store.turns(CONVERSATION, branch.branch_id, 0, 99)
        parted[branch.branch_id] = {turn.turn: turn.siblings for turn in turns}
    for name, by_turn in parted.items():
        for turn, siblings in by_turn.items():
            assert not siblings or name in siblings
            for other in siblings:
                theirs = parted[other][turn]
                assert len(theirs) == len(siblings)
                assert theirs.index(other) == siblings.index(other)
