"""What each command on conversations and branches does.

Owns the way from a command to an action, with the branch it speaks of taken from where the focus
is. Each command ``a.b`` of the registry is the method ``do_a_b``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on

from advchat.screens.prompting import Failed, Prompting
from advchat.widgets.branches import BranchTree

if TYPE_CHECKING:
    from advchat_storage.models import SearchHit


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
        if event.zone == "fold":
            self.branches.fold(name)
        else:
            self.move(Call(), lambda: self.actions.switch(name))

    def show_turn(self, turn: int) -> None:
        """Bring a turn into view everywhere."""
        self.turns.show_turn(turn)
        self.transcript.scroll_to_turn(turn)
