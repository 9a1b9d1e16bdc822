"""A search by content finds the same whether it asks the index or reads every message."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from advchat_storage import AdvancedSQLiteSession, turn_search
from advchat_storage.store import Store
from tests.storage.oracle.items import items, texts, user_messages
from tests.storage.oracle.machine import budget

TERMS = ("weather", "WEATHER", "ather in", "100% ", "a_b a_b", "back\\slash", '"quoted"', "long text", "Paris")
odd_texts = st.one_of(
    st.sampled_from(
        (
            "weathe\u0301r",
            "weather\u0301",
            "Weather\u0338",
            "weather in Paris",
            "ﬃweather",
            "ẞweather\x00weather",
        )
    ),
    texts,
)
odd_items = st.one_of(
    user_messages,
    items,
    st.fixed_dictionaries(
        {"role": st.just("user"), "type": st.sampled_from(("odd", "message")), "content": odd_texts}
    ),
    st.fixed_dictionaries({"role": st.just("user"), "content": odd_texts}),
)
histories = st.lists(odd_items, max_size=8)


async def find(path: Path, terms: tuple[str, ...], *, by_index: bool) -> list[Any]:
    with patch.object(turn_search, "LONG", 0 if by_index else 1 << 30):
        async with AdvancedSQLiteSession(session_id="c", db_path=path) as session:
            return [await session.find_turns_by_content(term) for term in terms]


async def compare(path: Path, indexed: list[Any], added: list[Any], terms: tuple[str, ...]) -> None:
    async with AdvancedSQLiteSession(session_id="c", db_path=path, create_tables=True) as session:
        await session.add_items([{"role": "user", "content": "weather"}, *indexed])
        async with Store(path) as store:
            await store.search("weather")
        await session.create_branch_from_turn(1, "elsewhere")
        await session.switch_to_branch("main")
        await session.add_items(added)
    read = await find(path, terms, by_index=False)
    assert await find(path, terms, by_index=True) == read
    assert read[0], "the first term is there"


@given(indexed=histories, added=histories, term=texts)
@example(indexed=[{"role": "user", "type": "odd", "content": "weather"}], added=[], term="ather")
@budget(examples=30, steps=1)
def test_index_and_reading_agree(indexed: list[Any], added: list[Any], term: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder) / "chat.db", indexed, added, (*TERMS, term)))
