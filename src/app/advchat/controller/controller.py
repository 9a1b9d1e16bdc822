"""The controller whole: places and prompts, branches, the model's choice and export.

Owns the question whether to fetch the embedded model, and what is written out of a conversation.
Knows no Textual.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

from advchat.actions import UserError
from advchat.controller.budgets import Cheaper
from advchat.controller.core import StartAt
from advchat.controller.item_views import turn_view
from advchat.controller.reporting import Reporting
from advchat.controller.runs import Price
from advchat.controller.summarising import Summarising
from advchat.runner import Embedded, Runner
from advchat.state import Offer, TurnView
from advchat_storage import Store, UsageSum

log = logging.getLogger(__name__)

LOCAL = "local"
TOUR = "tour"


class Controller(Summarising, Reporting):
    """Everything a user can do, on one database and one runner."""

    def __init__(
        self,
        store: Store,
        runner: Runner,
        price: Price,
        start_at: StartAt | None = None,
        embedded: Embedded | None = None,
        cheaper: Cheaper | None = None,
    ) -> None:
        """Take the parts. ``embedded`` is given when no other model is configured: it or the tour answers then.

        ``cheaper`` names a cheaper model of the same provider, for where a budget ends.
        """
        self._embedded = embedded
        super().__init__(store, runner, price, start_at, cheaper)

    def _default_model(self) -> str | None:
        named = super()._default_model()
        if named is not None or self._embedded is None:
            return named
        return LOCAL if self._embedded.unavailable() is None and self._embedded.downloaded() else TOUR

    async def start(self) -> None:
        """Open the file, show the place asked for, and offer the embedded model where it is missing."""
        await super().start()
        embedded = self._embedded
        if embedded is not None and embedded.unavailable() is None and not embedded.downloaded():
            self.set_offer(
                Offer(
                    "download",
                    "No key and no endpoint: fetch a small model (98 MB) that runs on this machine?",
                    (("d", "offer.accept", "Download"), ("t", "offer.refuse", "Take the tour")),
                )
            )

    async def answer_offer(self, choice: str) -> None:
        """Answer the question above the composer."""
        offer = self._snapshot.offer
        if offer is None:
            return
        if choice != "offer.accept":
            self.set_offer(None)
            return
        self.set_offer(Offer(offer.offer_id, "Fetching the model …", (), progress=0.0))
        self._spawn(asyncio.create_task(self._download(), name="fetch the embedded model"))

    async def _download(self) -> None:
        try:
            await self.fetch_embedded(self._progress)
        except UserError as error:
            self.set_offer(
                Offer(
                    "download",
                    str(error),
                    (("d", "offer.accept", "Try again"), ("t", "offer.refuse", "Take the tour")),
                )
            )
            return
        self.set_offer(None)
        await self._prepare()
        await self._refresh("usage")

    async def fetch_embedded(self, progress: Callable[[float], None]) -> None:
        """Fetch the embedded model and use it from now on. Raises ``UserError`` with the cause."""
        if self._embedded is None:
            raise UserError("Another model is configured; nothing needs to be fetched.")
        try:
            await self._embedded.download(progress)
        except Exception as error:
            log.warning("the embedded model could not be fetched", exc_info=True)
            raise UserError(str(error)) from error
        if self._model == TOUR:
            self._model = self._default_model()

    def _progress(self, share: float) -> None:
        self.set_offer(Offer("download", "Fetching the model …", (), progress=share))

    async def export(self, path: str) -> str:
        """Write the branch shown to a file, as JSON items for ``.json`` and as Markdown otherwise.

        Returns the file's full path. Raises ``UserError`` when it exists or cannot be written.
        """
        target = _expanded(path)
        count = await self.store.turn_count(*self.place) if self._stored else 0
        turns = await self.store.turns(*self.place, 0, count) if self._stored else []
        if not turns:
            raise UserError("There is nothing to export yet.")
        if target.suffix == ".json":
            items = [dict(item) for turn in turns for item in turn.items]
            body = json.dumps(items, ensure_ascii=False, indent=2)
        else:
            views = [turn_view(turn, UsageSum()) for turn in turns]
            body = f"# {self._snapshot.conversation_title}\n\n" + "\n\n".join(map(_markdown, views))
        try:
            await asyncio.to_thread(_write_new, target, body + "\n")
        except FileExistsError:
            raise UserError(f"{target} exists already. Choose another name.") from None
        except OSError as error:
            raise UserError(f"{target} cannot be written: {error.strerror}.") from error
        return str(target)


def _expanded(path: str) -> Path:
    return Path(path).expanduser().absolute()


def _write_new(target: Path, body: str) -> None:
    with target.open("x", encoding="utf-8", errors="replace") as file:
        file.write(body)


def _markdown(turn: TurnView) -> str:
    parts = [f"## {turn.turn}. You\n\n{turn.prompt}"]
    for item in turn.items:
        if item.kind == "text":
            parts.append(f"### Answer\n\n{item.text}")
        elif item.kind == "tool":
            fence = "~~~~"
            parts.append(f"{fence}tool {item.name}\n{item.arguments}\n→ {item.text}\n{fence}")
    if turn.status not in ("completed", "running"):
        parts.append(f"*{turn.status}{': ' + turn.error if turn.error else ''}*")
    return "\n\n".join(parts)
