"""Runs and where they land: the real controller, store and runner against the test server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advchat.actions import UserError
from tests.flows.conftest import OpenDesk
from tests.server import Call, Cut, Hold, ModelServer, Reasoning, Usage, Wait, say


@pytest.mark.parametrize("fails", ["as it is loaded", "in a tool"])
async def test_a_crash_in_the_users_code_is_shown_with_its_traceback(
    open_desk: OpenDesk, model_server: ModelServer, tmp_path: Path, fails: str
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "from agents import Agent, function_tool\n"
        "def crash() -> str:\n    raise RuntimeError('boom')\n"
        "@function_tool(failure_error_function=None)\ndef look() -> str:\n    return crash()\n"
        "agent = Agent(name='A', tools=[look])\n" + ("crash()\n" if fails == "as it is loaded" else "")
    )
    model_server.script(say(Call("look")))
    desk = await open_desk("--agent", f"{agent}:agent")
    assert (await desk.ask("Look")).outcome == "failed"
    (view,) = await desk.views()
    assert view.detail is not None
    assert "agent.py" in view.detail
    assert "in crash" in view.detail


async def test_three_turns_a_fork_and_back(open_desk: OpenDesk, model_server: ModelServer) -> None:
    desk = await open_desk()
    for prompt in ("One", "Two", "Three"):
        await desk.ask(prompt)
    await desk.controller.fork(2)
    assert (desk.shown.turn_count, desk.shown.draft) == (1, "")
    await desk.ask("Zwei")
    await desk.controller.switch("main")
    await desk.ask("Four")
    first = ["user: One", "assistant: Echo: One"]
    assert model_server.requests[3].lines == [*first, "user: Zwei"]
    assert model_server.requests[4].lines == [
        *first, "user: Two", "assistant: Echo: Two", "user: Three", "assistant: Echo: Three", "user: Four",
    ]  # fmt: skip
    usage = desk.shown.usage
    await desk.until(lambda: desk.shown.usage.everything.requests == 5)
    usage = desk.shown.usage
    billed = model_server.billed
    assert usage.everything.total_tokens == billed.total
    assert usage.conversation.total_tokens == billed.total
    assert usage.branch.inherited.requests == 0
    assert usage.branch.own.requests == 4


async def test_case_71_a_fork_never_changes_its_parent(open_desk: OpenDesk) -> None:
    desk = await open_desk()
    await desk.ask("One")
    await desk.ask("Two")
    before = await desk.said()
    prompt = await desk.controller.edit(2)
    assert prompt == "Two"
    await desk.ask("Two, but better")
    edited = desk.shown.branch_id
    await desk.controller.regenerate(1)
    await desk.ended(4)
    await desk.controller.switch("main")
    assert await desk.said() == before
    await desk.controller.delete_branch(edited)
    assert await desk.said() == before


async def test_case_74_a_stream_stays_where_it_was(open_desk: OpenDesk, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    model_server.when("Slow", say("slow ", Wait(gate), "answer", usage=Usage(input=10, output=2)))
    model_server.when("Quick", say("quick answer", usage=Usage(input=5, output=1)))
    desk = await open_desk()
    await desk.controller.send("Slow question")
    slow = desk.shown.conversation_id
    await desk.streamed("slow ")
    await desk.controller.new_conversation()
    await desk.ask("Quick question")
    assert await desk.said() == ["Quick question → quick answer"]
    await desk.until(lambda: [run.conversation_id for run in desk.shown.runs] == [slow])
    gate.set()
    await desk.ended(2)
    assert await desk.said() == ["Quick question → quick answer"]
    assert desk.shown.usage.conversation.total_tokens == 6
    assert desk.shown.conversation_title == "Quick question"
    await desk.controller.open_conversation(slow)
    assert await desk.said() == ["Slow question → slow answer"]
    await desk.until(lambda: desk.shown.usage.conversation.total_tokens == 12)
    assert desk.shown.conversation_title == "Slow question"
    assert desk.shown.usage.everything.total_tokens == 18


async def test_eight_branches_answer_at_once(open_desk: OpenDesk, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    desk = await open_desk()
    await desk.ask("Begin")
    for number in range(8):
        model_server.when(f"Way {number}", say(f"part {number} ", Wait(gate), f"end {number}"))
        await desk.controller.switch("main")
        await desk.controller.fork(1, after=True)
        await desk.controller.send(f"Way {number}")
    await desk.until(lambda: all(f"part {number}" in desk.streamed_text() for number in range(8)))
    await desk.until(lambda: len(desk.shown.runs) == 8)
    gate.set()
    await desk.ended(9)
    for number in range(8):
        await desk.controller.switch(f"Way {number}")
        assert (await desk.said())[1:] == [f"Way {number} → part {number} end {number}"]


async def test_case_43_a_second_prompt_waits_its_turn(open_desk: OpenDesk, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    model_server.when("One", say("first", Wait(gate)))
    desk = await open_desk()
    await desk.controller.send("One")
    await desk.streamed("first")
    await desk.controller.send("Two")
    await desk.controller.send("Three")
    await desk.until(lambda: [prompt.text for prompt in desk.shown.queue] == ["Two", "Three"])
    assert desk.controller.unqueue(desk.shown.queue[0].queue_id) == "Two"
    await desk.until(lambda: [prompt.text for prompt in desk.shown.queue] == ["Three"])
    gate.set()
    await desk.ended(2)
    assert await desk.said() == ["One → first", "Three → Echo: Three"]
    assert [seen.lines[-1] for seen in model_server.requests] == ["user: One", "user: Three"]


async def test_case_38_two_sends_at_once_are_one_request_each(
    open_desk: OpenDesk, model_server: ModelServer
) -> None:
    desk = await open_desk()
    await asyncio.gather(desk.controller.send("Same"), desk.controller.send("Same"))
    await desk.ended(2)
    assert [seen.lines for seen in model_server.requests] == [
        ["user: Same"],
        ["user: Same", "assistant: Echo: Same", "user: Same"],
    ]


@pytest.mark.parametrize("came", ["par", ""])
async def test_case_40_stopping_keeps_what_came_and_the_ledger_straight(
    open_desk: OpenDesk, model_server: ModelServer, came: str
) -> None:
    parts = (came, Hold()) if came else (Hold(),)
    model_server.when("Long", say(*parts))
    desk = await open_desk()
    await desk.ask("Hello")
    await desk.controller.send("Long")
    if came:
        await desk.streamed(came)
    seen = await model_server.arrived(2)
    await asyncio.wait_for(desk.controller.stop(), 1.5)
    assert desk.finished[-1].outcome == "stopped"
    await asyncio.wait_for(seen.gone.wait(), 5)
    assert await desk.said() == ["Hello → Echo: Hello", f"Long → {came} (stopped)"]
    stopped = (await desk.views())[1].usage
    assert (stopped.requests, stopped.total_tokens, stopped.at_least) == (1, None, True)
    await desk.ask("Go on")
    kept = [f"assistant: {came}"] if came else []
    assert model_server.requests[2].lines == [
        "user: Hello", "assistant: Echo: Hello", "user: Long", *kept, "user: Go on",
    ]  # fmt: skip


async def test_case_55_what_a_stopped_turn_cost_is_unknown_not_zero(
    open_desk: OpenDesk, model_server: ModelServer
) -> None:
    model_server.script(say("par", Hold()))
    desk = await open_desk()
    await desk.controller.send("Long")
    await desk.streamed("par")
    await desk.controller.stop()
    await desk.until(lambda: desk.shown.usage.everything.requests == 1)
    everything = desk.shown.usage.everything
    assert (everything.total_tokens, everything.cost_nano, everything.at_least) == (None, None, True)


async def test_case_73_deleting_a_branch_stops_its_run_and_it_stays_deleted(
    open_desk: OpenDesk, model_server: ModelServer
) -> None:
    model_server.when("Doomed", say("par", Hold()))
    desk = await open_desk()
    await desk.ask("Hello")
    branch = await desk.controller.fork(1)
    await desk.controller.send("Doomed")
    await desk.controller.send("Never sent")
    await desk.streamed("par")
    await desk.controller.delete_branch(branch)
    assert (await model_server.arrived(2)).gone.is_set() or await asyncio.wait_for(
        model_server.requests[1].gone.wait(), 5
    )
    assert desk.shown.branch_id == "main"
    assert desk.shown.runs == ()
    assert desk.shown.queue == ()
    assert [row.branch.branch_id for row in desk.shown.branches] == ["main"]
    assert [binned.branch_id for binned in desk.shown.binned] == [branch]
    assert len(model_server.requests) == 2
    await desk.controller.undo()
    await desk.controller.switch(branch)
    assert await desk.said() == ["Doomed → par (stopped)"]


async def test_case_75_a_title_by_hand_wins(open_desk: OpenDesk, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    model_server.when("First", say("a", Wait(gate), "b"))
    desk = await open_desk()
    await desk.controller.send("First prompt")
    await desk.streamed("a")
    await desk.controller.rename_conversation("By hand")
    gate.set()
    await desk.ended(1)
    await desk.controller.regenerate(1)
    await desk.ended(2)
    await desk.controller.rename_branch(desk.shown.branch_id, "Mine")
    await desk.ask("More")
    assert desk.shown.conversation_title == "By hand"
    assert desk.shown.branch_title == "Mine"


async def test_case_69_the_chosen_branch_is_there_after_a_restart(open_desk: OpenDesk) -> None:
    desk = await open_desk()
    await desk.ask("One")
    older = await desk.controller.fork(1, title="Older")
    await desk.ask("Uno")
    await desk.controller.switch("main")
    await desk.controller.fork(1, title="Newer")
    await desk.ask("Un")
    await desk.controller.switch("Older")
    await desk.controller.new_conversation()
    await desk.ask("Elsewhere")
    elsewhere = desk.shown.conversation_id
    await desk.controller.open_conversation("One")
    assert desk.shown.branch_id == older
    await desk.close()
    again = await open_desk("--conversation", "One")
    assert again.shown.branch_id == older
    assert await again.said() == ["Uno → Echo: Uno"]
    await again.close()
    latest = await open_desk()
    assert latest.shown.conversation_id in (elsewhere, again.shown.conversation_id)


async def test_case_67_nothing_is_orphaned_by_deleting_an_inner_branch(open_desk: OpenDesk) -> None:
    desk = await open_desk()
    await desk.ask("One")
    await desk.ask("Two")
    inner = await desk.controller.fork(2, title="Inner")
    await desk.ask("Zwei")
    await desk.ask("Drei")
    outer = await desk.controller.fork(3, title="Outer")
    await desk.ask("Trois")
    said = await desk.said()
    await desk.controller.delete_branch(inner)
    await desk.close()
    again = await open_desk()
    tree = {row.branch.branch_id: row for row in again.shown.branches}
    if outer in tree:
        assert tree[outer].branch.parent in tree or tree[outer].branch.parent is None
        await again.controller.switch(outer)
        assert await again.said() == said
    await again.controller.undo()
    await again.controller.switch(outer)
    assert await again.said() == said


async def test_a_draft_belongs_to_its_branch(open_desk: OpenDesk) -> None:
    desk = await open_desk()
    await desk.ask("One")
    await desk.controller.save_draft("half a thou")
    await desk.controller.fork(1)
    assert desk.shown.draft == ""
    await desk.controller.save_draft("ght")
    await desk.controller.switch("main")
    assert desk.shown.draft == "half a thou"
    await desk.close()
    assert (await open_desk()).shown.draft == "half a thou"


async def test_case_08_a_lone_surrogate_breaks_nothing(open_desk: OpenDesk, model_server: ModelServer) -> None:
    model_server.script(say("ab\ud800cd"))
    desk = await open_desk()
    assert (await desk.ask("x\udfffy")).outcome == "completed"
    assert await desk.said() == ["x\ufffdy → ab\ufffdcd"]
    assert (await desk.ask("Still there?")).outcome == "completed"
    assert model_server.requests[1].lines == ["user: x\ufffdy", "assistant: ab\ufffdcd", "user: Still there?"]


async def test_case_10_nul_loses_nothing(open_desk: OpenDesk, model_server: ModelServer) -> None:
    model_server.script(say("ab\0cd"))
    desk = await open_desk()
    await desk.ask("Hi")
    await desk.close()
    again = await open_desk()
    (said,) = await again.said()
    assert said.replace("\ufffd", "\0") == "Hi → ab\0cd"
    assert len(await again.controller.search("cd")) == 1


async def test_case_42_stopped_reasoning_is_not_sent(open_desk: OpenDesk, model_server: ModelServer) -> None:
    model_server.script(say(Reasoning("Let me think"), Hold()))
    desk = await open_desk()
    await desk.controller.send("Think")
    await model_server.arrived(1)
    await desk.until(lambda: desk.events and desk.shown.runs)
    await desk.controller.stop()
    for again in ("Go on", "And on"):
        assert (await desk.ask(again)).outcome == "completed"
    await desk.controller.fork(2)
    assert (await desk.ask("Otherwise")).outcome == "completed"
    assert model_server.requests[3].lines == ["user: Think", "user: Otherwise"]


async def test_case_36_a_filtered_answer_says_so(open_desk: OpenDesk, model_server: ModelServer) -> None:
    model_server.script(say("", finish="content_filter"), say("par", finish="content_filter"))
    desk = await open_desk()
    for prompt in ("Empty", "Partial"):
        ended = await desk.ask(prompt)
        assert ended.outcome != "completed"
        assert ended.error
    views = await desk.views()
    assert [bool(view.error) for view in views] == [True, True]
    assert any(item.text == "par" for item in views[1].items)


async def test_interrupted_answers_are_offered_in_place(open_desk: OpenDesk, model_server: ModelServer) -> None:
    model_server.script(say("par", Cut()), "rest", say("half", Cut()), "whole")
    desk = await open_desk()
    await desk.ask("Hello")
    (view,) = await desk.views()
    assert view.status == "interrupted"
    assert {"continue", "retry"} <= set(view.actions)
    await desk.controller.continue_turn(1)
    await desk.ended(2)
    assert model_server.requests[1].lines[:2] == ["user: Hello", "assistant: par"]
    await desk.ask("Again")
    turns = len(await desk.views())
    await desk.controller.retry_turn(turns)
    await desk.ended(4)
    assert (await desk.said())[-1] == "Again → whole"


async def test_refusals_change_nothing(open_desk: OpenDesk, tmp_path: Path) -> None:
    desk = await open_desk()
    with pytest.raises(UserError):
        await desk.controller.send("  \n")
    with pytest.raises(UserError):
        await desk.controller.fork(1)
    await desk.ask("One")
    before = await desk.said(), desk.shown.branches
    for refused in (
        desk.controller.fork(99),
        desk.controller.switch("nothing"),
        desk.controller.delete_branch("main"),
        desk.controller.edit(7),
        desk.controller.set_model("  "),
        desk.controller.open_conversation("nowhere"),
        desk.controller.export(str(tmp_path / "no" / "such" / "folder.md")),
    ):
        with pytest.raises(UserError) as caught:
            await refused
        assert "\n" not in str(caught.value)
    assert (await desk.said(), desk.shown.branches) == before
