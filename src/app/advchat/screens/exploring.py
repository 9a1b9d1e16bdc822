"""The commands that span several branches.

Owns fan-out, comparison, carrying over, budgets, and what is done with the tree as a whole. Each command
``a.b`` of the registry is the method ``do_a_b``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advchat.actions import UserError
from advchat.commands import Command
from advchat.naming import branch_label
from advchat.screens.before_sending import BeforeSending
from advchat.screens.desk import MakeActions
from advchat.screens.doing import Call
from advchat.slash import budget_argument, carry_argument, fan_argument

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.screens.fan import FanChoice
    from advchat.state import Snapshot

_TWO_BRANCHES = frozenset({"branch.compare", "branch.mark", "turn.compare", "turn.carry"})
"""Commands that need another branch."""
_COLOURS = {
    "": "No colours now.",
    "cost": "Coloured by cost: green is cheapest, red is dearest.",
    "age": "Coloured by age: green is newest, red is oldest.",
    "model": "Coloured by model.",
}


class Exploring(BeforeSending):
    """What is done across branches."""

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__(make_actions, keys, log_file)
        self._armed = ""
        """What the next prompt is fanned out to; empty for the ordinary way."""

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot on; another place takes an armed fan-out back."""
        before = self._ident
        super().show(snapshot, news)
        if before is not None and self._ident != before:
            self.disarm()

    def usable(self, command: Command) -> bool:
        """Tell whether a command would do something now."""
        shown = self.shown
        if command.id in _TWO_BRANCHES:
            return len(shown.branches) > 1
        if command.id == "branch.answers":
            return shown.fan is not None
        return command.scope != "turn" or shown.turn_count > 0

    # Fan-out

    def do_branch_fan(self, call: Call) -> None:
        """Fan the prompt out, the composer's text, or else the next one that is sent."""
        if not call.argument:
            self.ask("branch.fan", "Fan out to how many answers, or to which models?", "3")
            return
        spec, prompt = fan_argument(call.argument)
        if prompt:
            self._fan_out(spec, prompt, f"/fan {call.argument}")
            return
        typed = "" if call.failed is not None else self.composer.text
        if typed.strip():
            self.composer.load("")
            self._fan_out(spec, typed, typed)
        else:
            self._arm(spec)

    def _arm(self, spec: str) -> None:
        self._armed = spec
        to = f"{spec} answers" if spec.isdigit() else spec
        self.tell(replace(self._edge, mode=f"⑂ the next prompt fans out to {to} · Esc: only here"))
        self.home()

    def disarm(self) -> bool:
        """Let the next prompt go the ordinary way; tell whether that is a change."""
        armed, self._armed = self._armed, ""
        self.tell(replace(self._edge, mode=""))
        return bool(armed)

    def _send(self, prompt: str, text: str) -> None:
        spec = self._armed
        if not spec:
            super()._send(prompt, text)
            return
        self.disarm()
        self._fan_out(spec, prompt, text, again=lambda: self._arm(spec))

    def _fan_out(self, spec: str, prompt: str, text: str, again: Callable[[], None] | None = None) -> None:
        def failed() -> None:
            self.drafts.give_back(text)
            if again is not None:
                again()

        async def fan() -> None:
            await self.actions.fan(spec, prompt)
            self.drafts.sent()
            self._show_fan()

        self.notice.clear()
        self.line.add(fan, failed=failed)

    def do_branch_answers(self, call: Call) -> None:
        """Show the last fan-out's answers side by side."""
        self._show_fan()

    def _show_fan(self) -> None:
        # Late: the first frame does not need it.
        from advchat.screens.fan import FanScreen  # noqa: PLC0415

        fan = self.actions.snapshot.fan
        if fan is None:
            raise UserError("Nothing has been fanned out here yet: /fan 3 and a prompt.")
        self.app.push_screen(FanScreen(self.actions, fan, self.keys), self._chose_answer)

    def _chose_answer(self, choice: FanChoice | None) -> None:
        if choice is None:
            return
        branch_id, turn = choice.branch_id, choice.turn

        async def keep() -> None:
            await self.actions.keep(branch_id)
            self._fold_siblings(branch_id)

        async def fork() -> None:
            await self.actions.fork_on(branch_id, turn)

        self.move(Call(), keep if choice.kind == "keep" else fork)

    def _fold_siblings(self, branch_id: str) -> None:
        """Fold the parent of a kept answer: what is on the path to it stays in sight."""
        self.catch_up()
        row = next((row for row in self.shown.branches if row.branch.branch_id == branch_id), None)
        if row is not None:
            self.branches.fold(row.branch.parent or branch_id, folded=True)

    # Comparison

    def do_branch_compare(self, call: Call) -> None:
        """Compare the branch shown with the one that is named or picked."""
        if call.argument:
            self._compare(call, self.shown.branch_id, call.argument)
        else:
            self._pick_to_compare(call, None)

    def do_turn_compare(self, call: Call) -> None:
        """Compare with the marked branch, else with a sibling that parts at the turn, else with any."""
        here, marked = self.shown.branch_id, self.branches.marked
        turn = self._turn_of(call)
        if marked is not None and marked != here:
            self.branches.mark(None)
            self._compare(call, here, marked)
            return

        async def find() -> None:
            view = await self.read_turn(turn if turn is not None else await self._last_turn())
            others = [branch for branch in view.siblings if branch != here] if view is not None else []
            if len(others) == 1:
                self._compare(call, here, others[0])
            else:
                self._pick_to_compare(call, others)

        self.act(call, find)

    def _pick_to_compare(self, call: Call, among: Sequence[str] | None) -> None:
        here = self.shown.branch_id
        self._pick_branch(
            f"Compare {self._quoted(here)} with", among, lambda name: self._compare(call, here, name)
        )

    def _pick_branch(self, heading: str, among: Sequence[str] | None, take: Callable[[str], None]) -> None:
        """Let another branch be picked; of none in particular, any will do."""
        # Late: the first frame does not need it.
        from advchat.screens.pick_branch import BranchScreen  # noqa: PLC0415

        branches = [row.branch for row in self.shown.branches if row.branch.branch_id != self.shown.branch_id]
        if among:
            branches = [branch for branch in branches if branch.branch_id in among]
        if not branches:
            raise UserError("There is no other branch yet: fork a turn with f.")

        def picked(branch_id: str | None) -> None:
            if branch_id is not None:
                take(branch_id)

        self.app.push_screen(BranchScreen(heading, branches), picked)

    def _compare(self, call: Call, left: str, right: str) -> None:
        async def compare() -> None:
            # Late: the first frame does not need it.
            from advchat.screens.compare import CompareScreen  # noqa: PLC0415

            comparison = await self.actions.compare(left, right)
            self.app.push_screen(CompareScreen(comparison, self.keys), self._switch_from_comparison)

        self.act(call, compare)

    def _switch_from_comparison(self, branch_id: str | None) -> None:
        if branch_id is not None and branch_id != self.shown.branch_id:
            self.move(Call(), lambda: self.actions.switch(branch_id))

    def do_branch_mark(self, call: Call) -> None:
        """Mark the branch for comparison; a second one is compared with it."""
        chosen, marked = self._branch_under_cursor() or self.shown.branch_id, self.branches.marked
        if marked is None:
            self.branches.mark(chosen)
            self.notice.say(f"Marked {self._quoted(chosen)}: mark another branch to compare the two.")
        else:
            self.branches.mark(None)
            self.notice.clear()
            if marked != chosen:
                self._compare(call, marked, chosen)

    # Carrying over

    def do_turn_carry(self, call: Call) -> None:
        """Copy turns, or a summary, onto the end of another branch."""
        source = self.shown.branch_id
        if call.argument:
            turns, target = carry_argument(call.argument)
            self._carry(call, source, turns, target)
            return
        turn = self._turn_under_cursor()

        def take(target: str) -> None:
            async def carry() -> None:
                number = turn if turn is not None else await self._last_turn()
                await self._carry_turns(source, [number], target)

            self.act(call, carry)

        what = f"turn {turn}" if turn is not None else "the newest turn"
        self._pick_branch(f"Carry {what} over to", None, take)

    def _carry(self, call: Call, source: str, turns: Sequence[int] | None, target: str) -> None:
        async def carry() -> None:
            if turns is None:
                await self.actions.carry_summary(source, target)
                self.notice.say(
                    f"The summary is being written; it goes to {self._quoted(target)} once it is whole."
                )
            else:
                await self._carry_turns(source, turns, target)

        self.act(call, carry)

    async def _carry_turns(self, source: str, turns: Sequence[int], target: str) -> None:
        await self.actions.carry(source, turns, target)
        what = f"turn {turns[0]}" if len(turns) == 1 else f"{len(turns)} turns"
        self.notice.say(f"Carried {what} over to {self._quoted(target)}: u in Branches takes it back.")

    def _quoted(self, branch_id: str) -> str:
        """Give a branch's title for a sentence, or what it was called by."""
        found = (row.branch for row in self.shown.branches if row.branch.branch_id == branch_id)
        branch = next(found, None)
        return f"“{branch_label(branch_id, branch.title if branch is not None else '')}”"

    # Budget

    def do_budget_set(self, call: Call) -> None:
        """Limit what the conversation or the branch may cost."""
        if not call.argument:
            self.ask("budget.set", "Budget in dollars (off lifts it):")
            return
        amount, branch = budget_argument(call.argument)

        async def limit() -> None:
            await self.actions.set_budget(amount, branch=branch)
            of = "branch" if branch else "conversation"
            self.notice.say(
                f"The budget of this {of} is set." if _limits(amount) else f"This {of} has no budget."
            )

        self.act(call, limit)

    # The tree

    def do_branch_pin(self, call: Call) -> None:
        """Pin the branch, or let it go."""
        name = self._branch_under_cursor() or self.shown.branch_id
        self.act(call, lambda: self.actions.pin_branch(name))

    def do_branch_fold(self, call: Call) -> None:
        """Hide what was forked from the branch, or show it again."""
        self.branches.fold(self._branch_under_cursor() or self.shown.branch_id)

    def do_branch_filter(self, call: Call) -> None:
        """Ask for a text and show only branches that hold it; a filter in force is lifted."""
        if self.branches.term and not call.argument:
            self.branches.filter("")
        elif call.argument:
            self.branches.filter(call.argument)
            self.call_after_refresh(self.focus_panel, "branches")
        else:
            self.ask("branch.filter", "Branches that hold:")

    def do_branch_colour(self, call: Call) -> None:
        """Colour the branches by the next thing."""
        self.notice.say(_COLOURS[self.branches.next_colouring()])


def _limits(amount: str) -> bool:
    return amount.strip().removeprefix("$").lower() not in ("off", "none", "0")
