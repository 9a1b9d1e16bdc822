"""The usage panel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.geometry import Offset

from advchat.state import TurnBar, UsageView
from advchat.widgets import usage_bars
from advchat.widgets.usage import UsagePanel
from advchat.widgets.usage_lines import lines as usage_lines
from advchat_storage.models import BranchUsage, UsageSum
from tests.app.fakes import some_usage, until
from tests.app.widgets.host import Host, lines


def text(view: UsageView, width: int = 48) -> list[str]:
    return ["".join(part for part, _ in line).rstrip() for line in usage_lines(view, width)]


def turn_column(view: UsageView) -> dict[str, str]:
    """The first numbers of the first table."""
    words = [line.split() for line in reversed(text(view)) if len(line.split()) > 1]
    return {label: number for label, number, *_ in words}


def styles(view: UsageView, word: str) -> list[str]:
    return [style for line in usage_lines(view, 48) for part, style in line if word in part]


def test_turn_branch_inherited_and_all_stand_side_by_side() -> None:
    shown = text(some_usage())
    assert "              turn 9   branch inherited      all" in shown
    assert " input         3,190    9,800     2,100  ≥48,211" in shown
    assert "  cached       1,595    4,900     1,050  ≥24,105" in shown
    assert " requests          1        4         3       12" in shown
    assert "               today    month     ever" in shown
    assert " cost       $0.08000  unknown  ≥$1,235" in shown


@pytest.mark.parametrize("width", [36, 39, 48, 60])
def test_lines_fit_any_width_and_lose_no_column(width: int) -> None:
    shown = text(some_usage(), width)
    for name in ("turn 9", "branch", "inherited", "all", "today", "month", "ever"):
        assert sum(line.split().count(name.split()[0]) for line in shown) >= 1
    assert all(cell_len(line) <= width for line in shown if line)


def test_case_54_unknown_is_never_zero() -> None:
    nothing = UsageSum(requests=1, at_least=True)
    view = replace(some_usage(), this_turn=nothing, branch=BranchUsage(nothing, UsageSum()))
    shown = text(view)
    assert any(line.startswith(" cost       unknown") or " unknown  unknown" in line for line in shown)
    assert "warn" in styles(view, "unknown")
    inherited = next(line for line in shown if line.startswith(" requests"))
    assert "–" in inherited


def test_free_by_itself_reads_local() -> None:
    free = UsageSum(requests=1, input_tokens=5, total_tokens=9, output_tokens=4, cost_nano=0)
    view = replace(some_usage(), this_turn=free, local=True)
    assert any("local" in line for line in text(view))
    assert not any("local" in line for line in text(replace(view, local=False)))


@pytest.mark.parametrize(
    ("used", "percent", "style"),
    [(1_000, "1%", "accent"), (88_000, "69%", "accent"), (89_600, "70% ▲", "warn"), (116_000, "91% ▲", "bad")],
)
def test_the_gauge_warns_at_70_and_90_percent_without_colour_too(used: int, percent: str, style: str) -> None:
    view = replace(some_usage(), context_tokens=used)
    head = next(line for line in text(view) if "context" in line)
    assert head.endswith(percent)
    assert style in styles(view, percent)


def test_an_unknown_window_is_said() -> None:
    assert any(
        "96,400 of an unknown window" in line for line in text(replace(some_usage(), context_window=None))
    )
    assert any("nothing sent yet" in line for line in text(replace(some_usage(), context_tokens=None)))


def test_before_anything_is_spent_the_panel_says_so() -> None:
    assert any("Nothing spent yet" in line for line in text(UsageView()))


def test_estimates_are_shown_beside_the_facts() -> None:
    stopped = UsageSum(
        requests=1, estimated_output_tokens=1_200, at_least=True, unknown=frozenset(["cost_nano"])
    )
    shown = text(replace(some_usage(), this_turn=stopped))
    assert any(line.split() == ["uncounted", "≈1,200"] for line in shown)
    assert any(line.split()[:2] == ["cost", "unknown"] for line in shown)
    assert not any("uncounted" in line for line in text(some_usage()))


def test_every_column_tells_its_speed() -> None:
    shown = text(some_usage())
    assert any(line.split() == ["tokens/s", "265.8", "816.5", "175.0", "4,018"] for line in shown)
    assert any(line.split() == ["1st", "token", *["0.42", "s"] * 4] for line in shown)


def test_a_part_that_was_not_told_is_quiet_and_a_whole_says_unknown() -> None:
    told = UsageSum(requests=2, input_tokens=10, output_tokens=5, total_tokens=15, cost_nano=7)
    partly = replace(told, cached_tokens=4, unknown=frozenset({"cached_tokens", "cache_write_tokens"}))
    rows = turn_column(replace(some_usage(), this_turn=partly))
    assert (rows["input"], rows["cached"], rows["written"], rows["total"]) == ("10", "≥4", "?", "15")
    unknown = replace(some_usage(), this_turn=replace(partly, total_tokens=None))
    assert turn_column(unknown)["total"] == "unknown"


def test_an_unknown_price_makes_no_count_a_lower_bound() -> None:
    unpriced = UsageSum(
        requests=2, input_tokens=10, output_tokens=5, total_tokens=15, cost_nano=7_000_000, at_least=True,
        unknown=frozenset({"cost_nano"}),
    )  # fmt: skip
    rows = turn_column(replace(some_usage(), this_turn=unpriced))
    assert (rows["input"], rows["total"]) == ("10", "15")
    assert rows["cost"].startswith("≥$")


def test_shares_name_models_and_tools() -> None:
    shown = text(some_usage())
    assert any("gpt-4.1-mini" in line and "78%" in line for line in shown)
    assert any("weather" in line and "4×" in line for line in shown)


def bar(turn: int, cached: int, fresh: int, output: int, cost: int | None = None) -> TurnBar:
    return TurnBar(turn, cached + fresh, cached, output, cost, known=True)


def test_a_bar_stacks_cached_input_and_output() -> None:
    rows = usage_bars.chart([bar(1, 20, 20, 20)], 6)
    assert [row[0][:2] for row in rows] == [
        ("█", "output"),
        ("█", "output"),
        ("█", "input"),
        ("█", "input"),
        ("█", "cached"),
        ("█", "cached"),
    ]


def test_two_parts_in_one_cell_are_both_drawn() -> None:
    rows = usage_bars.chart([bar(1, 4, 4, 0), bar(2, 8, 8, 0)], 1)
    assert rows[0][0] == ("▂", "cached", "input")
    assert rows[0][1] == ("▄", "cached", "input")


def test_what_is_there_is_never_invisible() -> None:
    rows = usage_bars.chart([bar(1, 0, 1, 1), bar(2, 0, 100_000, 100_000)], 4)
    assert rows[3][0][0] != " "


def test_the_cost_curve_stands_over_the_bars() -> None:
    rows = usage_bars.chart([bar(1, 0, 10, 10, 100), bar(2, 0, 10, 10, 1_000)], 6)
    heights = [next(y for y, row in enumerate(rows) if row[column][0] == "•") for column in (0, 1)]
    assert heights[1] == 0
    assert heights[0] == 5


def test_an_unknown_turn_is_a_question_mark() -> None:
    rows = usage_bars.chart([TurnBar(1, 0, 0, 0, None, known=False), bar(2, 0, 10, 10)], 3)
    assert [row[0][0] for row in rows] == [" ", " ", "?"]


@pytest.mark.parametrize(
    ("total", "columns", "cursor", "expected"),
    [
        (5, 10, 4, (0, 5)),
        (20, 10, 19, (10, 20)),
        (20, 10, 12, (10, 20)),
        (20, 10, 4, (0, 10)),
        (20, 10, 9, (0, 10)),
    ],
)
def test_the_bar_that_is_spoken_of_is_in_view(
    total: int, columns: int, cursor: int, expected: tuple[int, int]
) -> None:
    first, stop = usage_bars.window(total, columns, cursor)
    assert (first, stop) == expected
    assert first <= cursor < stop


async def test_moving_along_the_bars_tells_the_turn() -> None:
    panel = UsagePanel()
    app = Host(panel)
    async with app.run_test(size=(48, 30)) as pilot:
        panel.show(some_usage())
        await pilot.pause()
        assert any(" turn 9: 3,190 in, 193 out" in line for line in lines(panel))
        panel.step(-1)
        await until(pilot.pause, lambda: [m.turn for m in app.hear(UsagePanel.TurnPicked)] == [8])
        assert any(" turn 8:" in line for line in lines(panel))
        assert any(line.split()[:2] == ["turn", "8"] for line in lines(panel)), "the numbers are that turn's"
        panel.action_bar(0)
        await until(pilot.pause, lambda: [m.turn for m in app.hear(UsagePanel.TurnPicked)] == [8, 1])


async def test_a_stopped_turn_tells_its_estimate() -> None:
    panel = UsagePanel()
    async with Host(panel).run_test(size=(48, 30)) as pilot:
        panel.show(some_usage())
        panel.step(-4)
        await until(
            pilot.pause, lambda: any("turn 5: ≈210 out, not counted · unknown" in line for line in lines(panel))
        )


async def test_a_bar_can_be_clicked() -> None:
    panel = UsagePanel()
    app = Host(panel)
    async with app.run_test(size=(48, 30)) as pilot:
        panel.show(some_usage())
        await pilot.pause()
        await pilot.click(UsagePanel, offset=Offset(1, 3))
        await until(pilot.pause, lambda: [m.turn for m in app.hear(UsagePanel.TurnPicked)] == [1])


async def test_ten_thousand_turns_draw_only_the_window() -> None:
    panel = UsagePanel()
    async with Host(panel).run_test(size=(48, 30)) as pilot:
        bars = tuple(bar(number, 10, number % 90, 20, number) for number in range(1, 10_001))
        panel.show(replace(some_usage(), bars=bars))
        await pilot.pause()
        assert any("turn 10000:" in line for line in lines(panel))
        assert cell_len(panel.render_line(0).text) == panel.scrollable_content_region.width
