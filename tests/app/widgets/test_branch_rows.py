"""Which lines of the branch graph are seen, and their colours."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from advchat.controller.tree_views import branch_rows
from advchat.state import BranchRow
from advchat.widgets.branch_rows import age, heat, last_column, seen
from tests.app.fakes import branch, row

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def tree(current: str = "b") -> tuple[BranchRow, ...]:
    parents = {"main": None, "a": "main", "a1": "a", "a2": "a", "b": "main", "b1": "b", "c": "main"}
    made = [
        branch(name, title=name, parent=parent, current=name == current) for name, parent in parents.items()
    ]
    return branch_rows(made, current)


def names(rows: tuple[BranchRow, ...], folded: set[str], term: str = "") -> list[str]:
    return [line.row.branch.branch_id for line in seen(rows, folded, term)]


def test_unfolded_everything_is_seen_as_it_came() -> None:
    assert tuple(line.row for line in seen(tree(), set())) == tree()


def test_folding_hides_what_lies_under_and_counts_it() -> None:
    lines = seen(tree(), {"a"})
    assert [(line.row.branch.branch_id, line.hidden) for line in lines] == [
        ("main", 0), ("a", 2), ("b", 0), ("b1", 0), ("c", 0),
    ]  # fmt: skip


def test_the_path_to_the_current_branch_is_never_folded_away() -> None:
    assert names(tree("b1"), {"main"}) == ["main", "b", "b1"]
    line = seen(tree("b1"), {"main"})
    assert line[0].hidden == 4
    assert [(one.row.last, one.row.rails) for one in line] == [
        (True, ()),
        (True, (False,)),
        (True, (False, False)),
    ]


def test_filtering_shows_what_holds_every_word_without_rails() -> None:
    assert names(tree(), set(), "A") == ["main", "a", "a1", "a2"]
    assert names(tree(), {"a"}, "a 1") == ["a1"]
    assert all(line.row.depth == 0 for line in seen(tree(), set(), "a1"))
    assert names(tree(), set(), "nothing") == []


@st.composite
def forests(draw: st.DrawFn) -> tuple[tuple[BranchRow, ...], set[str]]:
    count = draw(st.integers(1, 25))
    parents = [None, *(draw(st.sampled_from([None, *range(n)])) for n in range(1, count))]
    made = [branch(str(n), parent=None if parent is None else str(parent)) for n, parent in enumerate(parents)]
    current = str(draw(st.integers(0, count - 1)))
    folded = draw(st.sets(st.sampled_from([str(n) for n in range(count)])))
    return branch_rows(made, current), folded


@given(forests())
def test_nothing_is_lost_by_folding(found: tuple[tuple[BranchRow, ...], set[str]]) -> None:
    rows, folded = found
    lines = seen(rows, folded)
    assert len(lines) + sum(line.hidden for line in lines) == len(rows)
    assert [line.row.branch for line in lines] == [
        row.branch for row in rows if any(line.row.branch == row.branch for line in lines)
    ]
    again = branch_rows([line.row.branch for line in lines], rows[0].branch.branch_id)
    assert [(line.row.rails, line.row.last) for line in lines] == [(one.rails, one.last) for one in again]


def test_colours_go_from_cheap_to_dear_and_from_new_to_old() -> None:
    rows = tuple(
        row(replace(branch(str(n), cost=cost), last_used_at=f"2026-11-{10 + n}T00:00:00", model=model))
        for n, (cost, model) in enumerate([(100, "x"), (None, None), (5, "y"), (7, "x"), (900, "z")])
    )
    assert heat(rows, "cost") == {"2": "good", "3": "accent", "0": "warn", "4": "bad"}
    assert heat(rows, "age")["4"] == "good"
    assert heat(rows, "age")["0"] == "bad"
    by_model = heat(rows, "model")
    assert by_model["0"] == by_model["3"] != by_model["2"]
    assert by_model["1"] == "quiet"
    assert heat((), "cost") == {}


def test_the_last_column_says_what_the_colour_means() -> None:
    known = row(replace(branch("x", cost=12_345_678), model="gpt-4.1-mini", last_used_at="2026-11-29T11:30:00"))
    assert last_column(known, "", 7, NOW) == "$0.0123"
    assert last_column(known, "age", 7, NOW) == "30 min"
    assert last_column(known, "model", 7, NOW) == "gpt-4.…"


def test_ages_are_short_and_backward_clocks_are_now() -> None:
    told = {
        "2026-11-29T11:59:30": "now", "2026-11-29T13:00:00": "now", "2026-11-29T11:00:00": "1 h",
        "2026-11-26T11:00:00": "3 d", "2026-08-01T00:00:00": "4 mo", "2020-01-01T00:00:00": "6 y", "": "",
    }  # fmt: skip
    assert {moment: age(moment, NOW) for moment in told} == told


def test_a_branch_on_which_nothing_was_asked_has_no_unknown_cost() -> None:
    line = row(branch("empty"))
    silent = replace(line, branch=replace(line.branch, own_cost_nano=None, own_cost_at_least=False))
    unknown = replace(line, branch=replace(line.branch, own_cost_nano=None, own_cost_at_least=True))

    assert last_column(silent, "cost", 8, NOW) == "–"
    assert last_column(unknown, "cost", 8, NOW) == "unknown"
