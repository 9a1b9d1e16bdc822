"""An advanced, natively async SQLite session with branches, usage and structured queries."""

from advchat_storage.session import AdvancedSQLiteSession

__all__ = ["AdvancedSQLiteSession"]
