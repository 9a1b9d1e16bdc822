"""The list of turns."""

from __future__ import annotations

from rich.cells import cell_len
from textual.geometry import Offset
from textual.pilot import Pilot

from advchat.widgets.turns import TurnList
from tests.app.fakes import turn_rows, until
from tests.app.widgets.host import Host, lines

WIDE = (48, 12)


async def wanted(app: Host, pilot: Pilot[None], number: int = 1) -> list[TurnList.RowsWanted]:
    """Wait until rows have been asked for that many times."""
    await until(pilot.pause, lambda: len(app.hear(TurnList.RowsWanted)) >= number)
    return app.hear(TurnList.RowsWanted)


async def test_rows_show_number_words_tokens_cost_and_a_fork_button() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        asked = await wanted(app, pilot)
        assert lines(turns)[0].strip() == "1 …"
        assert [(message.first, message.end) for message in asked] == [(0, 5)]
        turns.put_rows(asked[0].generation, 0, turn_rows(5))
        await pilot.pause()
        shown = lines(turns)
    assert shown[0].startswith("   1 What is the capital")
    assert shown[0].endswith("431 $0.0003 ⑂")
    assert "■ Write a haiku" in shown[2]
    assert "\x1b" not in shown[2]
    assert "! [/] is not markup" in shown[3]
    assert "?" in shown[3]


async def test_case_14_columns_are_aligned_under_wide_letters() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        await pilot.pause()
        turns.put_rows((await wanted(app, pilot))[0].generation, 0, turn_rows(5))
        await pilot.pause()
        for y in range(5):
            text = turns.render_line(y).text
            assert cell_len(text[: text.index("⑂")]) == turns.row_width - 2


async def test_only_windows_in_view_are_asked_for_of_ten_thousand() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 10_000, 1)
        await pilot.pause()
        turns.focus()
        await pilot.press("home")
        await pilot.pause()
        asked = [(message.first, message.end) for message in await wanted(app, pilot, 2)]
        assert asked == [(9_984, 10_000), (0, 64)]


async def test_rows_of_a_branch_no_longer_shown_are_dropped() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "one"), 5, 1)
        await pilot.pause()
        old = (await wanted(app, pilot))[0].generation
        turns.show(("c", "two"), 5, 2)
        turns.put_rows(old, 0, turn_rows(5))
        assert turns.chosen is None


async def test_a_new_version_asks_again_and_keeps_showing_what_it_has() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        await pilot.pause()
        turns.put_rows((await wanted(app, pilot))[0].generation, 0, turn_rows(5))
        turns.show(("c", "b"), 5, 2)
        assert len(await wanted(app, pilot, 2)) == 2
        assert "capital" in lines(turns)[0]


async def test_rows_are_asked_for_again_after_a_failure() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        await pilot.pause()
        turns.forget_request((await wanted(app, pilot))[0].generation, 0)
        turns.refresh()
        assert len(await wanted(app, pilot, 2)) == 2


async def test_the_cursor_follows_new_turns_only_from_the_last_one() -> None:
    turns = TurnList()
    async with Host(turns).run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        await pilot.pause()
        assert turns.cursor == 4
        turns.show(("c", "b"), 6, 2)
        assert turns.cursor == 5
        turns.cursor = 2
        turns.show(("c", "b"), 7, 3)
        assert turns.cursor == 2


async def test_a_click_tells_the_row_from_its_button() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 5, 1)
        await pilot.pause()
        turns.put_rows((await wanted(app, pilot))[0].generation, 0, turn_rows(5))
        await pilot.click(TurnList, offset=Offset(8, 1))
        await pilot.click(TurnList, offset=Offset(turns.row_width - 2, 3))
        chosen = [(message.index, message.zone) for message in app.hear(TurnList.Chosen)]
        assert chosen == [(1, ""), (3, "fork")]


async def test_a_turn_before_the_first_prompt_has_no_button() -> None:
    turns = TurnList()
    app = Host(turns)
    async with app.run_test(size=WIDE) as pilot:
        turns.show(("c", "b"), 2, 1)
        await pilot.pause()
        before, first = turn_rows(1)[0], turn_rows(1)[0]
        zero = type(before)(**{**{name: getattr(before, name) for name in before.__slots__}, "turn": 0})
        turns.put_rows((await wanted(app, pilot))[0].generation, 0, [zero, first])
        await pilot.pause()
        assert "⑂" not in lines(turns)[0]
        assert "⑂" in lines(turns)[1]
        assert turns.zone(0, turns.row_width - 2, turns.row_width) == ""
        turns.show_turn(0)
        assert turns.cursor == 0
        turns.show_turn(1)
        assert turns.cursor == 1
