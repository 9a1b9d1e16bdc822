"""Neutralising, cutting and padding of text from outside."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from advchat.text import clean, one_line, pad, safe_link

STEERING = {"Cc", "Cs", "Zl", "Zp"}
BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_case_5_control_bytes_become_pictures() -> None:
    assert clean("\x1b]52;c;aGk=\x07") == "␛]52;c;aGk=␇"
    assert clean("\x9b2J") == "⟨U+009B⟩2J"
    assert clean("a\rb\x00c\x7f") == "a␍b␀c␡"


def test_case_8_lone_surrogates_are_replaced() -> None:
    assert clean("a\ud800b\udfff") == "a\ufffdb\ufffd"
    clean("\ud800").encode()


def test_case_13_right_to_left_keeps_its_logical_order() -> None:
    persian = "سلام report.txt دنیا"
    assert clean(persian) == persian
    assert clean("evil\u202etxt.exe\u2066") == "evil⟨U+202E⟩txt.exe⟨U+2066⟩"


def test_line_breaks() -> None:
    assert clean("a\r\nb\nc") == "a\nb\nc"
    assert clean("a\r\nb\nc\u2028d", newlines=False) == "a b c d"
    assert clean("a\u2028b\u2029c\x85d") == "a␤b␤c⟨U+0085⟩d"


def test_tabs_end_at_stops_by_cells() -> None:
    assert clean("a\tb\n\tc") == "a   b\n    c"
    assert clean("日\tb") == "日  b"


def test_hidden_tag_letters_are_shown_but_flags_stay() -> None:
    england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    assert clean(england) == england
    assert clean("hi\U000e0041") == "hi⟨U+E0041⟩"


@given(st.text(st.characters()) | st.text(st.characters(max_codepoint=0xA0)))
def test_nothing_that_steers_survives(text: str) -> None:
    for line in clean(text).split("\n"):
        assert not BIDI & set(line)
        assert not [letter for letter in line if unicodedata.category(letter) in STEERING]
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters()), st.integers(-1, 40))
def test_one_line_fits_and_pad_fills(text: str, cells: int) -> None:
    line = one_line(text, cells)
    assert "\n" not in line
    assert cell_len(line) <= max(0, cells)
    assert cell_len(pad(text, cells)) == max(0, cells)
    assert cell_len(pad(text, cells, "right")) == max(0, cells)


def test_one_line_cuts_by_cells() -> None:
    assert one_line("hello  world\nagain", 40) == "hello world again"
    assert one_line("hello world", 6) == "hello…"
    assert one_line("日本語日本語", 6) == "日本…"
    assert one_line("x" * 100_000, 5) == "xxxx…"
    assert one_line("anything", 1) == "…"


@pytest.mark.parametrize("label", ["日本語", "☂️ rain", "e\u0301te", "👩‍👩‍👧 family", "plain"])
def test_case_14_labels_align_by_cells(label: str) -> None:
    assert cell_len(pad(label, 12)) == 12
    assert pad(label, 12).startswith(label)


@pytest.mark.parametrize(
    "url",
    ["https://example.org/a?b=c#d", "http://[::1]:80/x", "mailto:a@example.org", "HTTPS://EXAMPLE.ORG"],
)
def test_safe_links_pass(url: str) -> None:
    assert safe_link(f" {url} ") == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "smb://host/share",
        "vscode://file/x",
        "/etc/passwd",
        "//example.org/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "java\nscript:alert(1)",
        "https://",
        "http://[::1",
        "mailto:",
        "https://example.org/\x1b]8;;",
        "https://example.org/\u202etxt",
        "https://exa mple.org",
    ],
)
def test_case_7_other_links_are_refused(url: str) -> None:
    assert safe_link(url) is None
