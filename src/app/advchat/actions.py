"""What a screen may ask for.

Owns the port between the screens and whoever acts for them: the protocol that the controller implements,
and the one kind of refusal that a person gets to read. Knows neither Textual, nor the store, nor the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.state import Comparison, Fan, SendEstimate, Snapshot, TurnRow, TurnView
    from advchat.usage_report import ReportCut, ReportSpan, UsageReport
    from advchat_storage.models import Conversation, SearchHit

OnSnapshot: TypeAlias = "Callable[[Snapshot], None]"
OnEvent: TypeAlias = "Callable[[RunEvent], None]"


class UserError(Exception):
    """A refusal for a person: one line that names the cause and the way out. Nothing typed is lost."""


class Actions(Protocol):
    """Everything that screens can have done. Each method may raise ``UserError``.

    Positions are 0-based and half-open, turn numbers are the branch's own, branches go by ID or title.
    """

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot; an empty, loading one before ``start``."""

    def subscribe(self, on_snapshot: OnSnapshot, on_event: OnEvent) -> None:
        """Call back on the event loop's thread with each new snapshot and each event of a run."""

    async def start(self) -> None:
        """Open the store, load the latest conversation and publish it."""

    async def send(self, text: str, *, branch_id: str | None = None) -> None:
        """Answer the prompt on the branch (the shown one if None), or queue it while that is answering."""

    async def stop(self) -> None:
        """Stop the run that is shown."""

    async def fork(self, turn: int, *, after: bool = False, title: str = "") -> str:
        """Fork before the turn (or after it), switch there and return the new branch's ID."""

    async def regenerate(self, turn: int) -> None:
        """Fork before the turn and send its prompt again there."""

    async def edit(self, turn: int) -> str:
        """Fork before the turn, switch there and return the turn's prompt for editing."""

    async def switch(self, branch: str) -> None:
        """Show another branch."""

    async def sibling(self, step: int) -> None:
        """Show the next (1) or previous (-1) branch under the same parent."""

    async def sibling_at(self, turn: int, step: int) -> None:
        """Show the next or previous of the branches that part at the turn."""

    async def parent(self) -> None:
        """Show the branch that this one was forked from."""

    async def child(self) -> None:
        """Show the first branch forked from this one."""

    async def rename_branch(self, branch: str, title: str) -> None:
        """Give a branch a title of the user's own."""

    async def delete_branch(self, branch: str) -> None:
        """Put a branch and what was forked from it into the bin."""

    async def restore_branch(self, branch_id: str) -> None:
        """Take a branch out of the bin."""

    async def pin_branch(self, branch: str) -> None:
        """Pin a branch before its siblings, or let it go."""

    async def stop_branch(self, branch: str) -> None:
        """Stop the run on any branch of the shown conversation; what came stays."""

    async def fan(self, spec: str, text: str) -> None:
        """Send a prompt to several sibling branches at once: ``3``, or model names with commas between."""

    async def fan_now(self) -> Fan | None:
        """Return the last fan-out with each member's status and usage as they stand now."""

    async def turn_on(self, branch_id: str, turn: int) -> TurnView | None:
        """Return one turn of any branch of the shown conversation, a running one as it stands."""

    async def keep(self, branch: str) -> None:
        """Show the branch of one of the fan-out's answers; the others stay as its siblings."""

    async def fork_on(self, branch: str, turn: int) -> str:
        """Fork any branch after a turn, switch to the new branch and return its ID."""

    async def compare(self, left: str, right: str) -> Comparison:
        """Put two branches side by side from their fork point on."""

    async def carry(self, source: str, turns: Sequence[int], target: str) -> None:
        """Copy turns of one branch onto the end of another."""

    async def carry_summary(self, source: str, target: str) -> None:
        """Have the model summarise a branch and append the summary to another, once it is written."""

    async def estimate(self, text: str) -> SendEstimate | None:
        """Tell about what sending the text on the shown branch would take; None where nothing is known."""

    async def set_budget(self, amount: str, *, branch: bool = False) -> None:
        """Limit the spend of the shown conversation, or branch, in dollars; ``off`` lifts the limit."""

    async def undo(self) -> str:
        """Take the last change to the branches back and return what it was, for a person."""

    async def new_conversation(self, title: str = "") -> None:
        """Begin a conversation and show it."""

    async def open_conversation(self, ident: str) -> None:
        """Show a conversation, by ID or title."""

    async def rename_conversation(self, title: str) -> None:
        """Give the shown conversation a title of the user's own."""

    async def conversations(self, start: int, stop: int) -> list[Conversation]:
        """Conversations by position, newest first."""

    async def turns(self, start: int, stop: int) -> list[TurnView]:
        """Read turns of the shown branch by position."""

    async def turn_rows(self, start: int, stop: int) -> list[TurnRow]:
        """Lines of the turn list of the shown branch by position."""

    async def search(self, term: str) -> list[SearchHit]:
        """Messages of every conversation that hold the term."""

    async def usage_report(
        self, cut: ReportCut, span: ReportSpan = "month", *, everywhere: bool = True
    ) -> UsageReport:
        """Report what was spent in the span, in all conversations or in the shown one, cut in one way."""

    async def save_draft(self, text: str) -> None:
        """Keep the composer's text for the shown branch."""

    async def remember_heights(self, width: int, heights: dict[int, int]) -> None:
        """Keep how many rows turns took at a width; keys are the turns' message rows."""

    async def answer_offer(self, choice: str) -> None:
        """Answer the offer above the composer with one of its choices' command IDs."""

    async def continue_turn(self, turn: int) -> None:
        """Go on after a truncated or interrupted answer."""

    async def retry_turn(self, turn: int) -> None:
        """Ask an interrupted or failed turn again."""

    async def discard_partial(self, turn: int) -> None:
        """Throw away what an interrupted answer left."""

    async def set_model(self, name: str) -> None:
        """Use another model for the shown branch from the next prompt on."""

    def unqueue(self, queue_id: int) -> str:
        """Take a queued prompt back and return its text."""

    async def export(self, path: str) -> str:
        """Write the shown conversation into a file and return the file's full path."""

    def live(self, branch_id: str | None = None) -> TurnView | None:
        """Return the turn being answered on the branch (the shown one if None), as far as it has come."""

    async def close(self) -> None:
        """Stop what runs, save, and let go of everything."""
