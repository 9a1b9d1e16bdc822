"""Lone surrogates."""

from __future__ import annotations

import pytest

from advchat.models.mending import StreamMender, mend, mend_value


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("plain ☀ 😀", "plain ☀ 😀"),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("nul\0stays", "nul\0stays"),
    ],
)
def test_case_8_a_text(text: str, mended: str) -> None:
    assert mend(text) == mended


def test_case_8_values_are_mended_inside() -> None:
    value = {"a": ["x\ud800", {"\ud800": 1}], "n": 3, "none": None}
    assert mend_value(value) == {"a": ["x\ufffd", {"\ufffd": 1}], "n": 3, "none": None}


def test_whole_values_stay_the_same_object() -> None:
    value = {"a": ["x", {"b": 1}], "n": 3}
    assert mend_value(value) is value


def test_case_8_a_pair_split_between_two_pieces_is_one_character() -> None:
    mender = StreamMender()
    assert [mender.feed("a\ud83d"), mender.feed("\ude00b"), mender.feed("c\ud83d"), mender.end()] == [
        "a", "😀b", "c", "\ufffd",
    ]  # fmt: skip
    assert mender.end() == ""
