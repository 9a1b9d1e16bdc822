"""Several branches at once: comparison, carrying turns over, budgets and estimates.

Owns what is done across branches. Knows no widget; everything goes through the store and ``Runs``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from advchat.actions import UserError
from advchat.controller.branch_turns import branch_turns
from advchat.controller.comparing import align, common_prefix
from advchat.controller.estimating import estimate
from advchat.controller.fanning import Fanning
from advchat.controller.runs import Place
from advchat.state import (
    ComparedSide,
    Comparison,
    SendEstimate,
    TurnView,
)
from advchat.usage_report import add_up

NANO = 1_000_000_000


class Exploring(Fanning):
    """The actions that span several branches."""

    # Compare

    async def compare(self, left: str, right: str) -> Comparison:
        """Put two branches side by side from their fork point on. Raises ``UserError`` for unknown ones."""
        ids = [self._resolve(name) for name in (left, right)]
        if ids[0] == ids[1]:
            raise UserError("A branch cannot be compared with itself: mark another one with m.")
        one, other = [await branch_turns(self.store, self._conversation_id, branch_id) for branch_id in ids]
        shared = common_prefix([turn.key for turn in one], [turn.key for turn in other])
        return Comparison(
            left=self._side(ids[0], one[shared:]),
            right=self._side(ids[1], other[shared:]),
            shared_turns=shared,
            turns=align(one[shared:], other[shared:]),
        )

    def _side(self, branch_id: str, turns: Sequence[TurnView]) -> ComparedSide:
        branch = self._branch(branch_id)
        return ComparedSide(branch_id, branch.title, branch.model, add_up([turn.usage for turn in turns]))

    # Carry over

    async def carry(self, source: str, turns: Sequence[int], target: str) -> None:
        """Copy turns of one branch onto the end of another; the copies say where they come from."""
        conversation = self._conversation_id
        source_id, target_id = self._resolve(source), self._resolve(target)
        if source_id == target_id:
            raise UserError("Choose another branch to carry turns to.")
        if self.runs.running((conversation, target_id)):
            raise UserError("That branch is being answered. Stop it, or wait until it is done.")
        live = self.runs.live((conversation, source_id))
        if live is not None and live.turn in turns:
            raise UserError(f"Turn {live.turn} is being answered: carry it over when it is done.")
        async with self.store.session(conversation) as session:
            try:
                await session.carry_turns(source_id, list(turns), target_id)
            except ValueError as error:
                raise UserError(f"{error}.") from error
        await self._push_uncarry("carried turns over", (conversation, target_id), len(turns))
        await self._refresh("turns")

    async def _push_uncarry(self, label: str, target: Place, count: int) -> None:
        """Make the carrying of the newest ``count`` turns of a branch a step that can be taken back."""
        after = await self.store.turn_count(*target)
        self._undo.push(label, lambda: self._uncarry(target, count, after))

    async def _uncarry(self, target: Place, count: int, after: int) -> None:
        if self.runs.running(target) or await self.store.turn_count(*target) != after:
            raise UserError("The branch has gone on since turns were carried to it: they stay.")
        async with self.store.session(target[0]) as session:
            await session.drop_last_turns(target[1], count)
        await self._refresh("turns")

    # Before sending

    async def estimate(self, text: str) -> SendEstimate | None:
        """Tell about what sending ``text`` on the branch shown would take; None where nothing is known."""
        if not self._stored or not text.strip():
            return None
        place = self.place
        known = await self.store.calibration(*place)
        if known is None:
            return None
        info = self.runner.model_info(self._model)
        recent = await self.store.requests(conversation_id=place[0], limit=20)
        outputs = [request.output_tokens for request in recent if request.output_tokens is not None]
        return await asyncio.to_thread(
            estimate,
            text,
            known,
            outputs,
            price=self._price,
            model=info.name or known.model,
            provider=info.provider or known.provider,
            window=info.context_window,
        )

    # Budget

    async def set_budget(self, amount: str, *, branch: bool = False) -> None:
        """Limit the spend of the conversation (or branch) shown, in dollars; 0 or ``off`` lifts the limit."""
        nano = _nano(amount)
        await self._ensure_stored()
        if branch:
            async with self.session() as session:
                await session.limit_branch(self._branch_id, nano)
        else:
            await self.store.update_conversation(self._conversation_id, budget_nano=nano)
        await self._refresh("usage")


def _nano(amount: str) -> int | None:
    text = amount.strip().removeprefix("$")
    if text.lower() in ("off", "none", "0"):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise UserError(f"“{amount}” is no amount. Write dollars: /budget 0.50, or /budget off.") from None
    nano = int(value * NANO) if value.is_finite() and abs(value) <= 1_000_000 else 0
    if nano <= 0:
        raise UserError("A budget is an amount above 0 in dollars: /budget 0.50, or /budget off.")
    return nano
