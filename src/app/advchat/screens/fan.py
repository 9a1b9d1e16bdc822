"""The answers of a fan-out side by side, while they stream.

Owns looking at how each run stands, the numbers under each answer, and the choice of one. The screen is
dismissed with what the user chose, or None; the answers go on either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from advchat.actions import Actions, UserError
from advchat.bindings import bindings
from advchat.commands import Scope
from advchat.screens.fan_numbers import label, numbers, summary
from advchat.screens.over import OverScreen
from advchat.text import one_line
from advchat.widgets.answer_pane import AnswerPane
from advchat.widgets.fan_grid import FanGrid
from advchat.widgets.footer import KeyFooter
from advchat.widgets.heading import Heading
from advchat.widgets.lines import Notice

if TYPE_CHECKING:
    from advchat.app import AdvchatApp
    from advchat.state import Fan, FanMember, RunInfo, TurnView

_FRAME = 0.1
"""Seconds between two looks at the runs, at least."""
_SLOWEST_FRAME = 0.5


@dataclass(frozen=True, slots=True)
class FanChoice:
    """An answer that was chosen: kept, or forked on from."""

    kind: Literal["keep", "fork"]
    branch_id: str
    turn: int


class FanScreen(OverScreen[FanChoice | None]):
    """Two to eight answers to one prompt."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("fan")
    """Choosing, keeping, forking."""

    scope: ClassVar[Scope] = "fan"

    def __init__(self, actions: Actions, fan: Fan, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(keys)
        self._actions = actions
        self._fan = fan
        self.grid = FanGrid([member.title for member in fan.members])
        """The answers."""
        self._settled: set[str] = set()
        """Branches whose answer is shown as it was stored."""
        self._reading = False
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay the grid out between heading and footer."""
        yield Heading()
        yield self.grid
        yield Notice()
        yield KeyFooter()

    def on_mount(self) -> None:
        """Begin to look."""
        self.show_keys()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.grid.choose(0)
        self._look()

    # How the runs stand

    def _look(self) -> None:
        """Draw what has come, and have those that ended read once more."""
        begun = monotonic()
        if self.is_current and self._actions.snapshot.conversation_id != self._fan.conversation_id:
            # Another conversation was asked for before the grid stood: its branches are not these.
            self.dismiss(None)
            return
        runs = {run.run_id: run for run in self._actions.snapshot.runs}
        for pane, member in zip(self.grid.panes, self._fan.members, strict=True):
            view = self._live(member)
            if view is not None:
                run = runs.get(member.run_id)
                pane.take(view, live=True, wait=run.note if run is not None and run.state == "waiting" else "")
                self._tell(pane, member, view, run)
        if self._open_members() and not self._reading:
            self._reading = True
            self.run_worker(self._read(), group="fan", exit_on_error=False)
        self._say()
        pause = min(_SLOWEST_FRAME, max(_FRAME, 4 * (monotonic() - begun)))
        self._timer = self.set_timer(pause, self._look) if self._busy() else None

    def _live(self, member: FanMember) -> TurnView | None:
        """Give the answer that is still growing; None once it is over."""
        view = self._actions.live(member.branch_id)
        return view if view is not None and view.turn == member.turn else None

    def _open_members(self) -> list[FanMember]:
        """Give those whose run is over and whose stored answer is not shown yet."""
        return [
            member
            for member in self._fan.members
            if member.branch_id not in self._settled and self._live(member) is None
        ]

    def _busy(self) -> bool:
        return len(self._settled) < len(self._fan.members)

    async def _read(self) -> None:
        try:
            await self._read_ended()
        except Exception as error:
            # Whatever fails here must not take the screen down; what was streamed stays shown.
            self.query_one(Notice).say(f"The answers could not be read: {error}", error=True)
        finally:
            self._reading = False

    async def _read_ended(self) -> None:
        ended = {member.branch_id for member in self._open_members()}
        fan = await self._actions.fan_now()
        if fan is None or fan.fan_id != self._fan.fan_id or not self.is_mounted:
            return
        self._fan = fan
        for pane, member in zip(self.grid.panes, fan.members, strict=True):
            if member.branch_id not in ended or member.status == "running":
                continue
            view = await self._actions.turn_on(member.branch_id, member.turn)
            self._settled.add(member.branch_id)
            if view is not None and self.is_mounted:
                pane.take(view, live=False)
                self._tell(pane, member, view, None)
        self._say()

    def _tell(self, pane: AnswerPane, member: FanMember, view: TurnView, run: RunInfo | None) -> None:
        failed = view.status in ("failed", "refused")
        now = datetime.now(UTC)
        short = numbers(member, view, run, now, short=True)
        pane.tell(numbers(member, view, run, now), short, failed=failed)

    def _say(self) -> None:
        live = [self._live(member) is not None for member in self._fan.members]
        self.query_one(Heading).show(
            "⑂ Fan-out", one_line(self._fan.prompt, 400), summary(self._fan.members, live)
        )
        self.grid.name_tabs(
            [label(member, running) for member, running in zip(self._fan.members, live, strict=True)]
        )

    @on(FanGrid.Moved)
    def _moved(self, event: FanGrid.Moved) -> None:
        event.stop()
        self._say()

    # Commands

    @property
    def _chosen(self) -> FanMember:
        return self._fan.members[self.grid.chosen]

    def do_fan_keep(self) -> None:
        """Show the chosen answer's branch; the others stay as siblings."""
        member = self._chosen
        self.dismiss(FanChoice("keep", member.branch_id, member.turn))

    def do_fan_fork(self) -> None:
        """Begin a new branch after the chosen answer."""
        member = self._chosen
        if self._live(member) is not None:
            self.query_one(Notice).say("It is still being answered: keep it, or fork it when it is done.")
            return
        self.dismiss(FanChoice("fork", member.branch_id, member.turn))

    def do_fan_copy(self) -> None:
        """Copy the chosen answer."""
        view = self.grid.panes[self.grid.chosen].view
        text = "\n\n".join(item.text for item in view.items if item.kind == "text") if view else ""
        if text.strip():
            self.app.copy_to_clipboard(text)
            self.query_one(Notice).say("Copied.")
        else:
            self.query_one(Notice).say("There is nothing to copy yet.")

    def do_fan_stop(self) -> None:
        """Stop the chosen answer; what came stays."""
        member = self._chosen

        async def stop() -> None:
            try:
                await self._actions.stop_branch(member.branch_id)
            except UserError as error:
                self.query_one(Notice).say(str(error), error=True)

        self.run_worker(stop(), group="stop", exit_on_error=False)

    def do_fan_left(self) -> None:
        """Choose the answer to the left."""
        self.grid.step(-1, 0)

    def do_fan_right(self) -> None:
        """Choose the answer to the right."""
        self.grid.step(1, 0)

    def do_fan_up(self) -> None:
        """Choose the answer above."""
        self.grid.step(0, -1)

    def do_fan_down(self) -> None:
        """Choose the answer below."""
        self.grid.step(0, 1)

    def key_for_number(self, key: str) -> bool:
        """Choose an answer by its number; tell whether the key was one."""
        if len(key) == 1 and key in "12345678":
            self.grid.choose(int(key) - 1)
            return True
        return False

    def on_key(self, event: events.Key) -> None:
        """Choose by number."""
        if self.key_for_number(event.key):
            event.stop()

    # What the answers ask for

    def on_answer_pane_link_requested(self, event: AnswerPane.LinkRequested) -> None:
        """Open a link that was clicked."""
        event.stop()
        cast("AdvchatApp", self.app).visit(event.url)

    def on_answer_pane_copy_requested(self, event: AnswerPane.CopyRequested) -> None:
        """Put source text on the clipboard."""
        event.stop()
        self.app.copy_to_clipboard(event.text)
