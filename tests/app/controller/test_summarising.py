from pathlib import Path

import pytest

from advchat.actions import UserError
from tests.app.controller.desk import open_desk


async def test_a_summary_is_asked_for_beside_its_source_and_carried_when_whole(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1, title="idea")
        await desk.ask("two")
        await desk.controller.carry_summary("idea", "main")
        await desk.until(lambda: len(desk.controller.snapshot.branches) == 3)
        await desk.finished(3)
        await desk.controller.switch("main")
        await desk.until(lambda: desk.controller.snapshot.turn_count == 2)

        carried = (await desk.controller.turns(1, 2))[0]
        assert "branch “idea”" in carried.prompt
        assert carried.items[0].text.startswith("re: Summarise")
        assert carried.note is not None
        assert await desk.history(fork) == ["two", "re: two"]
        assert desk.controller.snapshot.usage.conversation.requests == 3
        await desk.controller.undo()
        assert await desk.history("main") == ["one", "re: one"]


async def test_a_summary_that_fails_is_not_carried(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fork(1, title="idea")
        await desk.ask("two")
        desk.runner.fail_all = True
        await desk.controller.carry_summary("idea", "main")
        await desk.finished(3)

        assert await desk.history("main") == ["one", "re: one"]


async def test_a_summary_waits_for_the_prompts_queued_where_it_goes(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fork(1, title="idea")
        await desk.ask("two")
        await desk.controller.switch("main")
        for prompt in ("first", "second"):
            desk.runner.hold(prompt)
            await desk.controller.send(prompt)
        await desk.controller.carry_summary("idea", "main")
        await desk.finished(3)
        desk.runner.let_go("first")
        await desk.until(lambda: desk.runner.requests[-1].prompt == "second")
        await desk.history("main")
        desk.runner.let_go("second")
        await desk.until(lambda: desk.controller.snapshot.turn_count == 4 and not desk.controller.snapshot.runs)

        history = await desk.history("main")
        assert history[4:6] == ["second", "re: second"]
        assert history[7].startswith("re: Summarise")


async def test_a_summary_needs_two_branches_and_a_turn(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fork(1, title="empty")
        with pytest.raises(UserError, match="another branch"):
            await desk.controller.carry_summary("main", "main")
        with pytest.raises(UserError, match="no turns yet"):
            await desk.controller.carry_summary("empty", "main")
