"""What each command on turns does.

Owns which turn a command speaks of, and the way from the buttons of the transcript, the list of turns and
the bars of the usage panel to an action.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import on

from advchat.actions import UserError
from advchat.commands import BY_ID
from advchat.screens.doing import Call, Doing
from advchat.slash import fork_argument
from advchat.widgets.turns import TurnList
from advchat.widgets.usage import UsagePanel

if TYPE_CHECKING:
    from advchat.widgets.transcript import Transcript

_SIBLING_STEPS = {"previous_sibling": -1, "next_sibling": 1}


class Turning(Doing):
    """The commands on turns."""

    def do_turn_fork(self, call: Call) -> None:
        """Fork before a turn; what is typed from now on is the new branch's."""
        turn, title = fork_argument(call.argument) if call.argument else (self._turn_under_cursor(), "")

        async def fork() -> None:
            await self.actions.fork(turn if turn is not None else await self._last_turn(), title=title)

        self.move(call, fork)

    def do_turn_branch(self, call: Call) -> None:
        """Fork after a turn."""
        turn = self._turn_of(call)

        async def fork() -> None:
            await self.actions.fork(turn if turn is not None else await self._last_turn(), after=True)

        self.move(call, fork)

    def do_turn_edit(self, call: Call) -> None:
        """Fork before a turn, its prompt in the composer."""
        turn = self._turn_of(call)

        async def edit() -> str:
            return await self.actions.edit(turn if turn is not None else await self._last_turn())

        self.move(call, edit)

    def do_turn_regenerate(self, call: Call) -> None:
        """Fork before a turn and ask the same again."""
        turn = self._turn_of(call)

        async def regenerate() -> None:
            await self.actions.regenerate(turn if turn is not None else await self._last_turn())

        self.move(call, regenerate)

    def do_turn_continue(self, call: Call) -> None:
        """Go on after an answer that broke off."""
        self._on_broken_turn(call, self.actions.continue_turn)

    def do_turn_retry(self, call: Call) -> None:
        """Ask again after an answer that broke off."""
        self._on_broken_turn(call, self.actions.retry_turn)

    def do_turn_discard(self, call: Call) -> None:
        """Drop what an interrupted answer left."""
        self._on_broken_turn(call, self.actions.discard_partial)

    def offered(self) -> tuple[str, ...]:
        """Tell what the transcript's turn under the cursor offers in place."""
        chosen = self.transcript.chosen if self.started else None
        return chosen.actions if chosen is not None else ()

    def _on_broken_turn(self, call: Call, action: Callable[[int], Awaitable[None]]) -> None:
        chosen = self.transcript.chosen
        turn = int(call.argument) if call.argument else chosen.turn if chosen is not None else None
        if turn is None:
            raise UserError("No answer here broke off.")
        self.act(call, lambda: action(turn))

    def do_turn_copy(self, call: Call) -> None:
        """Copy a turn's prompt and answer."""
        turn = self._turn_of(call)

        async def copy() -> None:
            number = turn if turn is not None else await self._last_turn()
            found = await self.read_turn(number)
            if found is None:
                raise UserError(f"There is no turn {number} on this branch.")
            answer = "\n\n".join(item.text for item in found.items if item.kind == "text" and item.text)
            self.app.copy_to_clipboard(f"{found.prompt}\n\n{answer}" if answer else found.prompt)

        self.act(call, copy)

    def _turn_of(self, call: Call) -> int | None:
        return int(call.argument) if call.argument else self._turn_under_cursor()

    def _turn_under_cursor(self) -> int | None:
        """Tell the turn that the focused panel stands on; None for the newest."""
        if self.turns.has_focus:
            return self.turns.chosen_turn
        if self.transcript.has_focus and self.transcript.chosen is not None:
            return self.transcript.chosen.turn
        return None

    async def _last_turn(self) -> int:
        count = self.actions.snapshot.turn_count
        rows = await self.actions.turn_rows(count - 1, count) if count else []
        if not rows:
            raise UserError("There are no turns yet: send a prompt first.")
        return rows[-1].turn

    @on(TurnList.Chosen, "#turns")
    def _choose_turn(self, event: TurnList.Chosen) -> None:
        event.stop()
        row = self.turns.row_at(event.index)
        if row is None:
            return
        if event.zone == "fork":
            self.do_turn_fork(Call(str(row.turn)))
        else:
            self.show_turn(row.turn)

    def on_transcript_fork_requested(self, event: Transcript.ForkRequested) -> None:
        """Fork where the transcript's button was pressed."""
        event.stop()
        self.do_turn_fork(Call(str(event.turn)))

    def on_transcript_action_requested(self, event: Transcript.ActionRequested) -> None:
        """Do what a button in the transcript says."""
        event.stop()
        turn = event.turn
        if event.action in _SIBLING_STEPS:
            step = _SIBLING_STEPS[event.action]
            self.move(Call(), lambda: self.actions.sibling_at(turn, step))
        elif f"turn.{event.action}" in BY_ID:
            try:
                self.run(BY_ID[f"turn.{event.action}"], str(turn))
            except UserError as error:
                self.complain(str(error))

    # Usage

    def do_usage_previous(self, call: Call) -> None:
        """Move to the bar before."""
        self.usage.step(-1)

    def do_usage_next(self, call: Call) -> None:
        """Move to the bar after."""
        self.usage.step(1)

    @on(UsagePanel.TurnPicked)
    def _pick_turn(self, event: UsagePanel.TurnPicked) -> None:
        event.stop()
        self.show_turn(event.turn)
