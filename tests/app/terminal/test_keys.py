"""What the terminal sends, read as keys and pastes."""

from __future__ import annotations

import pytest
from textual import events

from advchat.terminal.keys import InputReader, is_paste


def keys(*reads: str) -> list[str]:
    """Feed what each read gave; tell keys by name and pastes as ``paste:text``."""
    reader = InputReader()
    found: list[str] = []
    for text in reads:
        for message in reader.feed(text):
            if isinstance(message, events.Key):
                found.append(message.key)
            elif isinstance(message, events.Paste):
                found.append(f"paste:{message.text}")
    return found


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\x1b\r", "alt+enter"),
        ("\x1b\n", "alt+enter"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;5;13~", "ctrl+enter"),
        ("\x1b[27;3;13~", "alt+enter"),
        ("\x1b[1;3A", "alt+up"),
        ("\x1bOQ", "f2"),
    ],
)
def test_case_20_and_21_each_spelling_of_enter_is_told_apart(sent: str, key: str) -> None:
    assert keys(sent) == [key]


def test_case_15_an_enter_between_text_in_one_read_is_pasted() -> None:
    assert keys("a\r\nb") == ["paste:a\nb"]
    assert keys("first\rsecond\r") == ["paste:first\nsecond\n"]
    assert keys("a\r\x00b") == ["paste:a\nb"]


def test_case_25_an_enter_at_the_end_of_a_read_is_pressed() -> None:
    assert keys("안녕\r", "요") == ["안", "녕", "enter", "요"]


def test_case_43_two_enters_in_one_read_are_two_keys() -> None:
    assert keys("a\r\r") == ["a", "enter", "enter"]


def test_a_bracketed_paste_over_several_reads_is_one_paste() -> None:
    assert keys("\x1b[200~one\r", "two\rthree", "\x1b[201~") == ["paste:one\rtwo\rthree"]
    assert keys("\x1b[200", "~one\rtwo\x1b[2", "01~", "x\ry") == ["paste:one\rtwo", "paste:x\ny"]


def test_keys_typed_fast_are_no_paste() -> None:
    assert not is_paste("hello\r")
    assert not is_paste("\rhello")
    assert not is_paste("\x1b[A\rx")
    assert not is_paste("ab\x7f\rc")
    assert is_paste("a\n\n\nb")


@pytest.mark.parametrize(
    "broken",
    [
        "\x1b[27;2;9999999~",
        "\x1b[99999999999;2u",
        "\x1b[1;1;99999999999999u",
        "\x1b[<999999999999999999999;1;1M",
        "\x1b[48;99999999999999999999;1;1;1t",
        "\ufffd\ufffd",
    ],
)
def test_case_11_a_broken_sequence_leaves_the_reader_alive(broken: str) -> None:
    reader = InputReader()
    list(reader.feed(broken))
    list(reader.tick())
    assert [message.key for message in reader.feed("x") if isinstance(message, events.Key)][-1:] == ["x"]
