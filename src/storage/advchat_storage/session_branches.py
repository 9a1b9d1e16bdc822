"""A session's branches: the SDK's methods and ours.

Thin: each method queues one function of ``branches`` or ``tree``. Knows no SQL.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from advchat_storage import branches, turn_queries
from advchat_storage.branches import Fork, ForkPoint, require_name
from advchat_storage.carry import carry, drop_last
from advchat_storage.database import settled
from advchat_storage.models import Branch, TitleSource
from advchat_storage.place import MAIN, Position, require_branch
from advchat_storage.session_base import Change, SessionBase
from advchat_storage.settings import may_log_model_data
from advchat_storage.tree import binned_branches, branch_tree
from advchat_storage.wording import storable
from advchat_storage.workers import Manner

T = TypeVar("T")


class BranchingSession(SessionBase):
    """The methods that make, choose and arrange branches."""

    async def create_branch_from_turn(self, turn_number: int, branch_name: str | None = None) -> str:
        """Make a branch of what came before a user turn of the current branch, and switch to it.

        Gives its ID. Raises ``ValueError`` when there is no user message at that turn, and for a blank name
        or an ID that was ever used.
        """
        return await self.fork(turn_number, branch_id=branch_name, switch=True)

    async def create_branch_after_turn(
        self, turn: int, branch_name: str | None = None, *, title: str = "", switch: bool = True
    ) -> str:
        """Make a branch that holds a user turn of the current branch as well; gives its ID.

        Raises as ``create_branch_from_turn``.
        """
        return await self.fork(
            turn,
            kind="after",
            branch_id=branch_name,
            title=title,
            title_source="manual" if title else "none",
            switch=switch,
        )

    async def create_branch_from_content(self, search_term: str, branch_name: str | None = None) -> str:
        """Make a branch before the first turn whose user text holds the term, and switch to it.

        Raises ``ValueError`` when none does, and as ``create_branch_from_turn``.
        """

        def first_match(connection: sqlite3.Connection, branch: str) -> int:
            found = turn_queries.turns_saying(connection, self._scope, branch, search_term)
            if not found:
                raise ValueError(f"No user turns found containing '{search_term}'")
            return int(found[0]["turn"])

        return await self._fork(first_match, Fork("", 0, branch_id=branch_name), switch=True)

    async def fork(
        self,
        turn: int,
        *,
        kind: ForkPoint = "before",
        source: str | None = None,
        branch_id: str | None = None,
        title: str = "",
        title_source: TitleSource = "none",
        switch: bool = False,
    ) -> str:
        """Make a branch that parts from ``source`` (default: the current one) before or after a user turn.

        Gives its ID, generated unless given. Raises ``ValueError`` when the source has no user message at
        that turn, and for a blank ID or one that was ever used.
        """
        wanted = Fork(
            storable(source) if source is not None else "", turn, kind, branch_id, storable(title), title_source
        )
        return await self._fork(lambda connection, branch: turn, wanted, switch=switch)

    async def switch_to_branch(self, branch_id: str) -> None:
        """Make a branch the current one. Raises ``ValueError`` when it does not exist."""
        if self.bound_branch is not None:
            raise ValueError(f"This session is bound to branch '{self.bound_branch}'")

        def switch(connection: sqlite3.Connection, branch: str) -> str:
            target = storable(str(branch_id))
            require_branch(connection, self._scope.session_id, target)
            branches.remember_current(connection, self._scope.session_id, target)
            return branch

        left = await self._write(
            switch,
            lambda _, place: Position(storable(str(branch_id)), place.generation),
            Manner.FLEETING,
        )
        self._logger.info("Switched from branch '%s' to '%s'", left, branch_id)

    async def delete_branch(self, branch_id: str, force: bool = False) -> None:
        """Remove a branch for good; messages that other branches show stay.

        Raises ``ValueError`` for a blank ID, ``main``, an unknown branch, and for the current branch without
        ``force`` (with it, ``main`` becomes current first).
        """
        if not branch_id or not branch_id.strip():
            raise ValueError("Branch ID cannot be empty")
        if branch_id == MAIN:
            raise ValueError("Cannot delete the 'main' branch")
        target = storable(branch_id)

        def delete(connection: sqlite3.Connection, branch: str) -> bool:
            is_current = target in (self._position.branch, branch)
            if is_current and not force:
                raise ValueError(
                    f"Cannot delete current branch '{branch_id}'. Use force=True or switch branches first"
                )
            require_branch(connection, self._scope.session_id, target)
            branches.delete(connection, self._scope, target)
            branches.leave(connection, self._scope.session_id, target)
            return is_current

        await self._write(
            delete,
            lambda was_current, place: Position(MAIN, place.generation) if was_current else None,
            Manner.UNCHECKED,
        )
        self._logger.info("Deleted branch '%s'", branch_id)

    async def list_branches(self) -> list[dict[str, Any]]:
        """Give the branches in order of creation, the bin left out.

        Dicts with ``branch_id``, ``message_count``, ``user_turns``, ``is_current``, ``created_at``.
        """
        return await self._read(
            lambda connection, branch: branches.listing(connection, self._scope.session_id, branch)
        )

    async def current_branch(self) -> str:
        """Give the current branch, ``main`` after a clear by anybody."""
        return await self._read(lambda connection, branch: branch)

    async def branch_tree(self) -> list[Branch]:
        """Give the branches with their places in the tree, parents before children, the bin left out."""
        return await self._read(
            lambda connection, branch: branch_tree(
                connection, session_id=self._scope.session_id, current_branch=branch
            )
        )

    async def binned_branches(self) -> list[Branch]:
        """Give the branches in the bin, in order of creation."""
        return await self._read(
            lambda connection, branch: binned_branches(connection, session_id=self._scope.session_id)
        )

    async def bin_branch(self, branch_id: str) -> None:
        """Put a branch into the bin; the current one leaves ``main`` current.

        Raises ``ValueError`` for ``main`` and for an unknown branch.
        """
        target = storable(branch_id)

        def move(connection: sqlite3.Connection, branch: str) -> bool:
            branches.move_to_bin(connection, self._scope.session_id, target)
            branches.leave(connection, self._scope.session_id, target)
            return target in (self._position.branch, branch)

        await self._write(
            move, lambda was_current, place: Position(MAIN, place.generation) if was_current else None
        )

    async def restore_branch(self, branch_id: str) -> None:
        """Take a branch out of the bin. Raises ``ValueError`` for an unknown branch."""
        target = storable(branch_id)
        await self._arrange(lambda connection: branches.restore(connection, self._scope.session_id, target))

    async def rename_branch(self, branch_id: str, title: str, *, source: TitleSource = "manual") -> bool:
        """Give a branch a title; False where an automatic one met one that somebody gave.

        ``none`` makes it untitled again. Raises ``ValueError`` for an unknown branch.
        """
        target, text = storable(branch_id), storable(title)
        return await self._arrange(
            lambda connection: branches.rename(connection, self._scope.session_id, target, text, source)
        )

    async def pin_branch(self, branch_id: str, pinned: bool) -> None:
        """Pin a branch or let it go. Raises ``ValueError`` for an unknown branch."""
        target = storable(branch_id)
        await self._arrange(
            lambda connection: branches.set_pinned(connection, self._scope.session_id, target, pinned)
        )

    async def limit_branch(self, branch_id: str, budget_nano: int | None) -> None:
        """Limit a branch's own spend, in nano-dollars; None lifts the limit."""
        target = storable(branch_id)
        await self._arrange(
            lambda connection: branches.set_budget(connection, self._scope.session_id, target, budget_nano)
        )

    async def drop_last_turns(self, branch_id: str, count: int) -> None:
        """Remove the newest turns of a branch; messages that other branches show stay."""
        target = storable(branch_id)
        await self._arrange(lambda connection: drop_last(connection, self._scope, target, count))

    async def mark_unread(self, branch_id: str, unread: bool) -> None:
        """Mark that a branch has unseen news, or not. Raises ``ValueError`` for an unknown branch."""
        target = storable(branch_id)
        await self._arrange(
            lambda connection: branches.set_unread(connection, self._scope.session_id, target, unread)
        )

    async def carry_turns(self, source_branch: str, turns: list[int], target_branch: str) -> None:
        """Copy turns of one branch to the end of another, as new messages with a note of their origin.

        Raises ``ValueError`` for an unknown branch and for a turn that the source does not have.
        """
        source, target, wanted = storable(source_branch), storable(target_branch), list(turns)
        await self._arrange(lambda connection: carry(connection, self._scope, source, wanted, target))

    async def _arrange(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Write what speaks of branches by their IDs, whatever branch this session stands on."""
        return await settled(self._require_open().submit_write(change))

    async def _fork(self, turn_of: Change[int], wanted: Fork, *, switch: bool) -> str:
        def make(connection: sqlite3.Connection, branch: str) -> tuple[str, str]:
            source = wanted.source or branch
            turn = turn_of(connection, source)
            require_name(wanted.branch_id)
            branch_id = storable(wanted.branch_id) if wanted.branch_id is not None else None
            exact = replace(wanted, source=source, turn=turn, branch_id=branch_id)
            made = branches.fork(connection, self._scope, exact)
            if switch and self.bound_branch is None:
                branches.remember_current(connection, self._scope.session_id, made)
            self._logger.debug(
                "Created branch '%s' %s turn %s of '%s'%s",
                made,
                exact.kind,
                turn,
                source,
                self._words_of(connection, source, turn),
            )
            return made, source

        made, _ = await self._write(
            make,
            lambda done, place: Position(done[0], place.generation) if switch else None,
            Manner.UNCHECKED,
        )
        return made

    def _words_of(self, connection: sqlite3.Connection, branch: str, turn: int) -> str:
        """Give a turn's first words for the log, where they may appear there."""
        if not self._logger.isEnabledFor(logging.DEBUG) or not may_log_model_data():
            return ""
        words = turn_queries.first_words(connection, self._scope, branch, turn)
        return f": {words}"
