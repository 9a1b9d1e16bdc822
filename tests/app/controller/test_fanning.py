"""One prompt on several branches at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advchat.actions import UserError
from advchat.state import Fan
from tests.app.controller.desk import Desk, open_desk


async def fan_of(desk: Desk) -> Fan:
    found = await desk.controller.fan_now()
    assert found is not None
    return found


async def test_a_fan_leaves_the_branch_shown_and_sends_on_each_new_one(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.ask("one")
        await desk.controller.save_draft("which?")
        await desk.controller.fan("red,green,blue", "which?")
        await desk.finished(4)

        fan = await fan_of(desk)
        assert [member.model for member in fan.members] == ["red", "green", "blue"]
        assert {member.status for member in fan.members} == {"completed"}
        assert desk.controller.snapshot.branch_id == "main"
        assert desk.controller.snapshot.fan is not None
        assert await desk.history("main") == ["one", "re: one"]
        for member in fan.members:
            assert member.turn == 2
            assert await desk.history(member.branch_id) == ["one", "re: one", "which?", "re: which?"]
        assert await desk.controller.store.draft(*desk.controller.place) == ""


async def test_in_an_empty_conversation_the_first_answer_grows_on_main(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.controller.fan("2", "hello")
        await desk.finished(2)

        members = (await fan_of(desk)).members
        assert [member.turn for member in members] == [1, 1]
        assert members[0].branch_id == "main"
        assert members[1].branch_id != "main"
        for member in members:
            assert await desk.history(member.branch_id) == ["hello", "re: hello"]


async def test_eight_members_answer_at_once_and_each_can_be_read_as_it_stands(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.ask("one")
        desk.runner.held["which?"] = asyncio.Event()
        await desk.controller.fan("8", "which?")
        await desk.until(lambda: len(desk.controller.snapshot.runs) == 8)

        fan = await fan_of(desk)
        assert len({member.run_id for member in fan.members}) == 8
        for member in fan.members:
            assert member.status == "running"
            turn = await desk.controller.turn_on(member.branch_id, member.turn)
            assert turn is not None
            assert (turn.prompt, turn.status) == ("which?", "running")
        await desk.controller.send("meanwhile, here")
        await desk.finished(2)
        assert await desk.history("main") == ["one", "re: one", "meanwhile, here", "re: meanwhile, here"]
        desk.runner.held["which?"].set()
        await desk.finished(10)


async def test_keeping_shows_one_and_the_others_stay(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.ask("one")
        await desk.controller.fan("3", "which?")
        await desk.finished(4)
        members = (await fan_of(desk)).members
        await desk.controller.keep(members[1].branch_id)

        assert desk.controller.snapshot.branch_id == members[1].branch_id
        await desk.until(lambda: desk.controller.snapshot.fan is None)
        assert len(desk.controller.snapshot.branches) == 4
        await desk.controller.sibling(1)
        assert desk.controller.snapshot.branch_id == members[2].branch_id


async def test_going_on_from_one_forks_it_and_not_while_it_is_answered(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.ask("one")
        gate = desk.runner.held["which?"] = asyncio.Event()
        await desk.controller.fan("2", "which?")
        member = (await fan_of(desk)).members[0]
        with pytest.raises(UserError, match="being answered"):
            await desk.controller.fork_on(member.branch_id, member.turn)
        gate.set()
        await desk.finished(3)
        made = await desk.controller.fork_on(member.branch_id, member.turn)

        assert desk.controller.snapshot.branch_id == made
        assert await desk.history(made) == ["one", "re: one", "which?", "re: which?"]
        row = next(row for row in desk.controller.snapshot.branches if row.branch.branch_id == made)
        assert row.branch.parent == member.branch_id


async def test_a_branch_that_is_being_answered_is_not_fanned_out(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        desk.runner.held["one"] = asyncio.Event()
        await desk.controller.send("one")
        with pytest.raises(UserError, match="being answered"):
            await desk.controller.fan("2", "which?")
        assert len(desk.controller.snapshot.branches) <= 1


async def test_a_fan_is_of_its_conversation(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "chat.db") as desk:
        await desk.ask("one")
        await desk.controller.fan("2", "which?")
        await desk.finished(3)
        first = desk.controller.snapshot.conversation_id
        await desk.controller.new_conversation()
        assert desk.controller.snapshot.fan is None
        await desk.controller.open_conversation(first)
        assert desk.controller.snapshot.fan is not None
        desk.controller.dismiss_fan()
        await desk.until(lambda: desk.controller.snapshot.fan is None)
