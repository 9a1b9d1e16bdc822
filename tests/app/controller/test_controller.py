from pathlib import Path

import pytest

from advchat.actions import UserError
from advchat.controller import StartAt
from advchat.events import RunFinished, TextDelta
from tests.app.controller.desk import open_desk


async def test_a_prompt_is_answered_and_the_place_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    async with open_desk(path) as desk:
        await desk.ask("hello there")
        assert await desk.history("main") == ["hello there", "re: hello there"]
        await desk.until(lambda: desk.controller.snapshot.conversation_title == "hello there")
        await desk.controller.fork(1, title="other")
        await desk.ask("bye")
        branch = desk.controller.snapshot.branch_id
        assert await desk.history(branch) == ["bye", "re: bye"]

    async with open_desk(path) as desk:
        shown = desk.controller.snapshot
        assert (shown.branch_id, shown.branch_title, shown.turn_count) == (branch, "other", 1)
        assert [row.branch.branch_id for row in shown.branches] == ["main", branch]


async def test_an_answer_lands_on_its_branch_while_another_is_shown(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        desk.runner.hold("slow")
        await desk.controller.send("slow")
        fork = await desk.controller.fork(1)
        await desk.ask("quick")
        assert desk.controller.live("main") is not None
        desk.runner.let_go("slow")
        await desk.finished(3)

        assert await desk.history("main") == ["one", "re: one", "slow", "re: slow"]
        assert await desk.history(fork) == ["quick", "re: quick"]
        await desk.until(
            lambda: any(
                r.branch.branch_id == "main" and r.branch.unread for r in desk.controller.snapshot.branches
            )
        )
        await desk.controller.switch("main")
        assert not any(row.branch.unread for row in desk.controller.snapshot.branches)


async def test_a_prompt_on_a_busy_branch_waits_and_can_be_taken_back(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.hold("slow")
        await desk.controller.send("slow")
        await desk.controller.send("next")
        await desk.controller.send("never mind")
        await desk.until(lambda: len(desk.controller.snapshot.queue) == 2)
        queued = desk.controller.snapshot.queue

        assert desk.controller.unqueue(queued[1].queue_id) == "never mind"
        assert desk.controller.unqueue(queued[1].queue_id) == ""
        desk.runner.let_go("slow")
        await desk.finished(2)

        assert await desk.history("main") == ["slow", "re: slow", "next", "re: next"]


async def test_stopping_keeps_what_came(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.hold("slow")
        await desk.controller.send("slow")
        await desk.until(lambda: any(isinstance(event, TextDelta) for event in desk.events))
        await desk.controller.stop()
        turn = (await desk.controller.turns(0, 1))[0]

        assert turn.status == "stopped"
        assert [item.text for item in turn.items] == ["re: "]
        assert turn.actions == ("continue", "retry")


async def test_a_run_stopped_before_it_has_begun_ends(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.hold("slow")
        await desk.controller.send("slow")
        await desk.controller.stop()

        assert not desk.runner.requests
        assert (await desk.controller.turns(0, 1))[0].status == "stopped"


async def test_a_failure_is_told_and_the_queue_is_held_until_the_next_prompt(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.failing.add("bad")
        desk.runner.hold("bad")
        await desk.controller.send("bad")
        await desk.controller.send("after")
        desk.runner.let_go("bad")
        await desk.finished(1)
        assert isinstance(desk.events[-1], RunFinished)
        assert desk.events[-1].error == "It failed."
        await desk.until(lambda: [prompt.text for prompt in desk.controller.snapshot.queue] == ["after"])

        await desk.controller.send("go")
        await desk.finished(3)
        assert [text for text in await desk.history("main") if not text.startswith("re:")] == [
            "bad",
            "after",
            "go",
        ]


async def test_usage_and_cost_reach_the_panel(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.ask("two")
        await desk.until(lambda: desk.controller.snapshot.usage.conversation.requests == 2)
        await desk.controller.fork(2)
        await desk.ask("three")
        await desk.until(lambda: desk.controller.snapshot.usage.conversation.requests == 3)
        usage = desk.controller.snapshot.usage

        assert usage.conversation.total_tokens == 45
        assert usage.conversation.cost_nano == 45
        assert usage.branch.own.total_tokens == 15
        assert usage.branch.inherited.total_tokens == 15
        assert usage.context_tokens == 15
        assert [bar.turn for bar in usage.bars] == [1, 2]


async def test_what_is_deleted_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    async with open_desk(path) as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1, title="idea")
        await desk.ask("two")
        await desk.controller.delete_branch("idea")
        assert desk.controller.snapshot.branch_id == "main"
        assert [branch.branch_id for branch in desk.controller.snapshot.binned] == [fork]
        assert await desk.controller.undo() == "deleted “idea”"
        assert desk.controller.snapshot.branch_id == fork
        await desk.controller.delete_branch("idea")

    async with open_desk(path) as desk:
        await desk.controller.undo()
        await desk.controller.switch("idea")
        assert await desk.history(fork) == ["two", "re: two"]


async def test_deleting_a_branch_stops_its_run_and_nothing_comes_back(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1)
        desk.runner.hold("slow")
        await desk.controller.send("slow")
        await desk.controller.delete_branch(fork)

        assert not desk.controller.snapshot.runs
        assert [row.branch.branch_id for row in desk.controller.snapshot.branches] == ["main"]


async def test_steps_are_undone_one_after_the_other(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1, title="first name")
        await desk.controller.rename_branch(fork, "second name")
        await desk.controller.rename_conversation("a title")
        await desk.controller.undo()
        assert desk.controller.snapshot.conversation_title == "one"
        await desk.controller.undo()
        assert desk.controller.snapshot.branch_title == "first name"
        await desk.controller.undo()
        assert [row.branch.branch_id for row in desk.controller.snapshot.branches] == ["main"]


async def test_a_title_that_several_branches_have_is_told_from_none(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        for _ in range(2):
            await desk.controller.switch("main")
            await desk.controller.fork(1, title="idea")

        with pytest.raises(UserError, match="fits several branches"):
            await desk.controller.switch("idea")
        with pytest.raises(UserError, match="no branch “other”"):
            await desk.controller.switch("other")


async def test_a_renaming_is_undone_on_a_branch_that_named_itself(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1)
        await desk.ask("two")
        await desk.until(lambda: desk.controller.snapshot.branch_title == "two")
        await desk.controller.rename_branch(fork, "by hand")
        await desk.controller.undo()

        branch = desk.controller.snapshot.branches[1].branch
        assert (branch.title, branch.title_source) == ("two", "auto")


async def test_a_name_given_by_hand_is_never_replaced(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.hold("first prompt")
        await desk.controller.send("first prompt")
        await desk.controller.rename_conversation("mine")
        desk.runner.let_go("first prompt")
        await desk.finished()
        await desk.ask("more")
        fork = await desk.controller.fork(1)
        await desk.controller.rename_branch(fork, "my branch")
        await desk.ask("again")

        await desk.until(lambda: desk.controller.snapshot.branch_title == "my branch")
        assert desk.controller.snapshot.conversation_title == "mine"


async def test_an_untitled_fork_is_named_after_its_first_prompt(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fork(1)
        await desk.ask("try  it\nanother way")

        await desk.until(lambda: desk.controller.snapshot.branch_title == "try it another way")


async def test_regenerate_edit_and_retry_never_overwrite(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.regenerate(1)
        await desk.finished(2)
        await desk.controller.switch("main")
        assert await desk.controller.edit(1) == "one"
        await desk.ask("one, changed")

        assert await desk.history("main") == ["one", "re: one"]
        await desk.controller.switch("main")
        turn = (await desk.controller.turns(0, 1))[0]
        assert len(turn.siblings) == 3
        assert turn.sibling_index == 0


async def test_retry_answers_an_unanswered_prompt_in_place(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        desk.runner.failing.add("bad")
        await desk.ask("bad")
        desk.runner.failing.clear()
        await desk.controller.retry_turn(1)
        await desk.finished(2)

        assert await desk.history("main") == ["bad", "re: bad"]
        assert (await desk.controller.turns(0, 1))[0].status == "completed"


async def test_siblings_parent_and_child_are_reached(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        with pytest.raises(UserError, match="no siblings"):
            await desk.controller.sibling(1)
        first = await desk.controller.fork(1)
        await desk.ask("two")
        await desk.controller.sibling(1)
        assert desk.controller.snapshot.branch_id == "main"
        await desk.controller.child()
        assert desk.controller.snapshot.branch_id == first
        await desk.controller.parent()
        assert desk.controller.snapshot.branch_id == "main"
        with pytest.raises(UserError, match="no parent"):
            await desk.controller.parent()


@pytest.mark.parametrize("turn", [0, 2, 99])
async def test_a_fork_of_a_turn_that_is_not_there_is_refused(tmp_path: Path, turn: int) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        with pytest.raises(UserError, match=f"no turn {turn} to fork on this branch; it has 1"):
            await desk.controller.fork(turn)


async def test_bad_requests_are_refused_in_one_line(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        for refused in (
            desk.controller.send("  \n"),
            desk.controller.switch("nothing"),
            desk.controller.fork(1),
            desk.controller.open_conversation("nothing"),
            desk.controller.undo(),
            desk.controller.delete_branch("main"),
            desk.controller.export(str(tmp_path / "x.md")),
            desk.controller.set_budget("lots"),
            desk.controller.fan("1", "x"),
            desk.controller.fan("3", " "),
        ):
            with pytest.raises(UserError) as told:
                await refused
            assert "\n" not in str(told.value)


async def test_drafts_are_kept_per_branch(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.save_draft("on main")
        fork = await desk.controller.fork(1)
        assert desk.controller.snapshot.draft == ""
        await desk.controller.save_draft("on the fork")
        await desk.controller.switch("main")
        assert desk.controller.snapshot.draft == "on main"
        await desk.controller.switch(fork)
        assert desk.controller.snapshot.draft == "on the fork"


async def test_the_conversation_asked_for_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    async with open_desk(path) as desk:
        await desk.ask("first conversation")
        await desk.controller.new_conversation()
        assert desk.controller.snapshot.turn_count == 0
        await desk.ask("second conversation")

    async with open_desk(path, StartAt(conversation="first conversation")) as desk:
        assert desk.controller.snapshot.conversation_title == "first conversation"
    async with open_desk(path, StartAt(new=True)) as desk:
        assert desk.controller.snapshot.turn_count == 0
        assert len(await desk.controller.conversations(0, 10)) == 2
    async with open_desk(path) as desk:
        assert desk.controller.snapshot.conversation_title == "second conversation"


async def test_a_fan_asks_several_siblings_at_once(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.fan("red,green,blue", "which?")
        await desk.finished(4)
        fan = await desk.controller.fan_now()
        assert fan is not None
        assert [member.model for member in fan.members] == ["red", "green", "blue"]
        assert [member.usage.total_tokens for member in fan.members] == [15, 15, 15]
        for member in fan.members:
            assert await desk.history(member.branch_id) == ["one", "re: one", "which?", "re: which?"]
        assert await desk.history("main") == ["one", "re: one"]
        await desk.controller.keep(fan.members[1].branch_id)
        assert desk.controller.snapshot.branch_id == fan.members[1].branch_id
        assert desk.controller.snapshot.fan is None


async def test_a_fan_on_an_empty_conversation_begins_on_main(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.controller.fan("2", "which?")
        await desk.finished(2)
        fan = await desk.controller.fan_now()
        assert fan is not None
        assert [await desk.history(member.branch_id) for member in fan.members] == [
            ["which?", "re: which?"]
        ] * 2


async def test_branches_are_compared_from_their_fork_point(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.ask("two")
        await desk.controller.fork(2, title="other")
        await desk.ask("three")
        compared = await desk.controller.compare("main", "other")

        assert compared.shared_turns == 1
        assert [(row.left and row.left.prompt, row.right and row.right.prompt) for row in compared.turns] == [
            ("two", "three")
        ]
        assert compared.left.usage.total_tokens == 15


async def test_turns_are_carried_with_their_origin_and_taken_back(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        fork = await desk.controller.fork(1, title="other")
        await desk.ask("two")
        await desk.controller.carry(fork, [1], "main")
        assert await desk.history("main") == ["one", "re: one", "two", "re: two"]
        await desk.controller.switch("main")
        assert (await desk.controller.turns(1, 2))[0].note == "from turn 1 of other"
        await desk.controller.undo()
        assert await desk.history("main") == ["one", "re: one"]


def read(path: str) -> str:
    return Path(path).read_text()


async def test_a_branch_is_exported_as_markdown(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        target = await desk.controller.export(str(tmp_path / "out.md"))
        text = read(target)
        assert "one" in text
        assert "re: one" in text
        with pytest.raises(UserError, match="exists already"):
            await desk.controller.export(target)
