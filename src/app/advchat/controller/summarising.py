"""A branch's summary, written by the model on request, as context on another branch.

Owns the way of the summary: it is asked for on a branch of its own beside the source, where its cost and
words stay to be seen, and carried over once it is whole. Knows no widget.
"""

from __future__ import annotations

import asyncio
import logging

from advchat.actions import UserError
from advchat.controller.core import branch_name
from advchat.controller.exploring import Exploring

log = logging.getLogger(__name__)

SUMMARY_PROMPT = (
    "Summarise the conversation so far (branch “{name}”) for somebody who goes on from it: what was asked, "
    "what was found and decided, what is open. Be complete and brief, and write only the summary."
)


class Summarising(Exploring):
    """Carrying a summary instead of turns."""

    async def carry_summary(self, source: str, target: str) -> None:
        """Have a branch summarised and the summary appended to another; returns once the request is out.

        Raises ``UserError`` for unknown branches, for one and the same, and for a source without turns. When
        the summary fails or is stopped, nothing is carried: its branch shows why.
        """
        source_id, target_id = self._resolve(source), self._resolve(target)
        if source_id == target_id:
            raise UserError("Choose another branch to carry the summary to.")
        conversation = self._conversation_id
        last = (await self._last_turn_of(source_id)).turn
        name = branch_name(self._branches, source_id)
        async with self.store.session(conversation) as session:
            branch_id = await session.fork(
                last, kind="after", source=source_id, title=f"Summary of {name}", title_source="manual"
            )
        place = (conversation, branch_id)
        turn = await self.runs.send(place, SUMMARY_PROMPT.format(name=name), model=self._model)
        await self._refresh("tree")
        if turn is not None:
            self._spawn(
                asyncio.create_task(self._carry_when_done(place, turn, target_id), name="carry a summary")
            )

    async def _carry_when_done(self, place: tuple[str, str], turn: int, target: str) -> None:
        await self.runs.wait(place)
        done = await self.store.turn(*place, turn)
        if done is None or done.status != "completed":
            return
        # Where a prompt is queued, the next run begins as the one before it ends.
        while self.runs.running((place[0], target)):
            await self.runs.wait((place[0], target))
        async with self.store.session(place[0]) as session:
            try:
                await session.carry_turns(place[1], [turn], target)
            except ValueError:
                log.info("the branch that a summary was for is gone")
                return
        await self._push_uncarry("carried a summary over", (place[0], target), 1)
        await self._refresh("turns")
