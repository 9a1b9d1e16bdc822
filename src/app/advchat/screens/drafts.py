"""Keeps what is typed with the branch that it belongs to.

Owns the composer's text while places change under it: what is typed after a fork or a switch was asked for
belongs to the place that will be shown, what stood there before to the place that was left. Owns too the
saving of drafts. Knows the composer, the line of jobs and the actions; no other widget.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from advchat.actions import Actions
from advchat.screens.line import Line
from advchat.widgets.composer import Composer

Move = Callable[[], Awaitable[str | None]]
"""Goes to another place; the text it returns is put into the composer there."""


@dataclass(slots=True, eq=False)
class _Departure:
    """A move that was asked for; ``typed`` is what stood in the composer then."""

    typed: str


class Drafts:
    """The composer's text per place."""

    def __init__(
        self, composer: Composer, line: Line, actions: Callable[[], Actions], catch_up: Callable[[], None]
    ) -> None:
        self._composer = composer
        self._line = line
        self._actions = actions
        self._catch_up = catch_up
        self._departures: list[_Departure] = []
        self._saved = ""
        self._under = ""
        """Text of the place shown that is not in the composer, because moves are under way."""
        self._place: tuple[str, str] | None = None

    @property
    def moving(self) -> bool:
        """Whether another place will be shown soon."""
        return bool(self._departures)

    def arrived(self) -> None:
        """Take note of the newest snapshot; a place reached without a move of ours brings its draft along."""
        snapshot = self._actions().snapshot
        place = (snapshot.conversation_id, snapshot.branch_id)
        if snapshot.loading or self.moving or place == self._place:
            return
        first, self._place = self._place is None, place
        self._saved = snapshot.draft
        typed = self._composer.text if first else ""
        if snapshot.draft or not first:
            self._composer.load(snapshot.draft + typed)

    def move(self, act: Move, failed: Callable[[], None] | None = None, *, taken: bool = False) -> None:
        """Go to another place; the composer is free for what is to be typed there at once.

        ``taken`` says that the text of the place to be left was taken already, as a slash command: what
        stands in the composer was typed after it.
        """
        departure = _Departure("" if taken else self._composer.text)
        self._departures.append(departure)
        if not taken:
            self._composer.load("")

        def stayed() -> None:
            self._settle(departure)
            if failed is not None:
                failed()

        self._line.add(lambda: self._move(departure, act), failed=stayed)

    async def _move(self, departure: _Departure, act: Move) -> None:
        left = self._under + departure.typed
        self._under = left
        departure.typed = ""
        if left != self._saved:
            await self._actions().save_draft(left)
            self._saved = left
        prefill = await act()
        self._catch_up()
        snapshot = self._actions().snapshot
        place = (snapshot.conversation_id, snapshot.branch_id)
        if place != self._place:
            self._place = place
            self._saved = snapshot.draft
            self._under = snapshot.draft
        if prefill is not None:
            self._under = prefill
        self._settle(departure)

    def _settle(self, departure: _Departure) -> None:
        self._under += departure.typed
        self._departures.remove(departure)
        if not self._departures:
            text, self._under = self._under + self._composer.text, ""
            if text != self._composer.text:
                self._composer.load(text)

    def give_back(self, text: str) -> None:
        """Put text back that could not be sent, before what was typed since."""
        since = self._composer.text
        self._composer.load(text + (f"\n{since}" if since else ""))

    def sent(self) -> None:
        """Take note that sending has emptied the stored draft."""
        self._saved = ""

    async def save(self) -> None:
        """Store the text as the shown place's draft, if it has changed."""
        if self.moving or self._place is None:
            return
        text = self._composer.text
        if text != self._saved:
            await self._actions().save_draft(text)
            self._saved = text
