"""The commands across branches, and what the composer's edge tells."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from advchat.actions import UserError
from advchat.screens.fan import FanScreen
from advchat.screens.pick_branch import BranchScreen
from advchat.state import Budget, SendEstimate
from advchat.widgets.lines import AskBar
from tests.app.fakes import FakeActions, some_branches, turn_view
from tests.app.fans import fanned
from tests.app.screens.conftest import Desk, Open
from tests.app.widgets.host import lines

ESTIMATE = SendEstimate(1_234, 0.8, 1_000_000, 4_000_000, 120_000)


def edge(d: Desk) -> str:
    title = d.main.query_one("#compose")._border_title
    return title.plain if title is not None else ""


def ends_with(d: Desk, told: str) -> bool:
    return edge(d).endswith(told)


# Fan-out


async def test_fan_with_a_prompt_sends_at_once_and_shows_the_grid(desk: Open) -> None:
    async with desk(fanned(3)) as d:
        await d.type("/fan 3 why not?")
        await d.pilot.press("enter")
        await d.called("fan", "3", "why not?")
        await d.until(lambda: isinstance(d.app.screen, FanScreen))
        assert d.text == ""


async def test_fan_alone_takes_the_next_prompt(desk: Open) -> None:
    async with desk(fanned(2)) as d:
        await d.type("/fan gpt-5,local")
        await d.pilot.press("enter")
        await d.until(lambda: "fans out to gpt-5,local" in edge(d))
        assert not d.actions.called("fan")
        await d.type("why?")
        await d.pilot.press("enter")
        await d.called("fan", "gpt-5,local", "why?")
        assert not d.actions.called("send")
        await d.until(lambda: isinstance(d.app.screen, FanScreen))
        await d.pilot.press("escape")
        await d.until(lambda: "fans out" not in edge(d))
        await d.type("and here")
        await d.pilot.press("enter")
        await d.called("send", "and here", "shorter")


@pytest.mark.parametrize("way", ["escape", "alt+down"])
async def test_escape_or_leaving_the_branch_takes_the_fan_back(desk: Open, way: str) -> None:
    async with desk() as d:
        await d.type("/fan 3")
        await d.pilot.press("enter")
        await d.until(lambda: "fans out to 3 answers" in edge(d))
        await d.pilot.press(way)
        await d.until(lambda: "fans out" not in edge(d))
        await d.type("why?")
        await d.pilot.press("enter")
        await d.until(lambda: bool(d.actions.called("send")))
        assert not d.actions.called("fan")


async def test_fan_from_the_palette_takes_the_composers_text(desk: Open) -> None:
    async with desk(fanned(3)) as d:
        await d.type("why?")
        d.main.action_command("branch.fan")
        await d.until(lambda: d.main.query_one(AskBar).is_open)
        await d.pilot.press("enter")
        await d.called("fan", "3", "why?")


async def test_a_fan_that_fails_gives_the_text_back_and_stays_armed(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["fan"] = UserError("The disk is full.")
        await d.type("/fan 3 why?")
        await d.pilot.press("enter")
        await d.until(lambda: d.text == "/fan 3 why?")
        assert "The disk is full." in d.notice
        d.main.composer.put("/fan 3")
        await d.pilot.press("enter")
        await d.until(lambda: "fans out" in edge(d))
        await d.type("how?")
        await d.pilot.press("enter")
        await d.until(lambda: d.text == "how?")
        assert "fans out to 3 answers" in edge(d)


async def test_a_wrong_fan_is_refused_with_the_line_kept(desk: Open) -> None:
    async with desk() as d:
        await d.type("/fan 9 why?")
        await d.pilot.press("enter")
        await d.until(lambda: "2 to 8" in d.notice)
        assert d.text == "/fan 9 why?"
        d.main.action_command("branch.answers")
        await d.until(lambda: "Nothing has been fanned out" in d.notice)


# Carrying over


async def test_turns_and_summaries_are_carried_by_name(desk: Open) -> None:
    async with desk() as d:
        await d.type("/carry 2-3 zh")
        await d.pilot.press("enter")
        await d.called("carry", "shorter", (2, 3), "zh")
        await d.until(lambda: "Carried 2 turns over to “用中文" in d.notice)
        await d.type("/carry summary main")
        await d.pilot.press("enter")
        await d.called("carry_summary", "shorter", "main")
        await d.type("/carry main")
        await d.pilot.press("enter")
        await d.until(lambda: "needs turns and a branch" in d.notice)


async def test_the_turn_under_the_cursor_is_carried_to_a_picked_branch(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f3", "home")
        d.main.action_command("turn.carry")
        await d.until(lambda: isinstance(d.app.screen, BranchScreen))
        await d.type("fran")
        await d.pilot.press("enter")
        await d.called("carry", "shorter", (1,), "fr")


# Budget and estimate


async def test_a_budget_is_set_for_the_conversation_or_the_branch(desk: Open) -> None:
    async with desk() as d:
        await d.type("/budget 0.50")
        await d.pilot.press("enter")
        await d.called("set_budget", "0.50", False)
        await d.type("/budget 0.25 branch")
        await d.pilot.press("enter")
        await d.called("set_budget", "0.25", True)
        await d.until(lambda: "budget of this branch is set" in d.notice)
        await d.type("/budget off")
        await d.pilot.press("enter")
        await d.until(lambda: "This conversation has no budget." in d.notice)


async def test_the_edge_warns_from_four_fifths_of_the_budget_on(desk: Open) -> None:
    async with desk() as d:
        for spent, told in (
            (100_000_000, "conversation budget: $0.10 of $0.50"),
            (400_000_000, "! conversation budget: $0.40 of $0.50, 80%"),
            (500_000_000, "! conversation budget: $0.50 of $0.50, used up"),
        ):
            d.actions.publish(budget=Budget(500_000_000, spent, "conversation"))
            await d.until(partial(ends_with, d, told))
        d.actions.publish(budget=None)
        await d.until(lambda: edge(d) == "")


async def test_the_edge_tells_about_what_sending_takes_once_typing_rests(desk: Open) -> None:
    async with desk() as d:
        d.actions.estimated = ESTIMATE
        assert edge(d) == ""
        await d.type("why?")
        await d.until(lambda: edge(d).startswith("about 1.23k tokens · 80% likely cached · $0.0010–$0.0040"))
        assert d.actions.called("estimate") == [("why?",)]
        d.actions.estimated = None
        await d.type("?")
        await d.until(lambda: edge(d) == "")
        d.actions.estimated = ESTIMATE
        await d.type("?")
        await d.until(lambda: edge(d) != "")
        await d.pilot.press("enter")
        await d.until(lambda: edge(d) == "")


async def test_nothing_is_estimated_for_slash_commands(desk: Open) -> None:
    async with desk() as d:
        d.actions.estimated = ESTIMATE
        await d.type("/fork 2")
        d.main._estimate()
        await d.pilot.pause()
        await d.pilot.pause()
        assert edge(d) == ""
        assert not d.actions.called("estimate")


async def test_a_failing_estimate_says_nothing(desk: Open) -> None:
    async with desk() as d:
        d.actions.fail["estimate"] = OSError("gone")
        await d.type("why?")
        await d.until(lambda: bool(d.actions.called("estimate")))
        await d.pilot.pause()
        assert edge(d) == ""
        await d.type(" still typing")
        assert d.text == "why? still typing"


# The tree


async def test_pinning_by_key(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "p")
        await d.called("pin_branch", "main")
        rows = tuple(
            replace(row, branch=replace(row.branch, pinned=row.branch.branch_id == "main"))
            for row in some_branches()
        )
        d.actions.publish(branches=rows)
        await d.until(lambda: "★ main" in lines(d.main.branches)[0])


async def test_folding_by_key_and_by_click(desk: Open) -> None:
    rows = tuple(replace(row, children=3 if row.branch.branch_id == "main" else 0) for row in some_branches())
    async with desk(branches=rows) as d:
        await d.pilot.press("f2", "home", "space")
        await d.until(lambda: "▸3" in lines(d.main.branches)[0])
        assert [line.split("◉")[-1].strip()[:9] for line in lines(d.main.branches)[1:2]] == ["A shorter"]
        await d.pilot.press("space")
        await d.until(lambda: len([line for line in lines(d.main.branches) if line.strip()]) == 5)
        await d.pilot.click(d.main.branches, offset=(1, 1))
        await d.until(lambda: "▸3" in lines(d.main.branches)[0])
        assert not d.actions.called("switch")


async def test_filtering_keeps_what_holds_the_text(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "slash")
        await d.until(lambda: d.main.query_one(AskBar).is_open)
        await d.type("fran")
        await d.pilot.press("enter")
        await d.until(lambda: d.main.branches.has_focus)
        assert d.main.branches.count == 1
        await d.pilot.press("enter")
        await d.called("switch", "fr")
        await d.pilot.press("f2", "slash")
        await d.until(lambda: d.main.branches.count == 5)


async def test_colouring_changes_the_last_column(desk: Open) -> None:
    rows = tuple(replace(row, branch=replace(row.branch, model="gpt-5")) for row in some_branches())
    async with desk(branches=rows) as d:
        await d.pilot.press("f2", "o")
        assert "cost" in d.notice
        assert "$0.0123" in lines(d.main.branches)[0]
        await d.pilot.press("o")
        assert "age" in d.notice
        assert "$" not in lines(d.main.branches)[0]
        await d.pilot.press("o")
        assert "model" in d.notice
        assert "gpt-5" in lines(d.main.branches)[0]
        await d.pilot.press("o")
        assert "No colours" in d.notice


# Siblings in place


async def test_the_arrows_on_a_turn_flip_its_siblings(desk: Open) -> None:
    actions = FakeActions()
    actions.views[5] = turn_view(5, siblings=("main", "shorter", "zh"), sibling_index=1)
    async with desk(actions) as d:
        await d.until(lambda: any("2/3" in row for row in lines(d.main.transcript)))
        for arrow, step in (("›", 1), ("‹", -1)):
            row, text = next((y, row) for y, row in enumerate(lines(d.main.transcript)) if "2/3" in row)
            await d.pilot.click(d.main.transcript, offset=(text.index(arrow), row))
            await d.called("sibling_at", 5, step)
            await d.pilot.pause()
