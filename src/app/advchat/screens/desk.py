"""The main screen's layout and what is shown in it.

Owns the widgets' places, the folding of panels, the focus, and passing each snapshot and event on to the
widgets. What is typed is ``prompting``'s, what is commanded ``main``'s. Knows the actions; asks them only
for windows of turns.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget

from advchat.actions import Actions, UserError
from advchat.commands import BY_ID, Command, Scope, in_scope, key_label, keys_of
from advchat.screens.line import Line
from advchat.screens.panels import PANELS, Panel, Panels
from advchat.widgets.branches import BranchTree
from advchat.widgets.composer import Composer
from advchat.widgets.footer import FooterKey, KeyFooter
from advchat.widgets.header import Header
from advchat.widgets.lines import AskBar, Notice, OfferBar, QueueLines
from advchat.widgets.picker import PickList
from advchat.widgets.turns import TurnList
from advchat.widgets.usage import UsagePanel

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.state import Snapshot
    from advchat.widgets.transcript import Transcript

MakeActions = Callable[[], Actions]

_TITLES: Mapping[Panel, str] = {"branches": "Branches", "turns": "Turns", "usage": "Usage"}
_FOOTER_ORDER = (
    "app.palette",
    "app.help",
    "panel.branches",
    "panel.turns",
    "panel.usage",
    "panel.transcript",
    "conversation.new",
    "conversation.open",
    "conversation.search",
    "app.quit",
)


class Desk(Screen[None]):
    """Header, panels, transcript, composer, footer."""

    AUTO_FOCUS = "#composer"

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__()
        self._make_actions = make_actions
        self._actions: Actions | None = None
        self.keys = keys
        self.panels = Panels()
        self.line = Line(self.complain, log_file)
        self._shown: Snapshot | None = None
        self._news: list[RunEvent] = []
        self._due = False

    def compose(self) -> ComposeResult:
        """Lay everything out; nothing here reads anything."""
        yield Header(id="header")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield BranchTree(id="branches")
                yield TurnList(id="turns")
            with Vertical(id="centre"):
                yield OfferBar(id="offer")
                yield QueueLines(id="queue")
                yield PickList(id="completion")
                yield AskBar(id="ask")
                yield Notice(id="notice")
                with Vertical(id="compose"):
                    yield Composer(id="composer")
            yield UsagePanel(id="usage")
        yield KeyFooter(id="footer")

    @property
    def actions(self) -> Actions:
        """Who acts. Raises UserError in the first moments, before anybody does."""
        if self._actions is None:
            raise UserError("Still opening the conversations: try again in a moment.")
        return self._actions

    @property
    def shown(self) -> Snapshot:
        """The snapshot that the widgets show; an empty one in the first moments."""
        if self._shown is None:
            # Late: the first frame shows nothing of it.
            from advchat.state import Snapshot  # noqa: PLC0415

            self._shown = Snapshot()
        return self._shown

    # The widgets

    @property
    def header(self) -> Header:
        """The line at the top."""
        return self.query_one("#header", Header)

    @property
    def branches(self) -> BranchTree:
        """The panel of branches."""
        return self.query_one("#branches", BranchTree)

    @property
    def turns(self) -> TurnList:
        """The panel of turns."""
        return self.query_one("#turns", TurnList)

    @property
    def usage(self) -> UsagePanel:
        """The panel of usage."""
        return self.query_one("#usage", UsagePanel)

    @property
    def transcript(self) -> Transcript:
        """What has been said. Raises UserError in the first moments, before it is there."""
        found = self.query("#transcript")
        if not found:
            raise UserError("Still opening the conversations: try again in a moment.")
        return cast("Transcript", found.first())

    async def mount_transcript(self) -> None:
        """Add the transcript. The first frame does without: it would wait for what lays Markdown out."""
        module = await asyncio.to_thread(importlib.import_module, "advchat.widgets.transcript")
        await self.query_one("#centre").mount(module.Transcript(id="transcript"), before=0)

    @property
    def composer(self) -> Composer:
        """Where prompts are typed."""
        return self.query_one("#composer", Composer)

    @property
    def notice(self) -> Notice:
        """The line beside the composer."""
        return self.query_one("#notice", Notice)

    def complain(self, message: str) -> None:
        """Say beside the composer what went wrong."""
        self.notice.say(message, error=True)

    # Snapshots and events

    def on_mount(self) -> None:
        """Begin once the first frame has been painted."""
        for panel in PANELS:
            self.query_one(f"#{panel}").border_title = _TITLES[panel]
        self.composer.send_keys = keys_of(BY_ID["composer.send"], self.keys)
        self.composer.newline_keys = keys_of(BY_ID["composer.newline"], self.keys)
        self._lay_panels()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if not gc.isenabled():
            # What was made for the first frame stays for good: later collections need not look at it.
            gc.freeze()
            gc.enable()
        self.line.add(self._start)
        self.run_worker(self.line.run(), group="line", exit_on_error=False)

    async def _start(self) -> None:
        try:
            # Making the actions imports much: in a thread, so that keys typed meanwhile are painted.
            self._actions = await asyncio.to_thread(self._make_actions)
            await self.mount_transcript()
            self._actions.subscribe(self._take_snapshot, self._take_event)
            await self._actions.start()
        except Exception as error:
            # Without the store there is nothing to show: the program ends with the cause.
            self.give_up(self.line.words(error))

    def give_up(self, cause: str) -> None:
        """End the program, because it could not begin."""
        raise NotImplementedError

    def _take_snapshot(self, _: Snapshot) -> None:
        self._fall_due()

    def _take_event(self, event: RunEvent) -> None:
        self._news.append(event)
        self._fall_due()

    def _fall_due(self) -> None:
        # Called from the actions' own tasks: widgets are touched in this screen's own turn, once for many.
        if not self._due:
            self._due = True
            self.call_later(self.catch_up)

    def catch_up(self) -> None:
        """Show the newest snapshot and the events that came with it."""
        self._due = False
        news, self._news = self._news, []
        if self.is_mounted:
            self.show(self.actions.snapshot, news)

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot on to every widget."""
        self._shown = snapshot
        self.header.show(snapshot)
        self.branches.show(snapshot.branches)
        place = (snapshot.conversation_id, snapshot.branch_id)
        self.turns.show(place, snapshot.turn_count, snapshot.turns_version)
        self.usage.show(snapshot.usage)
        self.query_one(OfferBar).show(snapshot.offer)
        waiting = tuple(
            prompt for prompt in snapshot.queue if (prompt.conversation_id, prompt.branch_id) == place
        )
        self.query_one(QueueLines).show(waiting)
        self.branches.border_title = _counted("Branches", len(snapshot.branches))
        self.turns.border_title = _counted("Turns", snapshot.turn_count)
        self.show_keys()

    @on(TurnList.RowsWanted)
    def _read_rows(self, event: TurnList.RowsWanted) -> None:
        event.stop()
        self.run_worker(self._rows(event), group="rows", exit_on_error=False)

    @property
    def started(self) -> bool:
        """Whether there is somebody who acts."""
        return self._actions is not None

    async def _rows(self, wanted: TurnList.RowsWanted) -> None:
        async def read() -> None:
            rows = await self.actions.turn_rows(wanted.first, wanted.end)
            self.turns.put_rows(wanted.generation, wanted.first, rows)
            self.transcript.viewport.hint(rows)

        if not await self.line.attempt(read):
            self.turns.forget_request(wanted.generation, wanted.first)

    # Panels and focus

    def toggle_transcript(self) -> None:
        """Focus the transcript, or return to the composer from it."""
        if self.transcript.has_focus:
            self.home()
            return
        if self.panels.alone:
            self.close_panel()
        self.set_focus(self.transcript)

    def on_resize(self, event: events.Resize) -> None:
        """Fold or unfold for the new width."""
        self.panels.width = event.size.width
        self._lay_panels()

    def _lay_panels(self) -> None:
        for panel in PANELS:
            self.query_one(f"#{panel}").display = self.panels.seen(panel)
        self.query_one("#left").display = self.panels.seen("branches") or self.panels.seen("turns")
        self.query_one("#centre").display = not self.panels.alone
        self.set_class(not self.panels.wide, "-folded")
        self.set_class(self.panels.alone, "-alone")
        if self.focused is None or not self.focused.display:
            self.home()

    def toggle_panel(self, panel: Panel) -> None:
        """Unfold and focus a panel; fold it if it has the focus."""
        widget = self.query_one(f"#{panel}")
        if self.panels.seen(panel) and widget.has_focus:
            self.panels.fold(panel)
            self._lay_panels()
            self.home()
        else:
            self.panels.unfold(panel)
            self._lay_panels()
            self.set_focus(widget)

    def close_panel(self) -> bool:
        """Fold what was unfolded in a narrow terminal; tell whether there was something."""
        closed = self.panels.close()
        if closed:
            self._lay_panels()
        return closed

    def home(self) -> None:
        """Return to the composer; in the narrowest terminal the panel in its place folds."""
        if self.panels.alone:
            self.close_panel()
        self.set_focus(self.composer)

    # The footer

    @property
    def scope(self) -> Scope:
        """Where the focus is, in the registry's words."""
        focused: Widget | None = self.focused
        if isinstance(focused, BranchTree):
            return "branch"
        if focused is not None and focused.id in {"turns", "transcript"}:
            return "turn"
        return "usage" if isinstance(focused, UsagePanel) else "composer"

    def usable(self, command: Command) -> bool:
        """Tell whether a command would do something now."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """Show the keys that work here and now."""
        self.query_one(KeyFooter).show(self._footer_keys())

    def _footer_keys(self) -> list[FooterKey]:
        here = [command for command in in_scope(self.scope) if command.footer]
        everywhere = {command.id: command for command in in_scope("global")}
        running = self._shown is not None and self._shown.run is not None
        stop = [everywhere["app.escape"]] if running else []
        found: list[FooterKey] = []
        for command in [*here, *stop, *(everywhere[name] for name in _FOOTER_ORDER)]:
            keys = keys_of(command, self.keys)
            if keys and self.usable(command):
                found.append((key_label(keys[0]), command.footer, command.id))
        return found

    def on_descendant_focus(self) -> None:
        """Show the keys of where the focus went."""
        self.show_keys()


def _counted(title: str, number: int) -> str:
    return f"{title} · {number:,}" if number else title
