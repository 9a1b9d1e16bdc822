"""The screens to pick from: commands, conversations, search hits, the bin.

Owns how each fills its list. They read through the actions they are given and change nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from textual.timer import Timer

from advchat.commands import COMMANDS, Command, key_label, keys_of
from advchat.naming import branch_label
from advchat.screens.pick import PickScreen, matches
from advchat.widgets.numbers import money
from advchat.widgets.picker import Pick
from advchat_storage.models import Branch, Conversation, SearchHit

log = logging.getLogger(__name__)

_PAGE = 200
_SETTLE = 0.12
"""Seconds of rest in typing after which a search begins."""


class PaletteScreen(PickScreen):
    """Every command that can be run now, by name."""

    heading = "Commands"
    placeholder = "Type a command's name"

    def __init__(self, usable: Callable[[Command], bool], keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self._commands = [command for command in COMMANDS if command.palette and usable(command)]
        self._keys = keys

    def narrow(self, term: str) -> None:
        """List those whose title begins with the term, then those whose title has its words, then the rest."""
        found = [
            command
            for command in self._commands
            if matches(term, f"{command.title} {command.help} /{command.slash or ''}")
        ]
        folded = term.casefold().strip()
        found.sort(
            key=lambda command: (
                not command.title.casefold().startswith(folded),
                not matches(term, command.title),
            )
        )
        self.rows.show([self._pick(command) for command in found])

    def _pick(self, command: Command) -> Pick:
        keys = keys_of(command, self._keys)
        tag = key_label(keys[0]) if keys else f"/{command.slash}" if command.slash else ""
        return Pick(command.id, command.title, command.help, tag)


class OpenScreen(PickScreen):
    """Every conversation, newest first; pages arrive while one may already pick."""

    heading = "Open a conversation"
    placeholder = "Type a part of its title"
    empty = "No conversations yet: send a prompt to begin one."

    def __init__(self, read: Callable[[int, int], Awaitable[list[Conversation]]]) -> None:
        super().__init__()
        self._read = read
        self._picks: list[Pick] = []

    def on_mount(self) -> None:
        """Begin reading."""
        self.run_worker(self._read_all(), group="conversations", exit_on_error=False)

    async def _read_all(self) -> None:
        try:
            await self._read_pages()
        except Exception as error:
            # Whatever fails here must not take the screen down; the line says what it was.
            log.exception("the conversations could not be read")
            self.rows.empty = f"The conversations could not be read: {error}"
            self.rows.refresh()

    async def _read_pages(self) -> None:
        while True:
            page = await self._read(len(self._picks), len(self._picks) + _PAGE)
            self._picks += [_conversation_pick(conversation) for conversation in page]
            self._list_matches(self.field.value, keep=True)
            if len(page) < _PAGE:
                return

    def narrow(self, term: str) -> None:
        """List the conversations whose titles hold the term."""
        self._list_matches(term, keep=False)

    def _list_matches(self, term: str, *, keep: bool) -> None:
        self.rows.show([pick for pick in self._picks if matches(term, pick.title)], keep=keep)


def _conversation_pick(conversation: Conversation) -> Pick:
    turns = f"{conversation.user_turns} turn{'' if conversation.user_turns == 1 else 's'}"
    branches = f", {conversation.branches} branches" if conversation.branches > 1 else ""
    cost = money(conversation.cost_nano, 8, at_least=conversation.cost_at_least)
    when = conversation.updated_at[:16].replace("T", " ")
    title = conversation.title or "Untitled"
    return Pick(conversation.conversation_id, title, turns + branches, f"{cost}  {when}")


class SearchScreen(PickScreen):
    """Messages of every conversation; it is dismissed with the position of the picked hit."""

    heading = "Search everything"
    placeholder = "Type what was said"
    empty = "Type to search."

    def __init__(self, search: Callable[[str], Awaitable[list[SearchHit]]], term: str = "") -> None:
        super().__init__()
        self._search = search
        self._term = term
        self._timer: Timer | None = None
        self.hits: Sequence[SearchHit] = ()
        """What was found last; a pick's key is a position in it."""

    def on_mount(self) -> None:
        """Begin with the term that was given."""
        self.field.value = self._term

    def narrow(self, term: str) -> None:
        """Search once the typing rests."""
        if self._timer is not None:
            self._timer.stop()
        if not term.strip():
            self._show(())
            self.rows.empty = "Type to search."
            return
        self._timer = self.set_timer(_SETTLE, lambda: self._begin(term))

    def _begin(self, term: str) -> None:
        self.run_worker(self._find(term), group="search", exclusive=True, exit_on_error=False)

    async def _find(self, term: str) -> None:
        try:
            hits = await self._search(term)
            self.rows.empty = "Nothing found."
        except Exception as error:
            # Whatever fails here must not take the screen down; the line says what it was.
            log.exception("search failed")
            hits = []
            self.rows.empty = f"The search failed: {error}"
        self._show(hits)

    def _show(self, hits: Sequence[SearchHit]) -> None:
        self.hits = hits
        self.rows.show([_hit_pick(place, hit) for place, hit in enumerate(hits)])


def _hit_pick(place: int, hit: SearchHit) -> Pick:
    who = "you" if hit.role == "user" else "answer"
    title = f"{hit.conversation_title or 'Untitled'} · {hit.turn} {who}"
    return Pick(str(place), title, hit.excerpt, hit.created_at[:10], hit.match)


class BinScreen(PickScreen):
    """The deleted branches of the conversation; a pick is brought back."""

    heading = "Bin"
    placeholder = "Type a part of a branch's title"
    empty = "The bin is empty."

    def __init__(self, branches: Sequence[Branch]) -> None:
        super().__init__()
        self._branches = branches

    def narrow(self, term: str) -> None:
        """List the branches whose titles hold the term, last deleted first."""
        newest = sorted(self._branches, key=lambda branch: branch.binned_at or "", reverse=True)
        self.rows.show(
            [
                _bin_pick(branch)
                for branch in newest
                if matches(term, branch_label(branch.branch_id, branch.title))
            ]
        )


def _bin_pick(branch: Branch) -> Pick:
    cost = money(branch.own_cost_nano, 8, at_least=branch.own_cost_at_least)
    when = (branch.binned_at or "")[:16].replace("T", " ")
    turns = f"{branch.user_turns} turn{'' if branch.user_turns == 1 else 's'}"
    return Pick(
        branch.branch_id, branch_label(branch.branch_id, branch.title), f"{turns}, {cost}", f"deleted {when}"
    )
