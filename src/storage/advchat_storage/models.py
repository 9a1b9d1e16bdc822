"""The values that the store gives and takes.

Owns the frozen dataclasses of the store's public API. They hold plain data only: no connection, no
behaviour beyond sums and derived readings. Times are UTC, ISO 8601 with microseconds. Money is in
integer nano-dollars (10⁻⁹ US dollars). Token counts are ``None`` where unknown, never 0 for unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Item = Mapping[str, Any]
"""One item of a history, as the SDK gives and takes it (a message, a tool call, its output, …)."""

RunStatus = Literal["running", "completed", "stopped", "failed", "interrupted", "refused"]
"""How a turn's newest run ended; ``interrupted`` means that the process or the stream was lost."""

RequestStatus = Literal["completed", "stopped", "failed", "refused"]
ForkKind = Literal["root", "before", "after", "derived"]
TitleSource = Literal["none", "auto", "manual"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation (the SDK's session)."""

    conversation_id: str
    title: str
    title_source: TitleSource
    created_at: str
    updated_at: str
    current_branch: str
    model: str | None
    instructions: str | None
    archived: bool
    budget_nano: int | None
    branches: int
    user_turns: int
    """User turns of the current branch."""
    cost_nano: int | None
    """Own spend of the whole conversation, binned and deleted branches included; None if nothing is known."""
    cost_at_least: bool
    """True where some request's cost is unknown, so that ``cost_nano`` is a lower bound."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a conversation and its place in the tree."""

    branch_id: str
    title: str
    """A name for people; empty when none was given (show the ID then)."""
    title_source: TitleSource
    parent: str | None
    """None for a root, and for a branch whose parent was deleted for good."""
    fork_turn: int | None
    """The first turn that is not inherited: turns below it are shared with the parent."""
    fork_kind: ForkKind
    user_turns: int
    message_count: int
    is_current: bool
    created_at: str
    last_used_at: str
    binned_at: str | None
    model: str | None
    pinned: bool
    unread: bool
    budget_nano: int | None
    own_cost_nano: int | None
    own_cost_at_least: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One user turn of a branch with its items, oldest first."""

    turn: int
    """1-based number on the branch; 0 holds what came before the first user message."""
    message_id: int
    """Row of the turn's first message: the same on every branch that shares the turn."""
    created_at: str
    """When the turn was first made, on whichever branch."""
    items: tuple[Item, ...]
    item_ids: tuple[int, ...]
    item_times: tuple[str, ...]
    origin_branch: str
    """The branch the turn was made on; another one than the asked-for branch when inherited."""
    inherited: bool
    status: RunStatus
    error: str | None
    """One line for a person when the newest run failed."""
    siblings: tuple[str, ...] = ()
    """Branches that part from each other at this turn, this one included, in order of creation."""
    note: str | None = None
    """Where a carried turn came from."""


@dataclass(frozen=True, slots=True)
class TurnHeader:
    """A turn's line in a list: enough to draw it without reading its items."""

    turn: int
    message_id: int
    preview: str
    """First words of the user's text, on one line, 200 characters at most."""
    created_at: str
    inherited: bool
    status: RunStatus
    usage: UsageSum
    height_hint: int | None
    """Rows it took when last shown, with ``height_width``; None when never shown."""
    height_width: int | None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One row of the ledger: one model request, written as its response arrives."""

    request_id: str
    """Ours, unique for ever; a second write of the same ID replaces nothing and is ignored."""
    run_id: str
    branch_id: str
    turn: int
    agent: str | None
    model_asked: str | None
    model: str | None
    """As answered."""
    provider: str | None
    """The price library's provider ID, or ``local``, ``tour``, or None where not known."""
    api: str | None
    started_at: str
    first_token_at: str | None
    finished_at: str
    status: RequestStatus
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    estimated_input_tokens: int | None = None
    """Estimates stand beside the facts of a request that ended without usage, never in their sums."""
    estimated_output_tokens: int | None = None
    cost_nano: int | None = None
    price_source: str | None = None
    """``genai-prices``, ``config``, ``free``, or None for an unknown price."""
    price_version: str | None = None
    price_note: str | None = None
    error: str | None = None
    tools: tuple[str, ...] = ()
    """Names of the tools that the response called, in order, repeated per call."""
    conversation_id: str | None = None
    """Filled in by the store on reading; a session records into its own conversation."""
    requests: int = 1
    """How many requests the row stands for: more than one only where the SDK's own class kept a sum."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Sums over ledger rows. None only where nothing at all is known."""

    requests: int = 0
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost_nano: int | None = None
    at_least: bool = False
    """True where some request's tokens or cost are unknown."""
    estimated_output_tokens: int | None = None
    """Shown with ≈, never part of the facts."""
    seconds: float | None = None
    """Generation time of the requests whose output is known, first token to last."""
    first_token_seconds: float | None = None
    """Mean time to the first token."""
    unknown: frozenset[str] = frozenset()
    """Names of the fields of which some request's part is unknown: each is a lower bound, or None."""


@dataclass(frozen=True, slots=True)
class UsageCut:
    """One row of a report: the cut's keys and the sums."""

    keys: Mapping[str, Any]
    usage: UsageSum


@dataclass(frozen=True, slots=True)
class BranchUsage:
    """What the panel shows of a branch: spend of its own and the context it inherited, told apart."""

    own: UsageSum
    inherited: UsageSum
    """What the shared prefix has cost, once, on the branches that made it."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A run in progress, or one that a lost process left behind."""

    run_id: str
    conversation_id: str
    branch_id: str
    turn: int
    message_id: int | None
    prompt: str
    partial: str
    reasoning: str
    started_at: str
    updated_at: str
    pid: int
    alive: bool
    """Whether the process that writes it still runs (same host, same start time)."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One message that holds the term."""

    conversation_id: str
    conversation_title: str
    branch_id: str
    """A branch that shows the message: the asked-for one, else the current one, else the first."""
    turn: int
    role: Literal["user", "assistant"]
    message_id: int
    excerpt: str
    """Text around the first match, on one line."""
    match: tuple[int, int]
    """Start and end of the match within the excerpt."""
    created_at: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What ``Store.check`` found and, when asked to, mended."""

    path: str
    ok: bool
    findings: tuple[str, ...]
    repaired: tuple[str, ...] = field(default=())
