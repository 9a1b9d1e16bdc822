"""The session as the SDK sees it during one run.

Owns the difference that the prompt makes: it is on disk already, as the newest message of the branch, and
yet the SDK has to see a history without it, append it itself and find it appended. Knows neither the SDK nor
models. What the SDK rewinds never reaches the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advchat.models.mending import mend, mend_value
from advchat.models.sdk_types import Sdk

if TYPE_CHECKING:
    from advchat_storage import AdvancedSQLiteSession


class HistoryView:
    """A session for ``Runner.run``. ``stored`` is called once items of the run are on disk."""

    def __init__(self, session: AdvancedSQLiteSession, prompt: str, stored: Callable[[], None]) -> None:
        self.session_id = session.session_id
        self.session_settings: Sdk = session.session_settings
        self._session = session
        self._prompt = prompt
        self._stored = stored
        self._prompt_given = False
        self._added = 0
        self.closed = False
        """Set when the run is over: a run that ends late writes nothing any more."""

    async def get_items(self, limit: int | None = None, *, wrapper: Sdk = None) -> list[Sdk]:
        """Give the history; before the SDK has appended the prompt, without it."""
        if self._prompt_given:
            return list(await self._session.get_items(limit, wrapper=wrapper))
        wanted = limit + 1 if limit is not None and limit > 0 else limit
        items = list(await self._session.get_items(wanted, wrapper=wrapper))
        for index in range(len(items) - 1, -1, -1):
            if self._is_prompt(items[index]):
                del items[index]
                break
        else:
            items = items[-limit:] if limit is not None and limit > 0 else items
        return items

    async def add_items(self, items: Sequence[Sdk], *, wrapper: Sdk = None) -> None:
        """Append what the run has made; the prompt counts as appended."""
        if self.closed:
            raise asyncio.CancelledError
        made = [mend_value(dict(item)) for item in items]
        if not self._prompt_given:
            index = next((i for i, item in enumerate(made) if self._is_prompt(item)), None)
            if index is not None:
                self._prompt_given = True
                del made[index]
        if not made:
            return
        task = asyncio.ensure_future(self._session.add_items(made))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})  # Committed or not: the run's end has to know.
            if task.exception() is None:
                self._note(len(made))
            raise
        self._note(len(made))

    async def pop_item(self, *, wrapper: Sdk = None) -> Sdk:
        """Take back the newest item of this run; the prompt is only said to be taken."""
        if self._added:
            self._added -= 1
            return await self._session.pop_item()
        if self._prompt_given:
            self._prompt_given = False
            return {"role": "user", "content": self._prompt}
        return None

    async def clear_session(self, *, wrapper: Sdk = None) -> None:
        """Clear the conversation below."""
        await self._session.clear_session()

    async def keep(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Append what came of an unfinished run, and take nothing more from the SDK."""
        self.closed = True
        if items:
            await self._session.add_items([mend_value(dict(item)) for item in items])

    def _note(self, count: int) -> None:
        self._added += count
        self._stored()

    def _is_prompt(self, item: Mapping[str, Any]) -> bool:
        content = item.get("content")
        return item.get("role") == "user" and isinstance(content, str) and mend(content) == mend(self._prompt)
