"""Any sequence of what people do with branches, against a model of lists in memory.

Each branch's history must be what the lists say, and the model server must receive nothing but that.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.flows.conftest import OpenDesk
from tests.flows.desk import Desk
from tests.server import Hold, ModelServer, say

T = TypeVar("T")
History = list[tuple[str, str]]


class Branches(RuleBasedStateMachine):
    """The program on one side, a dictionary of lists on the other."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp(prefix="advchat-"))
        self.histories: dict[str, History] = {"main": []}
        self.binned: dict[str, History] = {}
        self.current = "main"
        self.sent: list[list[str]] = []
        self.count = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(asyncio.wait_for(work, 60))

    @initialize()
    def begin(self) -> None:
        self.server = ModelServer()
        self.run(self.server.start())
        self.run(self._open())
        self.ask("Begin")

    async def _open(self) -> None:
        self.desk = Desk.of(self.folder / "chat.db", self.server)
        await self.desk.start()

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.run(self.desk.close())
            self.run(self.server.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    # What people do

    def ask(self, prompt: str) -> None:
        self.expect(prompt)
        assert self.run(self.desk.ask(prompt)).outcome == "completed"
        self.histories[self.current].append((prompt, f"Echo: {prompt}"))

    def expect(self, prompt: str) -> None:
        """Note the one request that asking now must make."""
        told = [line for turn in self.histories[self.current] for line in _lines(*turn)]
        self.sent.append([*told, f"user: {prompt}"])

    def fresh(self) -> str:
        self.count += 1
        return f"Prompt {self.count}"

    def turn(self, data: st.DataObject, history: History) -> int:
        return data.draw(st.integers(1, len(history)), label="turn")

    def stand_on(self, branch: str, history: History) -> None:
        assert branch not in self.histories
        assert branch not in self.binned
        self.histories[branch] = list(history)
        self.current = branch

    @rule()
    def send(self) -> None:
        self.ask(self.fresh())

    @rule()
    def stop_in_mid_answer(self) -> None:
        prompt = self.fresh()
        self.expect(prompt)
        self.server.when(prompt, say(f"part of {self.count}", Hold()))

        async def stop() -> None:
            ended = len(self.desk.finished)
            await self.desk.controller.send(prompt)
            await self.desk.streamed(f"part of {self.count}")
            await self.desk.controller.stop()
            await self.desk.ended(ended + 1)

        self.run(stop())
        self.histories[self.current].append((prompt, f"part of {self.count}"))

    @precondition(lambda self: self.histories[self.current])
    @rule(data=st.data(), after=st.booleans())
    def fork(self, data: st.DataObject, after: bool) -> None:
        history = self.histories[self.current]
        turn = self.turn(data, history)
        branch = self.run(self.desk.controller.fork(turn, after=after))
        self.stand_on(branch, history[: turn if after else turn - 1])

    @precondition(lambda self: self.histories[self.current])
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        history = self.histories[self.current]
        turn = self.turn(data, history)
        assert self.run(self.desk.controller.edit(turn)) == history[turn - 1][0]
        self.stand_on(self.desk.shown.branch_id, history[: turn - 1])
        self.ask(self.fresh())

    @precondition(lambda self: self.histories[self.current])
    @rule(data=st.data())
    def regenerate(self, data: st.DataObject) -> None:
        history = self.histories[self.current]
        turn = self.turn(data, history)
        prompt = history[turn - 1][0]
        ended = len(self.desk.finished)
        self.run(self.desk.controller.regenerate(turn))
        self.run(self.desk.ended(ended + 1))
        self.stand_on(self.desk.shown.branch_id, history[: turn - 1])
        self.expect(prompt)
        self.histories[self.current].append((prompt, f"Echo: {prompt}"))

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        self.current = data.draw(st.sampled_from(sorted(self.histories)), label="branch")
        self.run(self.desk.controller.switch(self.current))

    @precondition(lambda self: len(self.histories) > 1)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        branch = data.draw(st.sampled_from(sorted({*self.histories} - {"main"})), label="branch")
        self.run(self.desk.controller.delete_branch(branch))
        self.binned[branch] = self.histories.pop(branch)
        if branch == self.current:
            self.current = self.desk.shown.branch_id

    @precondition(lambda self: self.binned)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        branch = data.draw(st.sampled_from(sorted(self.binned)), label="branch")
        self.run(self.desk.controller.restore_branch(branch))
        self.histories[branch] = self.binned.pop(branch)

    @precondition(lambda self: len(self.histories) > 1)
    @rule(data=st.data())
    def carry(self, data: st.DataObject) -> None:
        full = sorted(branch for branch, history in self.histories.items() if history)
        source = data.draw(st.sampled_from(full), label="source")
        target = data.draw(st.sampled_from(sorted({*self.histories} - {source})), label="target")
        numbers = st.integers(1, len(self.histories[source]))
        turns = data.draw(st.lists(numbers, min_size=1, max_size=2, unique=True), label="turns")
        self.run(self.desk.controller.carry(source, turns, target))
        self.histories[target] += [self.histories[source][turn - 1] for turn in turns]

    @rule()
    def restart(self) -> None:
        self.run(self.desk.close())
        self.run(self._open())

    # What must hold

    @invariant()
    def the_place_is_kept(self) -> None:
        if hasattr(self, "desk"):
            assert self.desk.shown.branch_id == self.current
            assert {row.branch.branch_id for row in self.desk.shown.branches} == {*self.histories}
            assert {branch.branch_id for branch in self.desk.shown.binned} == {*self.binned}

    @invariant()
    def every_history_is_what_the_lists_say(self) -> None:
        if hasattr(self, "desk"):
            for branch, history in {**self.histories, **self.binned}.items():
                assert self.run(_stored(self.desk, branch)) == history, branch

    @invariant()
    def nothing_else_was_sent(self) -> None:
        if hasattr(self, "server"):
            assert [seen.lines for seen in self.server.requests] == self.sent


def _lines(prompt: str, answer: str) -> list[str]:
    return [f"user: {prompt}", f"assistant: {answer}"]


async def _stored(desk: Desk, branch: str) -> History:
    async with desk.controller.store.session(desk.shown.conversation_id) as session:
        items = await session.get_items(branch_id=branch)
    texts = [_text(item["content"]) for item in items]
    return list(zip(texts[::2], texts[1::2], strict=True))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


TestBranches = Branches.TestCase
TestBranches.settings = settings(
    max_examples=12,
    stateful_step_count=16,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


async def test_requests_are_byte_identical_on_the_shared_prefix(
    open_desk: OpenDesk, model_server: ModelServer, tmp_path: Path
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "from agents import Agent, function_tool\n"
        "@function_tool\ndef look(at: str) -> str:\n    'Look somewhere.'\n    return at\n"
        "agent = Agent(name='A', instructions='Be brief.', tools=[look])\n"
    )
    desk = await open_desk("--agent", f"{agent}:agent")
    for prompt in ("One", "Two", "Three"):
        await desk.ask(prompt)
    await desk.controller.fork(3)
    await desk.ask("Drei")
    await desk.controller.fork(3)
    await desk.ask("Trois")
    three, *forks = [seen.raw for seen in model_server.requests[2:]]
    shared = len(_items(three)) - 1
    assert shared == 4
    for fork in forks:
        assert _items(fork)[:shared] == _items(three)[:shared], "up to the last message before the fork"
        assert _around_items(fork) == _around_items(three), "tools and instructions too"


def _items(request: bytes) -> list[bytes]:
    """The messages of a request, each as the bytes that went out."""
    text = request.decode()
    start = text.index("[", text.index('"input":'))
    items, place = [], start + 1
    while text[place] != "]":
        place += text[place] == ","
        _, end = json.JSONDecoder().raw_decode(text, place)
        items.append(text[place:end].encode())
        place = end
    return items


def _around_items(request: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the messages."""
    items = b",".join(_items(request))
    before, _, after = request.partition(items)
    return before, after
