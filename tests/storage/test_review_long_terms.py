"""Whole texts searched for: as long as anybody pastes, and literally to their last letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.turn_search import LONG
from tests.storage.scenes import user

WORDS = {
    "ascii": "".join(f"word {number}, " for number in range(20_000)),
    "escaped": '~%_\\"\n' * 20_000,
    "other scripts": "".join(f"단어 {number} слово 😀 " for number in range(20_000)),
}


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("others", [0, LONG], ids=["few turns", "many turns"])
async def test_a_whole_text_is_found_by_itself(tmp_path: Path, text: str, others: int) -> None:
    async with AdvancedSQLiteSession(session_id="s", db_path=tmp_path / "s.db", create_tables=True) as session:
        await session.add_items([user(f"other {number}") for number in range(others)])
        await session.add_items([user(text + "end"), user(text + "other end")])
        assert [turn["turn"] for turn in await session.find_turns_by_content(text + "END")] == [others + 1]
        assert len(await session.find_turns_by_content(text)) == 2
        assert await session.find_turns_by_content(text + "no end") == []
        assert await session.create_branch_from_content(text + "other", "found") == "found"
        assert len(await session.get_items()) == others + 1
