"""One prompt on several branches at once.

Owns the fan-out: which branches answer the same prompt, and how each of them stands. Knows no widget;
everything goes through the store and ``Runs``.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

from advchat.actions import UserError
from advchat.controller.branching import Branching
from advchat.controller.item_views import turn_view
from advchat.slash import fan_models
from advchat.state import Fan, FanMember, Snapshot, TurnView
from advchat_storage.models import UsageSum


class Fanning(Branching):
    """Fan-out, on top of what is done with single branches."""

    _fan_ids = itertools.count(1)
    _fan: Fan | None = None

    async def fan(self, spec: str, text: str) -> None:
        """Send ``text`` to several sibling branches at once: ``3``, or model names with commas between.

        The branch shown is left as it is; in an empty conversation the first answer grows on ``main``.
        Raises ``UserError`` with nothing sent for a spec that makes no sense, an empty text, and while the
        branch shown is being answered.
        """
        wanted = fan_models(spec)
        models = [self._model] * wanted if isinstance(wanted, int) else list[str | None](wanted)
        if not text.strip():
            raise UserError("Type the prompt first, then fan it out.")
        shown = self.place
        if self.runs.running(shown):
            raise UserError("This branch is being answered: fan out when it is done, or stop it with Esc.")
        fan = Fan(next(self._fan_ids), shown[0], text, ())
        branch_ids = await self._fan_branches(shown, len(models))
        for number, model in enumerate(models, start=1):
            branch_id = branch_ids[number - 1] if branch_ids else shown[1]
            member = await self._fan_send((shown[0], branch_id), text, number, model)
            fan = self._fan = replace(fan, members=(*fan.members, member))
            if not branch_ids:
                forks = [await self._fork(member.turn, source=shown[1]) for _ in models[1:]]
                branch_ids = [shown[1], *forks]
        await self.store.save_draft(*shown, "")
        await self._title_fan(fan)
        await self._refresh("tree")

    async def _fan_branches(self, shown: tuple[str, str], count: int) -> list[str]:
        """Fork after the newest turn; nothing on an empty branch, since a fork needs a turn."""
        if not self._stored or await self.store.turn_count(*shown) == 0:
            await self._ensure_stored()
            return []
        turn = (await self._last_turn()).turn
        return [await self._fork(turn, after=True, source=shown[1]) for _ in range(count)]

    async def _fan_send(self, place: tuple[str, str], text: str, number: int, model: str | None) -> FanMember:
        info = self.runner.model_info(model)
        turn = await self.runs.send(place, text, model=model)
        # Nothing has been awaited since the run began, so that it is still among them.
        run = next((run for run in self.runs.infos() if (run.conversation_id, run.branch_id) == place), None)
        return FanMember(
            branch_id=place[1],
            title=f"{number} · {info.name or info.label}",
            model=info.label,
            turn=turn or 0,
            run_id=run.run_id if run else "",
            status="running",
            started_at=run.started_at if run else "",
        )

    async def _title_fan(self, fan: Fan) -> None:
        async with self.store.session(fan.conversation_id) as session:
            for member in fan.members:
                if member.branch_id != "main":
                    await session.rename_branch(member.branch_id, member.title, source="auto")

    async def fan_now(self) -> Fan | None:
        """Give the fan-out with each member's status and usage as they stand now."""
        fan = self._fan
        if fan is None:
            return None
        usages = await asyncio.gather(*(self.store.usage(run_id=member.run_id) for member in fan.members))
        turns = await asyncio.gather(*(self.turn_on(member.branch_id, member.turn) for member in fan.members))
        members = tuple(
            replace(member, usage=usage, status=turn.status if turn else member.status)
            for member, usage, turn in zip(fan.members, usages, turns, strict=True)
        )
        return replace(fan, members=members)

    async def turn_on(self, branch_id: str, turn: int) -> TurnView | None:
        """Give one turn of any branch of the conversation shown, the running one as it stands."""
        live = self.runs.live((self._conversation_id, branch_id))
        if live is not None and live.turn == turn:
            return live
        stored = await self.store.turn(self._conversation_id, branch_id, turn)
        return turn_view(stored, UsageSum()) if stored is not None else None

    async def keep(self, branch: str) -> None:
        """Choose one of the fan's answers: its branch is shown, the others stay as its siblings."""
        chosen = self._resolve(branch)
        self._fan = None
        await self._show_branch(chosen)

    async def fork_on(self, branch: str, turn: int) -> str:
        """Fork any branch of the conversation after a turn, show the new branch and give its ID."""
        made = await self._fork(turn, after=True, source=self._resolve(branch))
        self._fan = None
        await self._show_branch(made)
        return made

    async def stop_branch(self, branch: str) -> None:
        """Stop the run on any branch of the conversation shown; what came stays."""
        await self.runs.stop((self._conversation_id, self._resolve(branch)))

    def dismiss_fan(self) -> None:
        """Leave the fan-out; every answer goes on on its branch."""
        self._fan = None
        self._refresh_soon("runs")

    def _with_runs(self, snapshot: Snapshot) -> Snapshot:
        fan = self._fan if self._fan and self._fan.conversation_id == self._conversation_id else None
        return replace(super()._with_runs(snapshot), fan=fan)
