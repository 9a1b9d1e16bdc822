"""The store: everything that a program keeps, in one file, behind one object.

Thin: each method hands one function of the module of its subject to the file's reader or writer. Knows no
SQL, no model, no screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from advchat_storage import (
    conversations,
    drafts,
    journal_rows,
    runs,
    tool_times,
    turn_states,
    turn_windows,
)
from advchat_storage.backup import backup
from advchat_storage.check import check
from advchat_storage.models import (
    CheckReport,
    Conversation,
    Item,
    JournalEntry,
    RunStatus,
    SearchHit,
    TitleSource,
    Turn,
    TurnHeader,
)
from advchat_storage.search import needs_index, search
from advchat_storage.store_ledger import LedgerStore
from advchat_storage.wording import storable

_INDEXING_SECONDS = 2.0
"""How long a search waits for the index of a file that was never searched before."""
_KEEP: Final[Any] = object()
"""Of a field that an update leaves as it is; None empties it."""


class Store(LedgerStore):
    """One file of conversations. ``async with`` closes it; nothing is opened before the first call.

    Every method may raise the typed errors of ``advchat_storage.errors``, whose text names the file and the
    way out, and ``RuntimeError`` once closed. Money is in nano-dollars; times are UTC, ISO 8601.
    """

    async def conversations(
        self, *, limit: int | None = None, offset: int = 0, archived: bool = False
    ) -> list[Conversation]:
        """Give conversations by last activity, newest first; ``archived`` gives the archived ones instead."""
        return await self._read(
            conversations.conversations,
            tables=await self._tables(),
            limit=limit,
            offset=offset,
            archived=archived,
        )

    async def conversation(self, id_or_title: str) -> Conversation | None:
        """Give the conversation of that ID, else the newest of that title, else the only one that begins so."""
        return await self._read(
            conversations.conversation, tables=await self._tables(), id_or_title=storable(id_or_title)
        )

    async def create_conversation(
        self,
        title: str = "",
        *,
        conversation_id: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
    ) -> Conversation:
        """Make an empty conversation. Raises ``ValueError`` for an ID that is blank or taken."""
        return await self._write(
            conversations.create_conversation,
            tables=await self._tables(),
            title=title,
            conversation_id=conversation_id,
            model=model,
            instructions=instructions,
        )

    async def update_conversation(
        self,
        conversation_id: str,
        *,
        title: str = _KEEP,
        title_source: TitleSource = _KEEP,
        model: str | None = _KEEP,
        instructions: str | None = _KEEP,
        archived: bool = _KEEP,
        budget_nano: int | None = _KEEP,
    ) -> bool:
        """Change what is given. False where an automatic title met one that somebody gave.

        A title without a source is manual. Raises ``ValueError`` for an unknown conversation.
        """
        given = {
            "title": title,
            "title_source": title_source,
            "model": model,
            "instructions": instructions,
            "archived": archived,
            "budget_nano": budget_nano,
        }
        return await self._write(
            conversations.update_conversation,
            tables=await self._tables(),
            conversation_id=storable(conversation_id),
            changes={name: value for name, value in given.items() if value is not _KEEP},
        )

    async def delete_conversation(self, conversation_id: str) -> None:
        """Remove a conversation for good; what it cost stays in the ledger."""
        await self._write(
            conversations.delete_conversation,
            tables=await self._tables(),
            conversation_id=storable(conversation_id),
        )
        self._upkeep.start(sweeping=True)

    async def turn_count(self, conversation_id: str, branch_id: str) -> int:
        """Give how many turns a branch has, turn 0 included when it exists."""
        return await self._read(
            turn_windows.turn_count, session_id=storable(conversation_id), branch_id=storable(branch_id)
        )

    async def turn_headers(
        self, conversation_id: str, branch_id: str, start: int, stop: int
    ) -> list[TurnHeader]:
        """Give the headers of the turns at positions ``[start, stop)``, counted from 0."""
        return await self._read(
            turn_windows.turn_headers,
            session_id=storable(conversation_id),
            branch_id=storable(branch_id),
            start=start,
            stop=stop,
            tables=await self._tables(),
        )

    async def turns(self, conversation_id: str, branch_id: str, start: int, stop: int) -> list[Turn]:
        """Give the turns at positions ``[start, stop)``, counted from 0, with their items."""
        return await self._read(
            turn_windows.turns,
            session_id=storable(conversation_id),
            branch_id=storable(branch_id),
            start=start,
            stop=stop,
            tables=await self._tables(),
        )

    async def turn(self, conversation_id: str, branch_id: str, number: int) -> Turn | None:
        """Give the turn of that number with its items; None when the branch has no such turn."""
        return await self._read(
            turn_windows.turn,
            session_id=storable(conversation_id),
            branch_id=storable(branch_id),
            number=number,
            tables=await self._tables(),
        )

    async def set_turn_status(
        self, conversation_id: str, message_id: int, status: RunStatus, error: str | None = None
    ) -> None:
        """Keep how the newest run of a turn (known by its first message) ended."""
        await self._write(
            turn_states.set_turn_status,
            session_id=storable(conversation_id),
            message_id=message_id,
            status=status,
            error=error,
        )

    async def remember_heights(self, conversation_id: str, width: int, heights: Mapping[int, int]) -> None:
        """Keep how many rows turns took on the screen, by first message, at ``width`` columns."""
        await self._write(
            turn_states.remember_heights,
            session_id=storable(conversation_id),
            width=width,
            heights=dict(heights),
        )

    async def begin_run(
        self, *, run_id: str, conversation_id: str, branch_id: str, prompt: str, item: Item | None
    ) -> tuple[int, int]:
        """Put a prompt on its branch, begin its journal and clear the draft, all or nothing.

        Without ``item`` the prompt is the newest turn's, on disk already. Gives turn and message row. Raises
        ``ValueError`` for an unknown branch, ``BranchBusyError`` while another process answers on it.
        """
        return await self._write(
            runs.begin_run,
            scope=await self._scope(conversation_id),
            path=self.path,
            run_id=run_id,
            branch_id=storable(branch_id),
            prompt=prompt,
            item=item,
        )

    async def journal(self, run_id: str, *, partial: str, reasoning: str = "") -> bool:
        """Keep a run's answer so far; False when the run is over already."""
        return await self._write(
            journal_rows.write_partial, run_id=run_id, partial=partial, reasoning=reasoning
        )

    async def end_run(self, run_id: str, status: RunStatus, error: str | None = None) -> bool:
        """Keep how a run ended and forget its journal; False when the run is over already."""
        ended = await self._write(runs.end_run, run_id=run_id, status=status, error=error)
        self._upkeep.start()
        return ended

    async def interrupted(self, conversation_id: str | None = None) -> list[JournalEntry]:
        """Give the runs that processes which are gone left behind, oldest first."""
        session = None if conversation_id is None else storable(conversation_id)
        return await self._read(journal_rows.lost_entries, session_id=session)

    async def resolve_interrupted(self, run_id: str, choice: Literal["keep", "discard"]) -> bool:
        """Keep a lost run's partial answer as an item of its branch, or drop it; False without such a run.

        The turn's status stays *interrupted*.
        """
        return await self._write(
            runs.resolve_interrupted,
            tables=await self._tables(),
            run_id=run_id,
            keep=choice == "keep",
        )

    async def keep_tool_times(self, conversation_id: str, seconds: Mapping[str, float]) -> None:
        """Keep the wall time of tool calls, by call ID."""
        await self._write(
            tool_times.keep_tool_times, session_id=storable(conversation_id), seconds=dict(seconds)
        )

    async def tool_times(self, conversation_id: str, calls: Sequence[str]) -> dict[str, float]:
        """Give the seconds of those tool calls whose time is known, by call ID."""
        return await self._read(tool_times.tool_times, session_id=storable(conversation_id), calls=list(calls))

    async def save_draft(self, conversation_id: str, branch_id: str, text: str) -> None:
        """Keep the composer's text of a branch; an empty one is forgotten."""
        await self._write(
            drafts.save_draft,
            session_id=storable(conversation_id),
            branch_id=storable(branch_id),
            text=text,
        )

    async def draft(self, conversation_id: str, branch_id: str) -> str:
        """Give the composer's text of a branch; empty when there is none."""
        return await self._read(
            drafts.draft, session_id=storable(conversation_id), branch_id=storable(branch_id)
        )

    async def search(
        self,
        term: str,
        *,
        conversation_id: str | None = None,
        branch_id: str | None = None,
        limit: int = 50,
    ) -> list[SearchHit]:
        """Give the newest messages that hold ``term``, literally, in any case and script, each once."""
        tables = await self._tables()
        self._upkeep.start()
        if await self._read(needs_index, tables=tables):
            await self._upkeep.caught_up(_INDEXING_SECONDS)
        return await self._read(
            search,
            tables=tables,
            term=term,
            conversation_id=None if conversation_id is None else storable(conversation_id),
            branch_id=None if branch_id is None else storable(branch_id),
            limit=limit,
        )

    async def check(self, *, repair: bool = False) -> CheckReport:
        """Look for damage, and mend what can be mended safely, after a backup beside the file."""
        return await check(self._require_open(), repair=repair)

    async def backup(self, target: str | Path) -> Path:
        """Copy the file, whole, to a new file; gives its path. Goes on beside reads and writes."""
        return await self._read(backup, source=self.path, target=target)
