"""The session: a drop-in for the SDK's advanced SQLite session, with branches that stay.

Thin: each method queues one function of the module of its subject, as one job and one transaction. Knows no
SQL, and the SDK only by the shapes of what it is given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, overload

from advchat_storage import history, ledger, turn_queries, turn_usage
from advchat_storage.database import settled
from advchat_storage.items import Json
from advchat_storage.models import RequestRecord
from advchat_storage.place import MAIN, Position, require_not_removed
from advchat_storage.sending import acceptable
from advchat_storage.session_branches import BranchingSession
from advchat_storage.settings import limit_of

ENCODED_AT_ONCE = 64
"""Items of a longer batch are turned into JSON on the connection's thread, not on the event loop."""


class AdvancedSQLiteSession(BranchingSession):
    """A conversation with branches, usage and structured queries, in one SQLite file.

    Takes the keywords of the SDK's class, and ``resume_branch=True`` to begin on the branch that was current
    last. Nothing is opened before the first call; an object belongs to no event loop.
    """

    async def add_items(self, items: Sequence[Json], *, wrapper: object = None) -> None:
        """Append items to the current branch, all of them or none.

        A user message opens a turn; what comes before the first one is turn 0. Raises ``TypeError`` for what
        JSON cannot hold, and what SQLite raises.
        """
        self._require_open()
        if not items:
            return
        given = list(items)
        rows = history.rows_of(given) if len(given) <= ENCODED_AT_ONCE else None

        def add(connection: sqlite3.Connection, branch: str) -> None:
            require_not_removed(connection, self._scope.session_id, branch)
            history.append(connection, self._scope, branch, rows or history.rows_of(given))

        await self._write(add)

    async def open_turn(self, prompt_item: Json) -> tuple[int, int]:
        """Append a user message to the current branch; gives its turn and its message row."""
        rows = history.rows_of([prompt_item])

        def add(connection: sqlite3.Connection, branch: str) -> tuple[int, int]:
            require_not_removed(connection, self._scope.session_id, branch)
            return history.append(connection, self._scope, branch, rows)

        return await self._write(add)

    async def get_items(
        self, limit: int | None = None, branch_id: str | None = None, *, wrapper: object = None
    ) -> list[Json]:
        """Give the newest ``limit`` items of a branch, oldest first, exactly as they were added.

        0 gives none, a negative limit all; None means ``session_settings.limit``. With ``wrapper`` (the
        Runner reads so) what a provider would refuse is left out: calls without outputs, and the like.
        """
        wanted = limit_of(self.session_settings) if limit is None else limit

        def read(connection: sqlite3.Connection, branch: str) -> list[Json]:
            items = history.newest(connection, self._scope, branch, wanted)
            return items if wrapper is None else acceptable(items)

        return await self._read(read, branch_id)

    async def pop_item(self, *, wrapper: object = None) -> Json:
        """Remove the newest item of the current branch and give it; None when there is none."""
        return await self._write(lambda connection, branch: history.pop(connection, self._scope, branch))

    async def clear_session(self, *, wrapper: object = None) -> None:
        """Remove the history of all branches; ``main`` is current again, also for other sessions.

        Used branch IDs stay used, and the ledger keeps what was paid.
        """

        def clear(connection: sqlite3.Connection, branch: str) -> int:
            return history.clear(connection, self._scope)

        await self._write(clear, lambda generation, place: Position(MAIN, generation))

    async def store_run_usage(self, result: turn_usage.HasUsage) -> None:
        """Keep a run's usage (``result.context_wrapper.usage``) on the turn that is current now.

        Logs what goes wrong and never raises it.
        """
        try:
            usage = turn_usage.measured(result)
            if usage is not None:
                await self._write(
                    lambda connection, branch: turn_usage.store(connection, self._scope, branch, usage)
                )
        except Exception as error:
            self._log_failure("Failed to store session usage", error)

    async def record_request(self, record: RequestRecord) -> None:
        """Write one model request into the ledger; a second write of the same ``request_id`` is ignored."""
        await settled(
            self._require_open().submit_write(
                lambda connection: ledger.record(connection, session_id=self._scope.session_id, request=record)
            )
        )

    async def get_conversation_turns(self, branch_id: str | None = None) -> list[dict[str, Any]]:
        """Give the user turns of a branch.

        Dicts with ``turn``, ``content`` (100 characters at most, then three dots), ``full_content``,
        ``timestamp`` and ``can_branch``.
        """
        return await self._read(
            lambda connection, branch: turn_queries.conversation_turns(connection, self._scope, branch),
            branch_id,
        )

    async def get_conversation_by_turns(
        self, branch_id: str | None = None
    ) -> dict[int, list[dict[str, str | None]]]:
        """Give ``{turn: [{"type": …, "tool_name": …}, …]}`` of a branch."""
        return await self._read(
            lambda connection, branch: turn_queries.items_by_turn(connection, self._scope, branch), branch_id
        )

    async def get_tool_usage(self, branch_id: str | None = None) -> list[tuple[str | None, int, int]]:
        """Give ``(tool_name, count, turn)`` of a branch; MCP tools are named ``server.tool``."""
        return await self._read(
            lambda connection, branch: turn_queries.tool_usage(connection, self._scope, branch), branch_id
        )

    async def find_turns_by_content(
        self, search_term: str, branch_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Give the user turns whose text holds the term to the letter, ASCII letters in either case.

        Dicts as from ``get_conversation_turns``, with ``content`` not cut.
        """
        return await self._read(
            lambda connection, branch: turn_queries.turns_saying(connection, self._scope, branch, search_term),
            branch_id,
        )

    async def get_session_usage(self, branch_id: str | None = None) -> dict[str, int] | None:
        """Sum the stored usage of a branch, or of all branches when None; None when there is none.

        Keys: ``requests``, ``input_tokens``, ``output_tokens``, ``total_tokens``, ``total_turns``.
        """
        return await self._require_open().read(
            lambda connection: turn_usage.session_usage(connection, self._scope, branch_id)
        )

    @overload
    async def get_turn_usage(
        self, user_turn_number: None = None, branch_id: str | None = None
    ) -> list[dict[str, Any]]: ...

    @overload
    async def get_turn_usage(self, user_turn_number: int, branch_id: str | None = None) -> dict[str, Any]: ...

    async def get_turn_usage(
        self, user_turn_number: int | None = None, branch_id: str | None = None
    ) -> list[dict[str, Any]] | dict[str, Any]:
        """Give the stored usage of a branch's turns, or of one turn as a dict (``{}`` when it has none)."""
        return await self._read(
            lambda connection, branch: turn_usage.turn_usage(connection, self._scope, branch, user_turn_number),
            branch_id,
        )
