"""What the usage panel shows, gathered from the ledger.

Owns the questions asked of the store for the panel and their shaping into ``UsageView``. Knows no
widget and no runner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from advchat.state import Share, TurnBar, UsageView
from advchat.usage_report import add_up
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
        models=_shares(models, "model", "unknown"),
        tools=_shares(tools, "tool", "no tool") if any(cut.keys["tool"] for cut in tools) else (),
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
        usage=usage,
    )


def _shares(cuts: Sequence[UsageCut], key: str, nameless: str) -> tuple[Share, ...]:
    """Give the dearest parts first; those beyond the first few are one, so that all parts are the whole."""
    named = [(str(cut.keys.get(key) or nameless), cut.usage) for cut in cuts]
    named.sort(key=lambda part: (-(part[1].cost_nano or 0), -(part[1].total_tokens or 0)))
    if len(named) > TOP_SHARES:
        left = named[TOP_SHARES - 1 :]
        named[TOP_SHARES - 1 :] = [(f"{len(left)} others", add_up([usage for _, usage in left]))]
    return tuple(
        Share(
            name=name,
            requests=usage.requests,
            total_tokens=usage.total_tokens,
            cost_nano=usage.cost_nano,
            at_least="cost_nano" in usage.unknown,
        )
        for name, usage in named
    )
