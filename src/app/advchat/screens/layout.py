"""The main screen's layout.

Owns the widgets' places, which of them the first frame does without, the folding of panels, the focus, and
the keys in the footer. Knows no actions.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from advchat.actions import UserError
from advchat.commands import BY_ID, Command, Scope, in_scope, key_label, keys_of
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
    from textual.widget import Widget

    from advchat.state import Snapshot
    from advchat.widgets.transcript import Transcript

OPENING = "Still opening the conversations: try again in a moment."

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


class Layout(Screen[None]):
    """Header, panels, transcript, composer, footer."""

    AUTO_FOCUS = "#composer"

    def __init__(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.keys = keys
        self.panels = Panels()
        self.furnished = False
        """Whether what the first frame did without is there."""
        self._shown: Snapshot | None = None

    def compose(self) -> ComposeResult:
        """Lay out what the first frame shows; nothing here reads anything."""
        yield Header(id="header")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield BranchTree(id="branches")
                yield TurnList(id="turns")
            with Vertical(id="centre"):
                yield Notice(id="notice")
                with Vertical(id="compose"):
                    yield Composer(id="composer")
            yield UsagePanel(id="usage")
        yield KeyFooter(id="footer")

    async def furnish(self) -> None:
        """Add what the first frame does without: it would wait for what lays Markdown out, and for its CSS."""
        module = await asyncio.to_thread(importlib.import_module, "advchat.widgets.transcript")
        widgets: list[Widget] = [
            module.Transcript(id="transcript"),
            OfferBar(id="offer"),
            QueueLines(id="queue"),
            PickList(id="completion"),
            AskBar(id="ask"),
        ]
        await self.query_one("#centre").mount_all(widgets, before=0)
        self.furnished = True

    def on_mount(self) -> None:
        """Name the panels and hand out the keys."""
        for panel in PANELS:
            self.query_one(f"#{panel}").border_title = _TITLES[panel]
        self.composer.send_keys = keys_of(BY_ID["composer.send"], self.keys)
        self.composer.newline_keys = keys_of(BY_ID["composer.newline"], self.keys)
        self._lay_panels()

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
        if not self.furnished:
            raise UserError(OPENING)
        return cast("Transcript", self.query_one("#transcript"))

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
            self.focus_panel(panel)

    def focus_panel(self, panel: Panel) -> None:
        """Unfold and focus a panel."""
        self.panels.unfold(panel)
        self._lay_panels()
        self.set_focus(self.query_one(f"#{panel}"))

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

    def title_panel(self, panel: Panel, number: int) -> None:
        """Write how many there are beside a panel's title."""
        title = _TITLES[panel]
        self.query_one(f"#{panel}").border_title = f"{title} · {number:,}" if number else title

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
