"""Turns carried from one branch to another, and taken back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advchat.actions import UserError
from tests.app.controller.desk import open_desk


async def test_a_carried_turn_is_not_taken_back_once_the_branch_has_gone_on(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1, title="other")
        await desk.ask("two")
        await desk.controller.carry(fork, [1], "main")
        await desk.controller.switch("main")
        await desk.ask("three")
        with pytest.raises(UserError, match="gone on"):
            await desk.controller.undo()
        assert await desk.history("main") == ["one", "re: one", "two", "re: two", "three", "re: three"]


async def test_a_turn_that_is_being_answered_is_not_carried(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1)
        desk.runner.held["two"] = asyncio.Event()
        await desk.controller.send("two")
        with pytest.raises(UserError, match="being answered"):
            await desk.controller.carry(fork, [1], "main")
        assert await desk.history("main") == ["one", "re: one"]


async def test_a_branch_without_a_title_is_named_by_its_id(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fork(1)
        await desk.controller.carry("main", [1], desk.controller.snapshot.branch_id)
        turns = await desk.controller.turns(0, 5)
        assert [turn.note for turn in turns] == ["from turn 1 of main"]
