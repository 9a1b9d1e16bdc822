"""What the usage panel shows, gathered from the ledger.

Owns the questions asked of the store for the panel and their shaping into ``UsageView``. Knows no
widget and no runner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from advchat.state import Share, TurnBar, UsageView
from advchat_storage import Store
from advchat_storage.models import UsageCut, UsageSum

TOP_SHARES = 8


async def usage_view(
    store: Store, conversation_id: str, branch_id: str, *, context_window: int | None, local: bool
) -> UsageView:
    """Ask for everything the panel shows of one branch and its surroundings."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    month = midnight.replace(day=1)
    conversation, binned, everything, today, this_month = await asyncio.gather(
        store.usage(conversation_id=conversation_id),
        store.usage(conversation_id=conversation_id, binned=True),
        store.usage(),
        store.usage(since=utc(midnight)),
        store.usage(since=utc(month)),
    )
    branch, turns, models, tools, known = await asyncio.gather(
        store.branch_usage(conversation_id, branch_id),
        store.turn_usages(conversation_id, branch_id),
        store.usage_by("model", conversation_id=conversation_id),
        store.usage_by("tool", conversation_id=conversation_id),
        store.calibration(conversation_id, branch_id),
    )
    last = turns[-1] if turns else None
    return UsageView(
        turn=int(last.keys["turn"]) if last else None,
        this_turn=last.usage if last else UsageSum(),
        branch=branch,
        conversation=conversation,
        binned=binned,
        everything=everything,
        today=today,
        month=this_month,
        bars=tuple(_bar(cut) for cut in turns),
        models=_shares(models, "model"),
        tools=_shares(tools, "tool"),
        context_tokens=None if known is None else known.input_tokens + known.output_tokens,
        context_window=context_window,
        local=local,
    )


def utc(moment: datetime) -> str:
    """Write a moment as the store's times are written."""
    return (
        (moment - (moment.utcoffset() or timedelta())).replace(tzinfo=None).isoformat(timespec="microseconds")
    )


def _bar(cut: UsageCut) -> TurnBar:
    usage = cut.usage
    return TurnBar(
        turn=int(cut.keys["turn"]),
        input_tokens=usage.input_tokens or 0,
        cached_tokens=usage.cached_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cost_nano=usage.cost_nano,
        known=usage.total_tokens is not None or usage.input_tokens is not None,
    )


def _shares(cuts: Sequence[UsageCut], key: str) -> tuple[Share, ...]:
    named = [cut for cut in cuts if cut.keys.get(key)]
    named.sort(key=lambda cut: (-(cut.usage.cost_nano or 0), -(cut.usage.total_tokens or 0)))
    return tuple(
        Share(
            name=str(cut.keys[key]),
            requests=cut.usage.requests,
            total_tokens=cut.usage.total_tokens,
            cost_nano=cut.usage.cost_nano,
            at_least=cut.usage.at_least,
        )
        for cut in named[:TOP_SHARES]
    )
