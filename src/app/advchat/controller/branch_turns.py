"""All turns of a branch, as they are shown, with what each has cost.

Owns the one reading that a comparison makes of a side, on the screen and on the command line.
"""

from __future__ import annotations

import asyncio

from advchat.controller.item_views import turn_view
from advchat.state import TurnView
from advchat_storage import Store


async def branch_turns(store: Store, conversation_id: str, branch_id: str) -> list[TurnView]:
    """Give every turn of the branch, oldest first."""
    place = (conversation_id, branch_id)
    count = await store.turn_count(*place)
    turns, headers = await asyncio.gather(store.turns(*place, 0, count), store.turn_headers(*place, 0, count))
    usages = {header.message_id: header.usage for header in headers}
    return [turn_view(turn, usages[turn.message_id]) for turn in turns]
