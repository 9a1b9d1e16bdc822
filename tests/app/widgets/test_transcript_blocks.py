"""The splitting of Markdown into blocks, and that streaming shows what the finished text shows."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advchat.state import ItemView, TurnView
from advchat.widgets.transcript.blocks import Splitter, split_cells
from advchat.widgets.transcript.document import Settings, TurnDoc
from advchat.widgets.transcript.palette import plain_palette

PALETTE = plain_palette()
LINES = [
    "para text here", "**bold** and `code`", "- item", "  continued", "  - nested", "1. one", "2. two",
    "   ```py", "   x = 1", "   ```", "```py", "x = 1", "```", "~~~", "| a | b |", "|---|---|", "| 1 | 2 |",
    "# head", "> quote", "", "", "---", "===", "    indented", "[a]: http://x.y", "see [a] ok", "***",
    "* star", "10) ten", "\ttab", "`` ` ``", "end.", "日本語", "\x1b[31m",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=14).map("\n".join)


def kinds(text: str) -> list[tuple[str, str]]:
    pieces, _ = Splitter().update(text)
    return [(piece.kind, text[piece.start : piece.end].strip("\n")) for piece in pieces]


def rows_of(doc: TurnDoc, width: int = 60) -> list[str]:
    return [row.text.rstrip() for block in doc.blocks for row in block.render(PALETTE, width)]


def static_rows(text: str) -> list[str]:
    view = TurnView(1, 1, "p", (ItemView("text", text),), "completed")
    return rows_of(TurnDoc(view, Settings()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", [("paragraph", "one\ntwo"), ("paragraph", "three")]),
        ("text\n# head\nmore", [("paragraph", "text"), ("prose", "# head"), ("paragraph", "more")]),
        ("head\n===\nmore", [("prose", "head\n==="), ("paragraph", "more")]),
        ("```py\na\n\nb\n```\nend", [("code", "```py\na\n\nb\n```"), ("paragraph", "end")]),
        ("````\n```\n````", [("code", "````\n```\n````")]),
        ("- a\n- b\n\n  c\n- d", [("prose", "- a"), ("prose", "- b\n\n  c"), ("prose", "- d")]),
        ("1. a\n   ```\n   x\n   ```\n   b", [
            ("prose", "1. a"), ("code", "   ```\n   x\n   ```"), ("prose", "   b")]),
        ("t\n| a | b |\n|--|--|\n| 1 | 2 |\nend", [
            ("paragraph", "t"), ("table", "| a | b |\n|--|--|\n| 1 | 2 |"), ("paragraph", "end")]),
        ("> a\nlazy\n\nb", [("prose", "> a\nlazy"), ("paragraph", "b")]),
        ("```unclosed\ncode", [("code", "```unclosed\ncode")]),
    ],
)  # fmt: skip
def test_blocks_of_a_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@given(texts)
def test_pieces_cover_everything_but_blank_lines(text: str) -> None:
    pieces, _ = Splitter().update(text)
    place = 0
    for piece in pieces:
        assert not text[place : piece.start].strip()
        assert piece.start < piece.end
        place = piece.end
    assert not text[place:].strip()


@settings(deadline=None, max_examples=150)
@given(texts, st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_a_streamed_answer_ends_as_the_stored_one(text: str, steps: list[int]) -> None:
    doc = TurnDoc(TurnView(1, 1, "p", (), "running"), Settings(), live=True)
    place = turn = 0
    while place < len(text):
        place += steps[turn % len(steps)]
        turn += 1
        doc.take_items([ItemView("text", text[:place], running=True)])
        rows_of(doc)
    doc.replace(TurnView(1, 1, "p", (ItemView("text", text),), "completed"))
    assert rows_of(doc) == static_rows(text)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200), st.integers(1, 40))
def test_any_text_can_be_drawn_at_any_width(text: str, width: int) -> None:
    view = TurnView(1, 1, text, (ItemView("text", text), ItemView("reasoning", text)), "failed", error=text)
    doc = TurnDoc(view, Settings(unfolded={"item1"}))
    for row in rows_of(doc, width):
        assert not [letter for letter in row if unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"}]


@settings(deadline=None, max_examples=100)
@given(texts.filter(lambda text: text.strip() and "[" not in text), st.integers(1, 12))
def test_the_last_frame_of_a_stream_is_the_stored_answer(text: str, step: int) -> None:
    doc = TurnDoc(TurnView(1, 1, "p", (), "running"), Settings(), live=True)
    for place in range(step, len(text) + step, step):
        doc.take_items([ItemView("text", text[:place], running=True)])
        rows_of(doc)
    assert rows_of(doc) == static_rows(text)


def test_only_the_growing_block_is_rendered_again() -> None:
    doc = TurnDoc(TurnView(1, 1, "p", (), "running"), Settings(), live=True)
    doc.take_items([ItemView("text", "first\n\nsecond\n\nthird", running=True)])
    rows_of(doc)
    before = {block.source: block.render(PALETTE, 60) for block in doc.blocks}
    doc.take_items([ItemView("text", "first\n\nsecond\n\nthird and more", running=True)])
    for block in doc.blocks:
        if block.source in before:
            assert block.ready(PALETTE, 60)
            assert block.render(PALETTE, 60) is before[block.source]


@pytest.mark.parametrize("kind", ["paragraph", "code", "table"])
def test_a_growing_block_renders_only_its_end(kind: str) -> None:
    line = {"paragraph": "word " * 40, "code": "x = 'text'  # why\n", "table": "| cell one | cell two |\n"}[
        kind
    ]
    head = {"paragraph": "", "code": "```py\n", "table": "| a | b |\n|---|---|\n"}[kind]
    doc = TurnDoc(TurnView(1, 1, "p", (), "running"), Settings(), live=True)
    text = head + line * 600
    doc.take_items([ItemView("text", text, running=True)])
    rows_of(doc)
    rows = list(doc.blocks[-1].render(PALETTE, 60))
    doc.take_items([ItemView("text", text + line, running=True)])
    after = doc.blocks[-1].render(PALETTE, 60)
    kept = sum(1 for old, new in zip(rows, after, strict=False) if old is new)
    assert len(after) > len(rows)
    assert kept > len(rows) * 0.8


def test_case_17_of_a_huge_line_only_the_end_is_rendered_again() -> None:
    text = "日本語のとても長い一行。" * 8000
    doc = TurnDoc(TurnView(1, 1, "p", (), "running"), Settings(), live=True)
    for place in range(1000, len(text), 5000):
        doc.take_items([ItemView("text", text[:place], running=True)])
        before = list(doc.blocks[-1].render(PALETTE, 60))
        doc.take_items([ItemView("text", text[: place + 40], running=True)])
        after = doc.blocks[-1].render(PALETTE, 60)
        fresh = sum(1 for old, new in zip(before, after, strict=False) if old is not new)
        assert fresh < 200
    assert len(after) > 2000


def test_lines_and_margins_of_a_paragraph_are_kept() -> None:
    assert static_rows("def f(x):\n    return x\nend")[2:] == ["  def f(x):", "      return x", "  end"]


def test_lines_that_were_only_kept_short_flow_together() -> None:
    long = "these words go on for so long that the line was broken by hand"
    joined = [row.strip() for row in static_rows(f"{long}\nand on\nand on")[2:]]
    assert " ".join(joined[:-1]) == f"{long} and on"
    assert joined[-1] == "and on"
    assert static_rows(f"- {long}\n  and on")[3].startswith("    ")
    assert "    return" in static_rows(f"{long}\n    return")[-1]


def test_definitions_reach_blocks_before_them() -> None:
    assert static_rows("see [here][1] now\n\n[1]: https://example.org")[2].strip() == "see here now"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("| a | b |", ["a", "b"]),
        ("a | b", ["a", "b"]),
        (r"| a \| b | c |", [r"a \| b", "c"]),
        ("| | x |", ["", "x"]),
        ("|", [""]),
    ],
)
def test_cells_of_a_table_row(line: str, expected: list[str]) -> None:
    assert [line[start:stop] for start, stop in split_cells(line)] == expected
