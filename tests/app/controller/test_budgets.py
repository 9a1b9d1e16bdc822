import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from advchat.actions import UserError
from advchat.controller.budgets import Budgets
from advchat.runner import RequestPlan
from advchat_storage import RequestRecord, Store
from tests.app.controller.desk import open_desk

PLACE = ("c", "main")
PLAN = RequestPlan("big", "vendor", characters=400)


def price(record: RequestRecord) -> RequestRecord:
    """A tenth of a cent per token; ``free`` has no known price."""
    tokens = (record.input_tokens or 0) + (record.output_tokens or 0)
    return replace(record, cost_nano=None if record.model == "odd" else tokens * 1_000_000)


async def store_with(path: Path, *, spent: Sequence[int] = (), budget: int | None = None) -> Store:
    store = Store(path)
    await store.create_conversation("c", conversation_id="c")
    await store.update_conversation("c", budget_nano=budget)
    for number, nano in enumerate(spent):
        await store.record(
            "c",
            RequestRecord(
                request_id=str(number), run_id="r", branch_id="main", turn=0, agent=None, model_asked="big",
                model="big", provider="vendor", api=None, started_at="2026-01-01", first_token_at=None,
                finished_at="2026-01-01", status="completed", input_tokens=10, output_tokens=0, total_tokens=10,
                cost_nano=nano,
            ),
        )  # fmt: skip
    return store


async def test_without_a_budget_everything_goes_out(tmp_path: Path) -> None:
    async with await store_with(tmp_path / "c.db", spent=[10**12]) as store:
        assert await Budgets(store, price).refusal(PLACE, "run", PLAN) is None


async def test_the_request_that_would_pass_the_limit_is_held_back(tmp_path: Path) -> None:
    async with await store_with(tmp_path / "c.db", spent=[450_000_000], budget=500_000_000) as store:
        budgets = Budgets(store, price, lambda model, provider: f"{model}-mini")
        told = await budgets.refusal(PLACE, "run", PLAN)

        assert told == (
            "The budget of $0.5000 for this conversation would be passed: $0.4500 is spent, and this request "
            "takes about $0.1000. /model big-mini costs less; /budget raises it."
        )
        assert await budgets.refusal(PLACE, "run", replace(PLAN, characters=40)) is None


async def test_a_spent_budget_holds_back_what_has_no_known_price(tmp_path: Path) -> None:
    async with await store_with(tmp_path / "c.db", spent=[500_000_000], budget=500_000_000) as store:
        told = await Budgets(store, price).refusal(PLACE, "run", replace(PLAN, model="odd"))

        assert told is not None
        assert "takes about" not in told


async def test_runs_at_the_same_time_do_not_pass_the_limit_together(tmp_path: Path) -> None:
    async with await store_with(tmp_path / "c.db", budget=250_000_000) as store:
        budgets = Budgets(store, price)
        told = [await budgets.refusal(PLACE, f"run {number}", PLAN) for number in range(3)]
        assert [refusal is None for refusal in told] == [True, True, False]

        budgets.settle("run 0")
        assert await budgets.refusal(PLACE, "run 3", PLAN) is None


async def test_the_nearest_limit_is_shown(tmp_path: Path) -> None:
    async with await store_with(tmp_path / "c.db", spent=[90], budget=1000) as store:
        async with store.session("c") as session:
            await session.limit_branch("main", 100)
        budget = await Budgets(store, price).of(PLACE)

        assert budget is not None
        assert (budget.scope, budget.share) == ("branch", 0.9)


async def test_a_budget_is_set_shown_and_lifted(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.set_budget("$0.00000002")
        await desk.until(lambda: desk.controller.snapshot.budget is not None)
        budget = desk.controller.snapshot.budget
        assert budget is not None
        assert (budget.limit_nano, budget.spent_nano, budget.share) == (20, 15, 0.75)
        await desk.controller.set_budget("off")
        await desk.until(lambda: desk.controller.snapshot.budget is None)


async def test_a_new_conversation_shows_no_budget_of_the_one_before(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        await desk.controller.set_budget("0.50")
        await desk.controller.new_conversation()

        assert desk.controller.snapshot.budget is None


@pytest.mark.parametrize("amount", ["1e-10", "0.0000000009"])
async def test_a_budget_too_small_to_count_is_refused(tmp_path: Path, amount: str) -> None:
    async with open_desk(tmp_path / "c.db") as desk:
        await desk.ask("one")
        with pytest.raises(UserError, match="above 0"):
            await desk.controller.set_budget(amount)


@pytest.mark.parametrize("count", [8])
async def test_many_runs_ask_at_once(tmp_path: Path, count: int) -> None:
    async with await store_with(tmp_path / "c.db", budget=500_000_000) as store:
        budgets = Budgets(store, price)
        told = await asyncio.gather(*(budgets.refusal(PLACE, str(number), PLAN) for number in range(count)))

        assert sum(refusal is None for refusal in told) == 5
