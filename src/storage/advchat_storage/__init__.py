"""An advanced, natively async SQLite session with branches, usage and structured queries."""
