"""Heights, anchors and windows of the transcript, without a screen."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advchat.state import ItemView, TurnRow, TurnView
from advchat.widgets.transcript.document import Settings
from advchat.widgets.transcript.offsets import Offsets
from advchat.widgets.transcript.palette import plain_palette
from advchat.widgets.transcript.viewport import Viewport

from .transcript_host import answered


@given(st.lists(st.integers(1, 50)), st.lists(st.tuples(st.integers(0, 60), st.integers(1, 50)), max_size=20))
def test_offsets_are_running_sums(heights: list[int], changes: list[tuple[int, int]]) -> None:
    offsets = Offsets(heights)
    plain = list(heights)
    for place, height in changes:
        if place < len(plain):
            plain[place] = height
            offsets.set(place, height)
        else:
            plain.append(height)
            offsets.append(height)
    assert [offsets.start(place) for place in range(len(plain) + 1)] == [
        sum(plain[:place]) for place in range(len(plain) + 1)
    ]
    rows = [place for place, height in enumerate(plain) for _ in range(height)]
    assert [offsets.find(row) for row in range(len(rows))] == rows


def make(turns: int, *, load: bool = True, lines: int = 3) -> Viewport:
    viewport = Viewport(plain_palette())
    viewport.resize(60, 20)
    viewport.reset(turns)
    if load:
        for turn in range(1, turns + 1):
            put(viewport, turn, lines)
    return viewport


def put(viewport: Viewport, turn: int, lines: int = 3) -> None:
    answer = "\n".join(f"turn {turn} line {line}" for line in range(lines))
    viewport.put(turn - 1, answered(turn, answer), Settings())


def texts(viewport: Viewport) -> list[str]:
    return [line.row.text.rstrip() for line in viewport.compose()]


def test_the_end_is_followed() -> None:
    viewport = make(30)
    assert texts(viewport)[-2:] == ["  turn 30 line 2", ""]
    put(viewport, 30, 9)
    assert texts(viewport)[-2:] == ["  turn 30 line 8", ""]


def test_walking_up_and_down_shows_every_row_once() -> None:
    viewport = make(12, lines=5)
    viewport.follow = False
    viewport.jump(0)
    down = texts(viewport)
    while not viewport.at_end():
        viewport.scroll(1)
        down.append(texts(viewport)[-1])
    up = texts(viewport)
    while viewport.top:
        viewport.scroll(-1)
        up.insert(0, texts(viewport)[0])
    assert down == up
    assert len(down) == viewport.total


@given(st.randoms(use_true_random=False))
def test_case_26_what_is_read_stays_when_heights_change(rng: random.Random) -> None:
    viewport = make(40, load=False)
    for turn in range(15, 25):
        put(viewport, turn)
    viewport.follow = False
    viewport.jump(viewport.offsets.start(18) + 2)
    before = texts(viewport)
    for _ in range(10):
        turn = rng.choice([*range(1, 15), *range(30, 41)])
        put(viewport, turn, rng.randint(1, 30))
        assert texts(viewport) == before


def test_turns_are_asked_for_around_the_view() -> None:
    viewport = make(10_000, load=False)
    viewport.compose()
    assert viewport.missing() == [range(viewport.lines[0].position - 8, 10_000)]
    viewport.jump_to(5000)
    viewport.compose()
    wanted = viewport.missing()
    assert 5000 in wanted[0]
    assert len(wanted) == 1
    assert len(wanted[0]) < 40


def test_a_resize_keeps_the_block_at_the_top() -> None:
    viewport = make(40, lines=4)
    viewport.jump_to(20)
    assert texts(viewport)[1] == "▌ Is it?"
    for width in (30, 80, 17, 60):
        viewport.resize(width, 20)
        assert texts(viewport)[0].startswith("▌ 21")


def test_kept_rows_and_turns_are_bounded() -> None:
    viewport = make(400, load=False)
    for turn in range(1, 401):
        put(viewport, turn, 60)
        viewport.jump_to(turn - 1)
        viewport.compose()
    assert viewport.shelf.kept_rows <= 6000 + 20 * viewport.height
    viewport.jump_to(0)
    assert "▌ 1" in texts(viewport)[0]


def test_turns_that_hold_much_text_are_given_back() -> None:
    viewport = make(60, load=False)
    for turn in range(1, 61):
        viewport.put(turn - 1, answered(turn, f"word{turn} " * 20_000), Settings())
        viewport.jump_to(turn - 1)
        viewport.compose()
    loaded = [position for position in range(60) if viewport.doc(position) is not None]
    assert 10 < len(loaded) < 60
    assert 59 in loaded
    viewport.jump_to(0)
    viewport.compose()
    assert viewport.missing()[0].start == 0


def test_hints_give_the_length_before_anything_is_loaded() -> None:
    viewport = Viewport(plain_palette())
    viewport.resize(60, 20)
    rows = [
        TurnRow(
            turn, turn, "", 1, 1, at_least=False, inherited=False, status="completed", height=7, height_width=60
        )
        for turn in range(1, 101)
    ]
    viewport.reset(100, rows)
    assert viewport.total == 700


@pytest.mark.parametrize("size", [(0, 0), (2, 1), (1, 1), (16, 1), (200, 3)])
def test_case_30_any_size_is_survived(size: tuple[int, int]) -> None:
    viewport = make(5)
    viewport.resize(*size)
    assert len(viewport.compose()) == (size[1] if size[0] else 0)
    viewport.resize(60, 20)
    assert texts(viewport)[-2] == "  turn 5 line 2"


def test_case_65_a_huge_turn_is_rendered_only_where_it_is_seen() -> None:
    paragraphs = "\n\n".join(f"paragraph {number} " * 20 for number in range(1000))
    viewport = make(1, load=False)
    viewport.put(0, TurnView(1, 1, "p", (ItemView("text", paragraphs),), "completed"), Settings())
    viewport.compose()
    doc = viewport.doc(0)
    assert doc is not None
    assert sum(block.measured(60) for block in doc.blocks) < 10
    viewport.jump_to(0)
    assert texts(viewport)[3].startswith("  paragraph 0")
    assert sum(block.measured(60) for block in doc.blocks) < 20
