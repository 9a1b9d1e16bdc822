"""What each command on conversations, branches and turns does.

Owns the way from a command to an action, with the turn or branch it speaks of taken from where the focus
is. Each command ``a.b`` of the registry is the method ``do_a_b``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on

from advchat.actions import UserError
from advchat.commands import BY_ID
from advchat.screens.prompting import Failed, Prompting
from advchat.slash import fork_argument
from advchat.widgets.branches import BranchTree
from advchat.widgets.turns import TurnList
from advchat.widgets.usage import UsagePanel

if TYPE_CHECKING:
    from advchat.widgets.transcript import Transcript
    from advchat_storage.models import SearchHit

_SIBLING_STEPS = {"previous_sibling": -1, "next_sibling": 1}


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command."""

    argument: str = ""
    failed: Failed | None = None
    """To be called if the command fails after it was accepted; set for slash commands only."""


class Doing(Prompting):
    """The commands that go to the actions."""

    def act(self, call: Call, job: Callable[[], Awaitable[None]]) -> None:
        """Have an action done in the line."""
        self.notice.clear()
        self.line.add(job, failed=call.failed)

    def move(self, call: Call, act: Callable[[], Awaitable[str | None]]) -> None:
        """Go to another place, the composer with it."""
        self.notice.clear()
        self.drafts.move(act, call.failed, taken=call.failed is not None)
        self.home()

    # Conversations

    def do_conversation_new(self, call: Call) -> None:
        """Begin a conversation."""
        self.move(call, lambda: self.actions.new_conversation(call.argument))

    def do_conversation_open(self, call: Call) -> None:
        """Pick a conversation and show it."""
        # Late: the first frame does not need it.
        from advchat.screens import pickers  # noqa: PLC0415

        def picked(ident: str | None) -> None:
            if ident is not None:
                self.move(call, lambda: self.actions.open_conversation(ident))

        self.app.push_screen(pickers.OpenScreen(self.actions.conversations), picked)

    def do_conversation_search(self, call: Call) -> None:
        """Search, and go to what is picked."""
        # Late: the first frame does not need it.
        from advchat.screens import pickers  # noqa: PLC0415

        screen = pickers.SearchScreen(self.actions.search, call.argument)

        def picked(place: str | None) -> None:
            if place is not None:
                hit = screen.hits[int(place)]
                self.move(call, lambda: self._go_to(hit))

        self.app.push_screen(screen, picked)

    async def _go_to(self, hit: SearchHit) -> None:
        if hit.conversation_id != self.actions.snapshot.conversation_id:
            await self.actions.open_conversation(hit.conversation_id)
        if hit.branch_id != self.actions.snapshot.branch_id:
            await self.actions.switch(hit.branch_id)
        self.catch_up()
        self.show_turn(hit.turn)

    def do_conversation_rename(self, call: Call) -> None:
        """Ask for a title and give it to the conversation."""
        if not call.argument:
            self.ask("conversation.rename", "Title of the conversation:", self.shown.conversation_title)
            return
        self.act(call, lambda: self.actions.rename_conversation(call.argument))

    def do_conversation_export(self, call: Call) -> None:
        """Write the conversation into a file."""
        if not call.argument:
            self.ask("conversation.export", "Export into the file:")
            return

        async def export() -> None:
            self.notice.say(f"Written: {await self.actions.export(call.argument)}")

        self.act(call, export)

    def do_model_set(self, call: Call) -> None:
        """Use another model."""
        if not call.argument:
            self.ask("model.set", "Model:", self.shown.model.name)
            return
        self.act(call, lambda: self.actions.set_model(call.argument))

    # Branches

    def do_branch_switch(self, call: Call) -> None:
        """Show the branch that is named or under the cursor."""
        chosen = self._branch_under_cursor()
        name = call.argument or chosen
        if not name:
            self.ask("branch.switch", "Switch to the branch:")
            return
        self.move(call, lambda: self.actions.switch(name))

    def do_branch_previous(self, call: Call) -> None:
        """Show the sibling before."""
        self.move(call, lambda: self.actions.sibling(-1))

    def do_branch_next(self, call: Call) -> None:
        """Show the sibling after."""
        self.move(call, lambda: self.actions.sibling(1))

    def do_branch_parent(self, call: Call) -> None:
        """Show the parent."""
        self.move(call, self.actions.parent)

    def do_branch_child(self, call: Call) -> None:
        """Show the first child."""
        self.move(call, self.actions.child)

    def do_branch_rename(self, call: Call) -> None:
        """Ask for a title, unless it is there already, and give it to the branch."""
        chosen = self._branch_under_cursor() or self.shown.branch_id
        if not call.argument:
            title = next(
                (row.branch.title for row in self.shown.branches if row.branch.branch_id == chosen), ""
            )
            self.ask(f"branch.rename {chosen}", "Title of the branch:", title)
            return
        self.act(call, lambda: self.actions.rename_branch(chosen, call.argument))

    def do_branch_delete(self, call: Call) -> None:
        """Put the branch into the bin."""
        name = call.argument or self._branch_under_cursor() or self.shown.branch_id

        async def delete() -> None:
            await self.actions.delete_branch(name)
            self.notice.say("Deleted: it is in the bin, and u in Branches brings it back.")

        self.move(call, delete) if not self.branches.has_focus else self.act(call, delete)

    def do_branch_undo(self, call: Call) -> None:
        """Take the last change to the branches back."""

        async def undo() -> None:
            self.notice.say(f"Taken back: {await self.actions.undo()}")

        self.act(call, undo)

    def do_branch_bin(self, call: Call) -> None:
        """Pick a deleted branch and bring it back."""
        # Late: the first frame does not need it.
        from advchat.screens import pickers  # noqa: PLC0415

        def picked(branch_id: str | None) -> None:
            if branch_id is not None:
                self.act(call, lambda: self.actions.restore_branch(branch_id))

        self.app.push_screen(pickers.BinScreen(self.shown.binned), picked)

    def _branch_under_cursor(self) -> str | None:
        chosen = self.branches.chosen if self.branches.has_focus else None
        return chosen.branch.branch_id if chosen is not None else None

    @on(BranchTree.Chosen, "#branches")
    def _switch_by_click(self, event: BranchTree.Chosen) -> None:
        event.stop()
        name = self.branches.branch_at(event.index).branch.branch_id
        self.move(Call(), lambda: self.actions.switch(name))

    # Turns

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
        self._on_turn(call, self.actions.regenerate, moves=True)

    def do_turn_continue(self, call: Call) -> None:
        """Go on after an answer that broke off."""
        self._on_turn(call, self.actions.continue_turn)

    def do_turn_retry(self, call: Call) -> None:
        """Ask again after an answer that broke off."""
        self._on_turn(call, self.actions.retry_turn)

    def do_turn_discard(self, call: Call) -> None:
        """Drop what an interrupted answer left."""
        self._on_turn(call, self.actions.discard_partial)

    def _on_turn(self, call: Call, action: Callable[[int], Awaitable[None]], *, moves: bool = False) -> None:
        turn = self._turn_of(call)

        async def act() -> None:
            await action(turn if turn is not None else await self._last_turn())

        self.move(call, act) if moves else self.act(call, act)

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
        if self.turns.has_focus and self.turns.chosen is not None:
            return self.turns.chosen.turn
        if self.transcript.has_focus and self.transcript.chosen is not None:
            return self.transcript.chosen.turn
        return None

    async def _last_turn(self) -> int:
        count = self.actions.snapshot.turn_count
        rows = await self.actions.turn_rows(count - 1, count) if count else []
        if not rows:
            raise UserError("There are no turns yet: send a prompt first.")
        return rows[-1].turn

    def show_turn(self, turn: int) -> None:
        """Bring a turn into view everywhere."""
        self.turns.show_turn(turn)
        self.transcript.scroll_to_turn(turn)

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
            self.run(BY_ID[f"turn.{event.action}"], str(turn))

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
