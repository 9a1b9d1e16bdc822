"""Items that are as deep as JSON takes them, and surrogates wherever they are in an item's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.items import encode
from advchat_storage.parsing import parse


def nested(depth: int, innermost: Any) -> Any:
    value = innermost
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [150, 300, 600, 900])
@pytest.mark.parametrize(("word", "kept"), [("plain", "plain"), ("half \ud83d", "half \ufffd")])
async def test_no_item_is_lost_for_being_deep(tmp_path: Path, depth: int, word: str, kept: str) -> None:
    item = {"role": "user", "content": "deep", "more": nested(depth, word)}
    expected = {**item, "more": nested(depth, kept)}
    async with AdvancedSQLiteSession(session_id="s", db_path=tmp_path / "s.db", create_tables=True) as session:
        await session.add_items([item])
        assert await session.get_items() == [expected]
        assert await session.pop_item() == expected


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\\ud83d", "\\ud83d"),
        ("\\\\ud83d", "\\\\ud83d"),
        ("\\\ud83d", "\\\ufffd"),
    ],
)
def test_only_what_is_a_lone_surrogate_is_replaced(said: str, kept: str) -> None:
    assert json.loads(encode({said: [said]})) == {kept: [kept]}


@pytest.mark.parametrize("text", ['"\\uD83D"', b'"\xed\xa0\xbd"', '"\ud83d"'])
def test_what_others_have_written_reads_as_valid_text(text: str | bytes) -> None:
    assert str(parse(text)).strip("\ufffd") == ""
