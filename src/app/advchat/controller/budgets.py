"""Limits of spend: what is spent, what is about to be, and when a request must not go out.

Owns the budgets of conversations and branches and the reservations of requests on their way, so that
several runs at once cannot pass a limit together. An estimate only ever holds a request back; it is never
booked. Knows no widget and no runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from advchat.runner import RequestPlan
from advchat.state import Budget, dollars
from advchat_storage import RequestRecord, Store

Place = tuple[str, str]
Price = Callable[[RequestRecord], RequestRecord]
Cheaper = Callable[[str, str | None], str | None]

_CHARACTERS_PER_TOKEN = 4
_RECENT = 20
"""Requests whose output tells how long the next one may be."""


@dataclass(slots=True)
class Budgets:
    """The limits in force. ``cheaper`` names a cheaper model of the same provider, where there is one."""

    store: Store
    price: Price
    cheaper: Cheaper | None = None
    _reserved: dict[str, tuple[Place, int]] = field(default_factory=dict)
    """Run ID to its place and the nano-dollars that its request on the way may cost."""

    async def of(self, place: Place) -> Budget | None:
        """Give the limit that is nearest to being reached on a place; None without one."""
        limits = [limit for limit in await self._limits(place) if limit is not None]
        return max(limits, key=lambda budget: budget.share, default=None)

    async def _limits(self, place: Place) -> list[Budget | None]:
        conversation = await self.store.conversation(place[0])
        if conversation is None:
            return []
        limits: list[Budget | None] = []
        if conversation.budget_nano is not None:
            spent = (await self.store.usage(conversation_id=place[0])).cost_nano or 0
            limits.append(Budget(conversation.budget_nano, spent, "conversation"))
        async with self.store.session(place[0]) as session:
            tree = await session.branch_tree()
        branch = next((branch for branch in tree if branch.branch_id == place[1]), None)
        if branch is not None and branch.budget_nano is not None:
            spent = (await self.store.usage(conversation_id=place[0], branch_id=place[1])).cost_nano or 0
            limits.append(Budget(branch.budget_nano, spent, "branch"))
        return limits

    async def refusal(self, place: Place, run_id: str, plan: RequestPlan) -> str | None:
        """Tell in a line why a request must not go out, or reserve what it may cost and give None."""
        # What is settled while the ledger is read counts twice rather than not at all.
        earlier = dict(self._reserved)
        limits = [limit for limit in await self._limits(place) if limit is not None]
        if not limits:
            return None
        expected = await self._expected(place, plan)
        others = {other: held for other, held in (earlier | self._reserved).items() if other != run_id}
        for budget in limits:
            total = budget.spent_nano + _on_the_way(others.values(), place, budget) + expected
            if budget.spent_nano >= budget.limit_nano or total > budget.limit_nano:
                return self._words(budget, expected, plan)
        self._reserved[run_id] = (place, expected)
        return None

    def settle(self, run_id: str) -> None:
        """Forget a reservation: its request is in the ledger, or will never be."""
        self._reserved.pop(run_id, None)

    async def _expected(self, place: Place, plan: RequestPlan) -> int:
        """Give about what a request will cost; 0 where its price is unknown."""
        recent = await self.store.requests(conversation_id=place[0], limit=_RECENT)
        outputs = [request.output_tokens for request in recent if request.output_tokens is not None]
        now = datetime.now(UTC).isoformat()
        tokens = plan.characters // _CHARACTERS_PER_TOKEN
        output = sum(outputs) // len(outputs) if outputs else 0
        record = RequestRecord(
            request_id="expected",
            run_id="expected",
            branch_id=place[1],
            turn=0,
            agent=None,
            model_asked=plan.model,
            model=plan.model,
            provider=plan.provider,
            api=None,
            started_at=now,
            first_token_at=None,
            finished_at=now,
            status="completed",
            input_tokens=tokens,
            output_tokens=output,
            total_tokens=tokens + output,
        )
        return self.price(record).cost_nano or 0

    def _words(self, budget: Budget, expected: int, plan: RequestPlan) -> str:
        limit, spent = dollars(budget.limit_nano), dollars(budget.spent_nano)
        line = f"The budget of {limit} for this {budget.scope} would be passed: {spent} is spent"
        if expected:
            line += f", and this request takes about {dollars(expected)}"
        other = self.cheaper(plan.model, plan.provider) if self.cheaper and plan.model else None
        hint = f" /model {other} costs less;" if other else ""
        return f"{line}.{hint} /budget raises it."


def _on_the_way(held: Iterable[tuple[Place, int]], place: Place, budget: Budget) -> int:
    return sum(
        nano
        for there, nano in held
        if there[0] == place[0] and (budget.scope == "conversation" or there == place)
    )
