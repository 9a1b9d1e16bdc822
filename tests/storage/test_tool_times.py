"""Times of tool calls are kept by call, in their conversation only."""

from __future__ import annotations

from pathlib import Path

from advchat_storage import Store


async def test_a_time_is_kept_and_the_newest_counts(tmp_path: Path) -> None:
    async with Store(tmp_path / "c.db") as store:
        await store.keep_tool_times("c", {"a": 1.5, "b": 0.25})
        await store.keep_tool_times("c", {"a": 2.0})
        await store.keep_tool_times("other", {"a": 9.0})

        assert await store.tool_times("c", ["a", "b", "unknown"]) == {"a": 2.0, "b": 0.25}
        assert await store.tool_times("c", []) == {}


async def test_odd_call_ids_are_kept_too(tmp_path: Path) -> None:
    async with Store(tmp_path / "c.db") as store:
        await store.keep_tool_times("c", {"\ud800": 1.0, "": 2.0})

        assert list((await store.tool_times("c", ["\ud800"])).values()) == [1.0]
