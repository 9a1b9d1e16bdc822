"""Two branches side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from advchat.screens.compare import CompareScreen
from advchat.screens.pick_branch import BranchScreen
from advchat.state import ComparedTurn, Comparison
from advchat.widgets.compare_view import SidesHeading
from advchat.widgets.heading import Heading
from advchat.widgets.lines import Notice
from tests.app.fakes import FakeActions, turn_view
from tests.app.fans import compared, pair_turn
from tests.app.screens.conftest import Desk, Open
from tests.app.widgets.host import lines

WIDE = (160, 48)


@asynccontextmanager
async def comparison(
    desk: Open, shown: Comparison | None = None, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[Desk, CompareScreen]]:
    """Open the main screen and the comparison over it."""
    actions = FakeActions()
    actions.comparison = shown if shown is not None else compared()
    async with desk(actions, size=size) as d:
        await d.type("/compare zh")
        await d.pilot.press("enter")
        yield d, await opened(d)


async def opened(d: Desk) -> CompareScreen:
    await d.until(lambda: isinstance(d.app.screen, CompareScreen))
    screen = d.app.screen
    assert isinstance(screen, CompareScreen)
    await d.until(lambda: bool(screen.view.viewport.lines) or not screen.view.docs)
    await d.until(lambda: screen.view.lit)
    return screen


def lit(screen: CompareScreen) -> list[str]:
    """What is underlined, from top to bottom."""
    return [
        segment.text.strip()
        for y in range(screen.view.size.height)
        for segment in screen.view.render_line(y)
        if segment.style is not None and segment.style.underline and segment.text.strip()
    ]


async def test_turns_are_aligned_and_only_the_words_that_differ_are_lit(desk: Open) -> None:
    async with comparison(desk) as (d, screen):
        assert d.actions.called("compare") == [("shorter", "zh")]
        rows = lines(screen.view)
        assert any("The quick brown fox jumps." in row and "The quick red fox leaps." in row for row in rows)
        assert set(lit(screen)) >= {"brown", "red", "jumps", "leaps"}
        assert "quick" not in lit(screen)
        assert len(lit(screen)) == 4
        assert any("no further turn" in row for row in rows)
        assert any("Question ␛[1m 4?" in row for row in rows)
        assert any("Twice [/] a day." in row for row in rows)


async def test_what_stands_above_each_side(desk: Open) -> None:
    async with comparison(desk) as (_, screen):
        above = screen.query_one(SidesHeading)
        titles, numbers = above.render_line(0).text, above.render_line(1).text
        assert "A A shorter answer" in titles
        assert "B 用中文解释一下" in titles
        assert "gpt-5 · 3 turns · 5,333 tokens" in numbers
        assert "gpt-4.1-mini · 2 turns · 4,000 tokens · unknown" in numbers
        head = screen.query_one(Heading).render_line(0).text
        assert "after 3 shared turns" in head
        assert "2 of 3 turns differ" in head


async def test_narrow_the_sides_stand_one_below_the_other_and_a_key_changes_it(desk: Open) -> None:
    async with comparison(desk, size=(80, 40)) as (d, screen):
        assert screen.view.stacked
        rows = lines(screen.view)
        left = next(y for y, row in enumerate(rows) if "brown" in row)
        right = next(y for y, row in enumerate(rows) if "red" in row)
        assert left < right
        assert "A A shorter answer" in screen.query_one(SidesHeading).render_line(0).text
        assert "B 用中文" in screen.query_one(SidesHeading).render_line(1).text
        await d.pilot.press("s")
        await d.until(lambda: any("brown" in row and "red" in row for row in lines(screen.view)))
        await d.pilot.press("s")
        await d.pilot.resize_terminal(160, 40)
        assert screen.view.stacked


async def test_keys_go_from_difference_to_difference(desk: Open) -> None:
    rows = compared(30).turns
    alike = [ComparedTurn(row.left, row.left) for row in rows]
    pairs = tuple(rows[n] if n in (7, 19) else row for n, row in enumerate(alike))
    same = replace(compared(30), turns=pairs)
    async with comparison(desk, same) as (d, screen):
        for key, position in (("n", 7), ("n", 19), ("n", 19), ("p", 7), ("p", 7)):
            await d.pilot.press(key)
            await d.pilot.pause()
            assert screen.view.viewport.anchor.position == position
        assert "No turn before" in str(screen.query_one(Notice).render())


async def test_both_sides_scroll_together(desk: Open) -> None:
    async with comparison(desk, compared(40), (160, 30)) as (d, screen):
        await d.pilot.press("end")
        await d.until(lambda: any("no further turn" in row for row in lines(screen.view)))
        await d.pilot.press("home")
        await d.until(lambda: screen.view.viewport.anchor.position == 0)


async def test_leaving_and_switching(desk: Open) -> None:
    async with comparison(desk) as (d, _):
        await d.pilot.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        assert not d.actions.called("switch")
        await d.type("/compare zh")
        await d.pilot.press("enter")
        await opened(d)
        await d.pilot.press("2")
        await d.called("switch", "zh")


async def test_branches_without_turns_of_their_own_are_the_same(desk: Open) -> None:
    async with comparison(desk, replace(compared(), turns=())) as (_, screen):
        assert any("The branches hold the same turns" in row for row in lines(screen.view))


async def test_a_comparison_of_thousands_of_turns_lays_out_only_what_is_seen(desk: Open) -> None:
    left, right = ([pair_turn(n, f"{word} " * 300) for n in range(1, 3001)] for word in ("one", "other"))
    many = replace(compared(), turns=tuple(map(ComparedTurn, left, right)))
    async with comparison(desk, many) as (d, screen):
        seen = {line.position for line in screen.view.viewport.lines}
        assert sum(doc.lit is not None for doc in screen.view.docs) <= len(seen) + 2
        await d.pilot.press("end")
        await d.until(screen.view.viewport.at_end)
        view = screen.view
        known = [doc for doc in view.docs if any(block.measured(view.viewport.width) for block in doc.blocks)]
        assert len(known) < 40


# The ways to a comparison


async def test_two_marks_compare(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "m")
        assert d.main.branches.marked == "main"
        assert "Marked" in d.notice
        assert any("◆ main" in row for row in lines(d.main.branches))
        await d.pilot.press("down", "down", "m")
        await d.called("compare", "main", "fr")
        assert d.main.branches.marked is None


async def test_marking_twice_takes_the_mark_away(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "m", "m")
        assert d.main.branches.marked is None
        assert not d.actions.called("compare")


async def test_c_on_a_turn_compares_with_its_only_sibling(desk: Open) -> None:
    async with desk() as d:
        d.actions.views[5] = turn_view(5, siblings=("shorter", "zh"))
        await d.pilot.press("f3", "end", "c")
        await d.called("compare", "shorter", "zh")


async def test_c_on_a_turn_lets_one_of_several_siblings_be_picked(desk: Open) -> None:
    async with desk() as d:
        d.actions.views[5] = turn_view(5, siblings=("shorter", "zh", "fr"))
        await d.pilot.press("f3", "end", "c")
        await d.until(lambda: isinstance(d.app.screen, BranchScreen))
        await d.type("fran")
        await d.pilot.press("enter")
        await d.called("compare", "shorter", "fr")


async def test_c_on_a_turn_goes_by_the_mark(desk: Open) -> None:
    async with desk() as d:
        await d.pilot.press("f2", "home", "m", "f3", "c")
        await d.called("compare", "shorter", "main")


async def test_without_another_branch_there_is_nothing_to_compare(desk: Open) -> None:
    async with desk(branches=()) as d:
        await d.pilot.press("f3", "c")
        await d.until(lambda: "no other branch" in d.notice)
