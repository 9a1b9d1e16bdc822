"""Conversations and prompts: which one is shown, and what is said on it.

Owns beginning, opening and naming conversations, sending prompts, drafts and the model's choice, on top of the
place that is shown. Knows no widget.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace

from advchat.actions import UserError
from advchat.controller.core import Core
from advchat.controller.runs import Place
from advchat_storage import Conversation, SearchHit

TITLE_LENGTH = 48


class Conversing(Core):
    """The actions on conversations, and the prompts sent from them."""

    async def start(self) -> None:
        """Open the file and show what the command line asks for, else the latest conversation.

        Raises ``StorageError`` for a file that cannot be used and ``UserError`` for an unknown conversation.
        """
        await self.store.open()
        wanted = self._start_at
        if wanted.conversation is not None and not wanted.new:
            found = await self.store.conversation(wanted.conversation)
            if found is None:
                raise UserError(
                    f"No conversation is called “{wanted.conversation}”. `advchat conversations` lists them."
                )
            await self._show(found)
        elif wanted.new:
            await self.new_conversation(wanted.conversation or "")
        else:
            latest = await self.store.conversations(limit=1)
            await (self._show(latest[0]) if latest else self.new_conversation())
        self._spawn(asyncio.create_task(self._prepare(), name="prepare the model"))

    # Conversations

    async def conversations(self, start: int, stop: int) -> list[Conversation]:
        """Give the conversations at positions [start, stop), the latest first."""
        return await self.store.conversations(limit=stop - start, offset=start)

    async def new_conversation(self, title: str = "") -> None:
        """Show an empty conversation; it reaches the file with its first prompt, or at once when titled."""
        self._conversation_id = uuid.uuid4().hex
        self._branch_id = "main"
        self._stored = False
        self._branches = []
        self._model = self._default_model()
        if title.strip():
            await self._ensure_stored(title.strip())
        usage = type(self._snapshot.usage)()
        self._publish(replace(self._snapshot, usage=usage, budget=None, conversation_title=""))
        await self._refresh("place")

    async def _ensure_stored(self, title: str = "") -> None:
        async with self._storing:
            if not self._stored:
                await self.store.create_conversation(title, conversation_id=self._conversation_id)
                self._stored = True

    async def open_conversation(self, ident: str) -> None:
        """Show another conversation, on its current branch. Raises ``UserError`` when there is none."""
        found = await self.store.conversation(ident)
        if found is None:
            raise UserError(f"No conversation is called “{ident}”. Ctrl+O lists them.")
        await self._show(found)

    async def rename_conversation(self, title: str) -> None:
        """Give the conversation a title that no automatic one replaces."""
        new = _one_line(title)
        if not new:
            raise UserError("A title cannot be empty.")
        await self._ensure_stored()
        ident = self._conversation_id
        old = await self.store.conversation(ident)
        await self.store.update_conversation(ident, title=new, title_source="manual")
        # An emptied title lets the store derive the automatic one again.
        before = old.title if old is not None and old.title_source == "manual" else ""
        self._undo.push("renamed the conversation", lambda: self.store.update_conversation(ident, title=before))
        await self._refresh("place")

    async def search(self, term: str) -> list[SearchHit]:
        """Find the messages that hold the term, over all branches of all conversations."""
        return await self.store.search(term) if term.strip() else []

    # Prompts

    async def send(self, text: str, *, branch_id: str | None = None) -> None:
        """Send a prompt on the branch shown (or named), or queue it while that branch is answering.

        Raises ``UserError`` with the text untouched when it cannot be stored.
        """
        if not text.strip():
            raise UserError("Nothing to send yet: type a prompt first.")
        place = (self._conversation_id, branch_id or self._branch_id)
        await self._ensure_stored()
        await self.runs.send(place, text, model=self._model)
        await self._title(place, text)

    async def _title(self, place: Place, text: str) -> None:
        """Name an unnamed fork after its first new prompt; the store names conversations itself."""
        branch = next((branch for branch in self._branches if branch.branch_id == place[1]), None)
        if branch is not None and branch.parent is not None and branch.title_source == "none":
            async with self.store.session(place[0]) as session:
                await session.rename_branch(place[1], _one_line(text)[:TITLE_LENGTH], source="auto")
        self._refresh_soon("tree")

    async def stop(self) -> None:
        """Stop the run on the branch shown; what came stays."""
        await self.runs.stop(self.place)

    def unqueue(self, queue_id: int) -> str:
        """Take a waiting prompt back and give its text."""
        return self.runs.unqueue(queue_id)

    async def save_draft(self, text: str) -> None:
        """Keep the composer's text for the branch shown."""
        await self.store.save_draft(*self.place, text)

    async def remember_heights(self, width: int, heights: dict[int, int]) -> None:
        """Keep how many rows turns took, as hints for the next opening."""
        if self._stored:
            await self.store.remember_heights(self._conversation_id, width, heights)

    async def set_model(self, name: str) -> None:
        """Use another model for the prompts of this conversation from now on."""
        if not name.strip():
            raise UserError("Which model? Type its name, e.g. /model gpt-4.1-mini.")
        self._model = name.strip()
        if self._stored:
            await self.store.update_conversation(self._conversation_id, model=self._model)
        await self._refresh("usage")


def _one_line(text: str) -> str:
    return " ".join(text.split())
