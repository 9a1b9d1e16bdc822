"""An advanced, natively async SQLite session with branches, usage and structured queries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from advchat_storage.errors import (
    BranchBusyError,
    CannotOpenError,
    CorruptDatabaseError,
    DiskFullError,
    ForeignSchemaError,
    LockedError,
    NewerSchemaError,
    NotADatabaseError,
    ReadOnlyError,
    StorageError,
)
from advchat_storage.models import (
    Branch,
    BranchUsage,
    CheckReport,
    Conversation,
    Item,
    JournalEntry,
    RequestRecord,
    SearchHit,
    Turn,
    TurnHeader,
    UsageCut,
    UsageSum,
)

if TYPE_CHECKING:
    from advchat_storage.ledger import PriceChange
    from advchat_storage.session import AdvancedSQLiteSession
    from advchat_storage.store import Store

__all__ = [
    "AdvancedSQLiteSession",
    "Branch",
    "BranchBusyError",
    "BranchUsage",
    "CannotOpenError",
    "CheckReport",
    "Conversation",
    "CorruptDatabaseError",
    "DiskFullError",
    "ForeignSchemaError",
    "Item",
    "JournalEntry",
    "LockedError",
    "NewerSchemaError",
    "NotADatabaseError",
    "PriceChange",
    "ReadOnlyError",
    "RequestRecord",
    "SearchHit",
    "StorageError",
    "Store",
    "Turn",
    "TurnHeader",
    "UsageCut",
    "UsageSum",
]

_LATE = {
    "AdvancedSQLiteSession": "advchat_storage.session",
    "PriceChange": "advchat_storage.ledger",
    "Store": "advchat_storage.store",
}
"""What opens databases is imported when it is first named: whoever only shows values starts sooner."""


def __getattr__(name: str) -> object:
    module = _LATE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value
