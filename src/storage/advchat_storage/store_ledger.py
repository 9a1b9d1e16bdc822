"""The store's methods on requests and what they cost.

Thin: each hands one function of ``ledger``, ``usage_sums`` or ``usage_cuts`` to the file. Knows no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence

from advchat_storage import ledger
from advchat_storage.calibration import Calibration, calibration
from advchat_storage.models import BranchUsage, RequestRecord, UsageCut, UsageSum
from advchat_storage.store_base import StoreBase
from advchat_storage.usage_cuts import CutName, turn_usages, usage_by
from advchat_storage.usage_sums import UsageScope, branch_usage, usage
from advchat_storage.wording import storable


class LedgerStore(StoreBase):
    """Requests written, priced and summed. Each request counts once, whatever the branches do."""

    async def record(self, conversation_id: str, record: RequestRecord) -> bool:
        """Write one model request; False when its ``request_id`` was written before."""
        return await self._write(ledger.record, session_id=storable(conversation_id), request=record)

    async def requests(
        self,
        *,
        conversation_id: str | None = None,
        branch_id: str | None = None,
        turn: int | None = None,
        since: str | None = None,
        limit: int | None = None,
    ) -> list[RequestRecord]:
        """Give requests in the order they were written; with ``limit`` the newest ones of them."""
        scope = UsageScope(conversation_id, branch_id, turn, since=since)
        return await self._read(ledger.requests, scope=scope, limit=limit)

    async def reprice(self, changes: Sequence[ledger.PriceChange]) -> int:
        """Set costs anew: ``(request_id, cost_nano, price_source, price_version, price_note)`` each.

        All of them or none; gives how many requests there were for them.
        """
        return await self._write(ledger.reprice, changes=changes)

    async def usage(
        self,
        *,
        conversation_id: str | None = None,
        branch_id: str | None = None,
        turn: int | None = None,
        run_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        binned: bool | None = None,
    ) -> UsageSum:
        """Give the sums of what the arguments leave.

        ``branch_id`` means requests made on that branch; with ``turn`` too, that turn wherever it was made.
        ``since`` (inclusive) and ``until`` compare with the request's end. ``binned`` True leaves what lies
        on binned or deleted branches and on popped turns, False the rest.
        """
        scope = UsageScope(conversation_id, branch_id, turn, run_id, since, until, binned)
        return await self._read(usage, scope=scope)

    async def usage_by(
        self,
        cut: CutName,
        *,
        conversation_id: str | None = None,
        branch_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[UsageCut]:
        """Give the sums by ``turn``, ``branch``, ``conversation``, ``model``, ``day`` or ``tool``.

        The rows add up to ``usage`` of the same arguments. The keys of each cut are told by
        ``usage_cuts.usage_by``. Raises ``ValueError`` for another cut.
        """
        scope = UsageScope(conversation_id, branch_id, since=since, until=until)
        return await self._read(usage_by, cut=cut, scope=scope, tables=await self._tables())

    async def branch_usage(self, conversation_id: str, branch_id: str) -> BranchUsage:
        """Give a branch's own spend, and what the turns that it inherited have cost where they were made."""
        return await self._read(
            branch_usage, session_id=storable(conversation_id), branch_id=storable(branch_id)
        )

    async def calibration(self, conversation_id: str, branch_id: str) -> Calibration | None:
        """Give the branch's newest request of known usage with what it covered; None where none is known."""
        return await self._read(
            calibration,
            session_id=storable(conversation_id),
            branch_id=storable(branch_id),
            tables=await self._tables(),
        )

    async def turn_usages(self, conversation_id: str, branch_id: str) -> list[UsageCut]:
        """Give the sums per turn of a branch (keys ``turn``, ``message_id``), of turns that cost anything."""
        return await self._read(
            turn_usages, session_id=storable(conversation_id), branch_id=storable(branch_id)
        )
