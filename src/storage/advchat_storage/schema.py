"""The tables: the only DDL besides the numbered migrations.

Owns the statements that make the SDK's tables, to the letter of their columns, and ours, each prefixed
``advchat_``. Statements take the names of the base tables, already quoted. Knows no file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

BASE = """
CREATE TABLE IF NOT EXISTS {sessions} (
    session_id TEXT PRIMARY KEY,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS {messages} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    message_data TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_id) REFERENCES {sessions} (session_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS {messages_index} ON {messages} (session_id, id);
"""

ADVANCED = """
CREATE TABLE IF NOT EXISTS message_structure (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    branch_id TEXT NOT NULL DEFAULT 'main',
    message_type TEXT NOT NULL,
    sequence_number INTEGER NOT NULL,
    user_turn_number INTEGER,
    branch_turn_number INTEGER,
    tool_name TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_id) REFERENCES {sessions}(session_id) ON DELETE CASCADE,
    FOREIGN KEY (message_id) REFERENCES {messages}(id) ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS turn_usage (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL DEFAULT 'main',
    user_turn_number INTEGER NOT NULL,
    requests INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0,
    total_tokens INTEGER DEFAULT 0,
    input_tokens_details JSON,
    output_tokens_details JSON,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_id) REFERENCES {sessions}(session_id) ON DELETE CASCADE,
    UNIQUE(session_id, branch_id, user_turn_number)
);
CREATE TABLE IF NOT EXISTS branch_reservations (
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    PRIMARY KEY (session_id, branch_id)
);
CREATE TABLE IF NOT EXISTS session_clear_generations (
    session_id TEXT PRIMARY KEY,
    generation INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS idx_structure_session_seq ON message_structure(session_id, sequence_number);
CREATE INDEX IF NOT EXISTS idx_structure_branch ON message_structure(session_id, branch_id);
CREATE INDEX IF NOT EXISTS idx_structure_turn ON message_structure(session_id, branch_id, user_turn_number);
CREATE INDEX IF NOT EXISTS idx_structure_branch_seq
    ON message_structure(session_id, branch_id, sequence_number);
CREATE INDEX IF NOT EXISTS idx_turn_usage_session_turn
    ON turn_usage(session_id, branch_id, user_turn_number);
"""

OURS = """
CREATE TABLE IF NOT EXISTS advchat_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS advchat_conversations (
    session_id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    title_source TEXT NOT NULL DEFAULT 'none',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    current_branch TEXT NOT NULL DEFAULT 'main',
    model TEXT,
    instructions TEXT,
    archived INTEGER NOT NULL DEFAULT 0,
    budget_nano INTEGER,
    adopted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS advchat_branches (
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    parent TEXT,
    fork_turn INTEGER,
    fork_kind TEXT NOT NULL DEFAULT 'root',
    title TEXT NOT NULL DEFAULT '',
    title_source TEXT NOT NULL DEFAULT 'none',
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    binned_at TEXT,
    model TEXT,
    pinned INTEGER NOT NULL DEFAULT 0,
    unread INTEGER NOT NULL DEFAULT 0,
    budget_nano INTEGER,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, branch_id)
);
CREATE TABLE IF NOT EXISTS advchat_turns (
    session_id TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    branch_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    status TEXT NOT NULL,
    error TEXT,
    note TEXT,
    height INTEGER,
    height_width INTEGER,
    PRIMARY KEY (session_id, message_id)
);
CREATE TABLE IF NOT EXISTS advchat_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    message_id INTEGER,
    run_id TEXT NOT NULL,
    agent TEXT,
    model_asked TEXT,
    model TEXT,
    provider TEXT,
    api TEXT,
    started_at TEXT NOT NULL,
    first_token_at TEXT,
    finished_at TEXT NOT NULL,
    status TEXT NOT NULL,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    cache_write_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    total_tokens INTEGER,
    estimated_input_tokens INTEGER,
    estimated_output_tokens INTEGER,
    cost_nano INTEGER,
    price_source TEXT,
    price_version TEXT,
    price_note TEXT,
    error TEXT,
    tools TEXT NOT NULL DEFAULT '[]',
    origin TEXT NOT NULL DEFAULT 'advchat',
    requests INTEGER NOT NULL DEFAULT 1,
    settled INTEGER NOT NULL DEFAULT 0,
    generation_seconds REAL,
    first_token_seconds REAL
);
CREATE INDEX IF NOT EXISTS advchat_requests_place ON advchat_requests (session_id, branch_id, turn);
CREATE INDEX IF NOT EXISTS advchat_requests_message ON advchat_requests (session_id, message_id);
CREATE INDEX IF NOT EXISTS advchat_requests_run ON advchat_requests (run_id);
CREATE INDEX IF NOT EXISTS advchat_requests_time ON advchat_requests (finished_at);
CREATE TABLE IF NOT EXISTS advchat_journal (
    run_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    message_id INTEGER,
    prompt TEXT NOT NULL,
    partial TEXT NOT NULL DEFAULT '',
    reasoning TEXT NOT NULL DEFAULT '',
    started_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    process_started TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS advchat_journal_place ON advchat_journal (session_id, branch_id);
CREATE TABLE IF NOT EXISTS advchat_tool_times (
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (session_id, call_id)
);
CREATE TABLE IF NOT EXISTS advchat_drafts (
    session_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    draft TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (session_id, branch_id)
);
CREATE TABLE IF NOT EXISTS advchat_search_documents (
    message_id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    folded TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS advchat_search_session ON advchat_search_documents (session_id, message_id);
CREATE TABLE IF NOT EXISTS advchat_search_state (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
);
"""

SHARED_MESSAGES = "CREATE INDEX IF NOT EXISTS advchat_structure_message ON message_structure(message_id);"
"""Lets a message's other branches be found without reading every row."""

_LEDGER_COLUMNS = """(request_id, session_id, branch_id, turn, message_id, run_id, started_at, finished_at,
    status, requests, input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens,
    reasoning_tokens, origin, settled)"""


def _usage_as_ledger_row(source: str, moment: str) -> str:
    """Write the columns that turn one ``turn_usage`` row into a ledger row.

    Zeros all over mean that the provider told nothing: unknown. Details that are no JSON are passed over.
    """
    known = f"({source}.total_tokens > 0 OR {source}.input_tokens > 0 OR {source}.output_tokens > 0)"

    def detail(column: str, name: str) -> str:
        value = f"{source}.{column}, '$.{name}'"
        return (
            f"CASE WHEN {known} AND json_valid({source}.{column}) "
            f"THEN CASE json_type({value}) WHEN 'integer' THEN json_extract({value}) END END"
        )

    return f"""'usage-' || lower(hex(randomblob(16))), {source}.session_id, {source}.branch_id,
        {source}.user_turn_number,
        (SELECT MIN(s.message_id) FROM message_structure AS s WHERE s.session_id = {source}.session_id
            AND s.branch_id = {source}.branch_id AND s.user_turn_number = {source}.user_turn_number),
        '', {moment}, {moment}, 'completed', MAX({source}.requests, 1),
        CASE WHEN {known} THEN {source}.input_tokens END,
        CASE WHEN {known} THEN {source}.output_tokens END,
        CASE WHEN {known} THEN {source}.total_tokens END,
        {detail("input_tokens_details", "cached_tokens")},
        {detail("input_tokens_details", "cache_write_tokens")},
        {detail("output_tokens_details", "reasoning_tokens")}, 'sdk', 1"""


ADOPT_USAGE = f"""
INSERT INTO advchat_requests {_LEDGER_COLUMNS}
SELECT {_usage_as_ledger_row("u", "replace(u.created_at, ' ', 'T') || '.000000+00:00'")}
FROM turn_usage AS u WHERE u.requests > 0 OR u.total_tokens > 0
"""
"""Usage from before this file was ours is in the ledger once."""

TRIGGERS = (
    f"""
    CREATE TRIGGER IF NOT EXISTS advchat_usage_written AFTER INSERT ON turn_usage
    WHEN NEW.requests > 0 OR NEW.total_tokens > 0
    BEGIN
        INSERT INTO advchat_requests {_LEDGER_COLUMNS}
        SELECT {_usage_as_ledger_row("NEW", "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000+00:00'")};
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS advchat_session_cleared AFTER UPDATE ON session_clear_generations
    WHEN NEW.generation <> OLD.generation
    BEGIN
        UPDATE advchat_branches SET gone = 1 WHERE session_id = NEW.session_id;
        UPDATE advchat_conversations SET current_branch = 'main' WHERE session_id = NEW.session_id;
    END
    """,
)
"""What the SDK's own class stores or clears is followed in our tables; plain SQL, for they run there too."""

ADVANCED_TABLES = ("message_structure", "turn_usage", "branch_reservations", "session_clear_generations")

RESERVE_KNOWN_BRANCHES = """
INSERT OR IGNORE INTO branch_reservations (session_id, branch_id)
SELECT DISTINCT session_id, branch_id FROM message_structure
"""
"""Older files have branches without reservations."""


def exists(connection: sqlite3.Connection, table: str) -> bool:
    """Tell whether the file has a table of that name, in any casing, as SQLite compares names."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
    return connection.execute(query, (table,)).fetchone() is not None


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
