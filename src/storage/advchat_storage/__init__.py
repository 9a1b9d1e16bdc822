"""An advanced, natively async SQLite session with branches, usage and structured queries."""

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
from advchat_storage.ledger import PriceChange
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
