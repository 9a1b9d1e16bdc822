"""What becomes of what is typed in the composer.

Owns sending, slash commands with their completion, drafts, queued prompts and the questions asked in a
line. What a command does is ``main``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.timer import Timer
from textual.widgets._text_area import TextArea

from advchat.actions import UserError
from advchat.commands import Command, completions
from advchat.screens.desk import MakeActions
from advchat.screens.drafts import Drafts
from advchat.screens.layout import OPENING
from advchat.screens.reading import Reading
from advchat.slash import SlashCall, parse
from advchat.widgets.composer import Composer
from advchat.widgets.lines import AskBar, OfferBar, QueueLines
from advchat.widgets.picker import Pick, PickList

if TYPE_CHECKING:
    from advchat.events import RunEvent
    from advchat.state import Snapshot

Failed = Callable[[], None]

_REST = 0.4
"""Seconds of rest in typing after which the draft is saved."""


class Prompting(Reading):
    """The composer's side of the main screen."""

    def __init__(
        self, make_actions: MakeActions, keys: Mapping[str, tuple[str, ...]], log_file: Path | None
    ) -> None:
        super().__init__(make_actions, keys, log_file)
        self._drafts: Drafts | None = None
        self._rest: Timer | None = None

    @property
    def drafts(self) -> Drafts:
        """The composer's text per place."""
        if self._drafts is None:
            self._drafts = Drafts(self.composer, self.line, lambda: self.actions, self.catch_up)
        return self._drafts

    @property
    def completion(self) -> PickList:
        """The slash commands that the text may become."""
        return self.query_one("#completion", PickList)

    def show(self, snapshot: Snapshot, news: list[RunEvent]) -> None:
        """Pass a snapshot on, the draft of a new place included."""
        super().show(snapshot, news)
        self.drafts.arrived()

    def run(self, command: Command, argument: str = "", *, failed: Failed | None = None) -> None:
        """Carry a command out; slash commands bring their argument along.

        Raises UserError for what can be refused at once; ``failed`` is called if it fails later.
        """
        raise NotImplementedError

    # Sending

    @on(Composer.Submitted)
    def _submit(self, event: Composer.Submitted) -> None:
        event.stop()
        text = event.text
        self.close_completion()
        if not text.strip():
            self.notice.say("Nothing to send yet: type a prompt first.")
            return
        self.notice.clear()
        try:
            parsed = parse(text)
            if isinstance(parsed, SlashCall):
                failed = partial(self.drafts.give_back, text)
                self.run(parsed.command, parsed.argument, failed=failed)
            else:
                self._send(parsed, text)
        except UserError as error:
            self.drafts.give_back(text)
            self.complain(str(error))

    def _send(self, prompt: str, text: str) -> None:
        async def send() -> None:
            await self.actions.send(prompt)
            self.drafts.sent()

        self.line.add(send, failed=lambda: self.drafts.give_back(text))

    @on(QueueLines.TakeBack)
    def _take_back(self, event: QueueLines.TakeBack) -> None:
        event.stop()
        self.unqueue(event.queue_id)

    def unqueue(self, queue_id: int) -> None:
        """Take a waiting prompt back into the composer."""
        try:
            self.drafts.give_back(self.actions.unqueue(queue_id))
        except UserError as error:
            self.complain(str(error))
        self.home()

    # Drafts

    @on(TextArea.Changed, "#composer")
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._complete()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self.save_soon)

    def save_soon(self) -> None:
        """Have the draft saved after what is in the line."""
        self.line.add(self.drafts.save)

    def on_app_blur(self) -> None:
        """Save the draft when the user looks elsewhere."""
        self.save_soon()

    # Completion

    async def furnish(self) -> None:
        """Add what the first frame did without, and complete what was typed meanwhile."""
        await super().furnish()
        self._complete()

    def _complete(self) -> None:
        if not self.furnished:
            return
        text = self.composer.text
        found = completions(text)
        picks = [
            Pick(command.id, f"/{command.slash}{' ' + command.args if command.args else ''}", command.help)
            for command in found
        ]
        self.completion.set_class(bool(picks), "-shown")
        self.completion.show(picks)

    @property
    def completing(self) -> bool:
        """Whether completion is open."""
        return self.furnished and self.completion.has_class("-shown")

    def close_completion(self) -> bool:
        """Close the completion; tell whether it was open."""
        was = self.completing
        if was:
            self.completion.remove_class("-shown")
        return was

    @on(Composer.Stepped)
    def _step(self, event: Composer.Stepped) -> None:
        event.stop()
        if self.completing:
            self.completion.action_move(event.step)

    def action_complete(self) -> None:
        """Take the lit completion, or move the focus on."""
        chosen = self.completion.chosen if self.completing else None
        if chosen is None:
            self.focus_next()
            return
        self.composer.put(chosen.title.split(" ")[0] + (" " if " " in chosen.title else ""))

    @on(PickList.Chosen, "#completion")
    def _complete_by_click(self, event: PickList.Chosen) -> None:
        event.stop()
        self.action_complete()
        self.composer.focus()

    # Questions in a line

    def ask(self, purpose: str, label: str, value: str = "") -> None:
        """Ask for a line of text beside the composer. Raises UserError in the first moments."""
        if not self.furnished:
            raise UserError(OPENING)
        self.notice.clear()
        if self.panels.alone:
            self.close_panel()
        self.query_one(AskBar).ask(purpose, label, value)

    @on(AskBar.Closed)
    def _asked(self, event: AskBar.Closed) -> None:
        event.stop()
        self.home()

    @on(OfferBar.Answered)
    def _answer_offer(self, event: OfferBar.Answered) -> None:
        event.stop()
        choice = event.choice
        self.line.add(lambda: self.actions.answer_offer(choice))
        self.home()

    def on_key(self, event: events.Key) -> None:
        """Answer an offer from anywhere."""
        if self.furnished and self.query_one(OfferBar).key(event.key):
            event.stop()
            event.prevent_default()
