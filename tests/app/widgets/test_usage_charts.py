"""The charts and the table of the usage report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from advchat.usage_report import ReportCut, ReportRow, ReportSpan, UsageReport, add_up
from advchat.widgets.usage_charts import Layers, ReportLine, charts, heights, round_up
from advchat.widgets.usage_charts_names import MOST, gathered, name_charts
from advchat.widgets.usage_charts_table import table
from advchat.widgets.usage_charts_view import UsageCharts, UsageChoices
from advchat_storage.models import UsageSum
from tests.app.fakes import until, usage_report
from tests.app.widgets.host import Host, lines

CUTS: tuple[ReportCut, ...] = ("day", "model", "branch", "conversation")
WIDTHS = (40, 60, 80, 95, 96, 100, 160, 220)


def spent(tokens: int = 100, cost: int | None = 1_000_000) -> UsageSum:
    unknown = frozenset({"cost_nano"} if cost is None else ())
    return UsageSum(
        requests=1,
        input_tokens=tokens,
        cached_tokens=tokens // 2,
        output_tokens=tokens // 4,
        total_tokens=tokens + tokens // 4,
        cost_nano=cost,
        unknown=unknown,
    )


def day(number: int, usage: UsageSum) -> ReportRow:
    return ReportRow(f"2026-11-{number:02}", usage)


def text(drawn: list[ReportLine]) -> list[str]:
    return ["".join(part for part, _, _ in line).rstrip() for line in drawn]


def inks(line: ReportLine) -> set[str]:
    return {name for part, name, _ in line if part.strip()}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("span", ["week", "ever"])
def test_lines_fit_any_width_and_hold_nothing_that_steers(width: int, cut: ReportCut, span: ReportSpan) -> None:
    report = usage_report(cut, span)
    drawn = charts(report.rows, width, 40) if cut == "day" else name_charts(report.rows, width)
    for line in text([*drawn, *table(report, width)]):
        assert cell_len(line) <= width, line
        assert "\x1b" not in line
        assert line.isprintable()


def test_a_bar_stacks_cached_input_and_output() -> None:
    layers = Layers(1, 4)
    for ink, bottom, top in (("cached", 0, 4), ("input", 4, 12), ("output", 12, 16)):
        layers.fill(ink, 0, bottom, 2, top)
    assert layers.lines() == [
        (("█", "output", ""),), (("█", "input", ""),), (("█", "input", ""),), (("█", "cached", ""),),
    ]  # fmt: skip


def test_two_parts_in_one_cell_are_both_drawn() -> None:
    layers = Layers(2, 1)
    layers.fill("input", 0, 1, 2, 4)
    layers.fill("cached", 0, 0, 2, 1)
    layers.fill("cached", 2, 0, 4, 1)
    layers.fill("output", 2, 1, 4, 3)
    assert layers.lines() == [(("▂", "cached", "input"), ("▆", "output", ""))]


def test_a_curve_stands_before_a_bar_on_the_bars_colour() -> None:
    layers = Layers(2, 1)
    layers.fill("input", 0, 0, 2, 4)
    layers.canvas("cost").line(0, 3, 3, 3)
    assert layers.lines() == [(("⠉", "cost", "input"), ("⠉", "cost", ""))]


def test_what_is_there_at_all_is_seen() -> None:
    assert heights((1, 0, 1_000_000), 16 / 1_000_001) == [1, 1, 17]
    (row,) = (spent(4, 1),)
    drawn = charts([day(1, row), day(2, spent(4_000_000, 9_000_000_000))], 60, 24)
    bottom = next(line for line in drawn if "".join(part for part, _, _ in line).startswith("      0 └"))
    assert drawn[drawn.index(bottom) - 1][2][0] != " "


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 1), (1, 1), (2, 2), (7, 8), (11, 20), (101, 200), (950, 1000), (61_000, 80_000)]
)
def test_axes_end_at_numbers_that_read_well(value: int, expected: int) -> None:
    assert round_up(value) == expected


def test_the_axis_tells_the_top_and_its_half() -> None:
    shown = text(charts([day(1, spent(40_000, 2_000_000_000))], 60, 24))
    assert shown[1].startswith("    50k ┤")
    assert any(line.startswith("    25k ┤") for line in shown)
    assert any(line.startswith(" $2.000 ┤") for line in shown)


def test_case_54_a_day_of_unknown_price_breaks_the_curve_and_is_marked() -> None:
    rows = [day(1, spent()), day(2, spent(cost=None)), day(3, UsageSum()), day(4, spent())]
    drawn = charts(rows, 60, 24)
    head = next(line for line in drawn if line and line[0][0] == " Cost a day")
    assert "price not known" in "".join(part for part, _, _ in head)
    marks = [line for line in drawn[drawn.index(head) + 1 :] if ("?", "warn", "") in line]
    assert len(marks) == 1
    known = charts([row for row in rows if row.usage.cost_nano is not None], 60, 24)
    assert not any("not known" in line for line in text(known))


def test_many_days_become_weeks_months_and_years() -> None:
    for rows, word in ((30, "day"), (300, "week"), (1_000, "month"), (12_000, "year")):
        shown = text(charts(usage_report("day", "ever", rows=rows).rows, 80, 30))
        assert shown[0].startswith(f" Tokens a {word}")
        assert any(line.startswith(f" Cost a {word}") for line in shown)


def test_rows_beyond_the_first_are_one_and_lose_nothing() -> None:
    rows = [ReportRow(f"name {number}", spent(number)) for number in range(1, 100)]
    shown = gathered(rows)
    assert (len(shown), shown[-1].name) == (MOST + 1, "and 69 more")
    assert add_up([row.usage for row in shown]) == add_up([row.usage for row in rows])
    assert gathered(rows[: MOST + 1]) == tuple(rows[: MOST + 1]), "one row more takes no more room than “and 1”"


def test_names_from_outside_are_text() -> None:
    rows = [ReportRow("a\x1b[31m[b]c\n\u202ed", spent(), "where\x07")]
    shown = "\n".join(text(name_charts(rows, 120)))
    assert "a␛[31m[b]c" in shown
    assert "⟨U+202E⟩" in shown


def test_bars_by_name_compare_tokens_and_cost() -> None:
    rows = [ReportRow("dear", spent(100, 8_000_000)), ReportRow("cheap", spent(400, None))]
    dear, cheap = text(name_charts(rows, 120))[1:]
    assert (len(dear[32:65].strip()), len(cheap[32:65].strip())) == (9, 33), "a quarter, in half cells"
    assert (len(dear[76:109].strip()), len(cheap[76:109].strip())) == (32, 0)
    assert dear.endswith("$0.008000")
    assert cheap.endswith("unknown")


def test_the_table_has_every_measure_in_every_width() -> None:
    report = usage_report("model")
    for width in WIDTHS:
        shown = "\n".join(text(list(table(report, width))))
        for head in ("requests", "input", "cached", "written", "output", "reasoning", "total", "cost"):
            assert shown.count(head) >= 1, (width, head)
        assert "Total" in shown


def test_the_table_tells_unknown_from_nothing_and_from_a_lower_bound() -> None:
    partly = replace(spent(), cached_tokens=50, unknown=frozenset({"cached_tokens", "cache_write_tokens"}))
    rows = (ReportRow("one", partly),)
    shown = text(list(table(UsageReport("model", rows=rows, total=partly), 120)))
    assert "≥50" in shown[1]
    assert shown[1].split()[4] == "?"
    assert any("did not tell" in line for line in shown)
    guessed = replace(spent(), estimated_output_tokens=12)
    assert any(
        "≈12 output tokens" in line for line in text(list(table(UsageReport("model", total=guessed), 120)))
    )


def test_the_newest_day_comes_first_and_idle_days_are_left_out() -> None:
    rows = (day(1, spent()), day(2, UsageSum()), day(3, spent()))
    report = UsageReport("day", rows=rows, total=add_up([row.usage for row in rows]))
    names = [line.split()[0] for line in text(list(table(report, 120))) if line][:4]
    assert names == ["Day", "2026-11-03", "2026-11-01", "Total"]


async def test_the_view_scrolls_through_charts_and_table() -> None:
    view = UsageCharts()
    async with Host(view).run_test(size=(100, 30)) as pilot:
        view.show(usage_report("day", "month"))
        await pilot.pause()
        assert lines(view)[1].startswith(" Tokens a day")
        assert {"cached", "input", "output"} <= {
            name for line in charts(usage_report().rows, 90, 30) for name in inks(line)
        }
        view.focus()
        await pilot.press("end")
        await until(pilot.pause, lambda: any(line.startswith(" Total") for line in lines(view)))


async def test_without_spend_the_view_says_so() -> None:
    view = UsageCharts()
    async with Host(view).run_test(size=(60, 20)) as pilot:
        view.show(UsageReport())
        await pilot.pause()
        assert any("Nothing was spent" in line for line in lines(view))
        view.say("The file is locked.")
        await pilot.pause()
        assert any("The file is locked." in line for line in lines(view))


async def test_a_choice_can_be_clicked() -> None:
    choices = UsageChoices()
    app = Host(choices)
    async with app.run_test(size=(160, 5)) as pilot:
        choices.show("day", "month", everywhere=True)
        await pilot.pause()
        shown = str(choices.render())
        assert "▸Days" in shown
        await pilot.click(UsageChoices, offset=(shown.index("Models") + 2, 0))
        await until(pilot.pause, lambda: bool(app.hear(UsageChoices.Chosen)))
        chosen = app.hear(UsageChoices.Chosen)[0]
        assert (chosen.kind, chosen.value) == ("cut", "model")
