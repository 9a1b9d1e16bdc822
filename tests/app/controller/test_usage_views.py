"""What the usage panel gets of a real ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from advchat.controller.usage_views import TOP_SHARES, usage_view
from advchat.state import UsageView
from advchat_storage import Store
from advchat_storage.models import UsageSum
from tests.storage.scenes import CONVERSATION, Scene, request


async def view_of(store: Store) -> UsageView:
    return await usage_view(store, CONVERSATION, "main", context_window=1_000, local=False)


async def known(scene: Scene, **more: Any) -> None:
    await scene.ask("prompt", **{"input_tokens": 10, "output_tokens": 5, "cost_nano": 7, **more})


async def test_each_bar_knows_its_whole_turn(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "c.db") as scene:
        await known(scene, cached_tokens=4)
        await scene.ask("stopped", status="stopped", estimated_output_tokens=3)
        view = await view_of(scene.store)
        first, second = view.bars
        assert (first.turn, first.known, first.usage.cached_tokens, first.usage.cost_nano) == (1, True, 4, 7)
        assert (second.turn, second.known, second.usage.estimated_output_tokens) == (2, False, 3)
        assert view.this_turn == second.usage
        assert view.context_tokens == 15


async def test_shares_are_the_whole_conversation(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "c.db") as scene:
        for number in range(TOP_SHARES + 3):
            await known(scene, model=f"model-{number}", cost_nano=100 - number, tools=("look",) * (number % 2))
        await scene.ask("who", model=None, input_tokens=1, output_tokens=1)
        view = await view_of(scene.store)
        assert [share.name for share in view.models[:2]] == ["model-0", "model-1"]
        assert (len(view.models), view.models[-1].name) == (TOP_SHARES, "5 others")
        assert sum(share.total_tokens or 0 for share in view.models) == view.conversation.total_tokens
        assert sum(share.cost_nano or 0 for share in view.models) == view.conversation.cost_nano
        assert [share.at_least for share in view.models] == [False] * (TOP_SHARES - 1) + [True]
        assert {share.name: share.requests for share in view.tools} == {"look": 5, "no tool": 7}


async def test_without_tools_there_is_no_share_of_them(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "c.db") as scene:
        await known(scene)
        assert (await view_of(scene.store)).tools == ()


async def test_today_and_this_month_begin_at_midnight_here(tmp_path: Path) -> None:
    async with Scene.open(tmp_path / "c.db") as scene:
        await scene.ask("old")
        await scene.store.record(CONVERSATION, request(finished_at="2020-01-01T00:00:00+00:00", cost_nano=3))
        view = await view_of(scene.store)
        assert (view.everything.requests, view.today, view.month) == (1, UsageSum(), UsageSum())
