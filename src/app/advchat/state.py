"""What the screen shows, as one immutable snapshot, and readings of it.

Owns the frozen values that the controller publishes and widgets draw. Knows no widget, no store
connection and no runner. Token deltas do not pass through here: they are events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advchat.differences import Sides, differences
from advchat_storage.models import Branch, BranchUsage, RunStatus, UsageSum

ItemKind = Literal["text", "reasoning", "tool", "notice"]


@dataclass(frozen=True, slots=True)
class ItemView:
    """One piece of an answer as the transcript shows it."""

    kind: ItemKind
    text: str = ""
    """Markdown source for ``text``; plain text for the others; a tool's output for ``tool``."""
    name: str = ""
    arguments: str = ""
    seconds: float | None = None
    running: bool = False
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn, ready to be drawn."""

    turn: int
    key: int
    """The message row of its prompt: the same on every branch that shares the turn."""
    prompt: str
    items: tuple[ItemView, ...]
    status: RunStatus
    inherited: bool = False
    error: str | None = None
    detail: str | None = None
    created_at: str = ""
    siblings: tuple[str, ...] = ()
    """Branch IDs that part at this turn, in order of creation; fewer than two means none."""
    sibling_index: int = 0
    usage: UsageSum = field(default_factory=UsageSum)
    note: str | None = None
    """Where a carried turn came from."""
    actions: tuple[str, ...] = ()
    """Offered in place: ``continue``, ``retry``, ``discard``."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One line of the turn list."""

    turn: int
    key: int
    preview: str
    tokens: int | None
    cost_nano: int | None
    at_least: bool
    inherited: bool
    status: RunStatus
    height: int | None = None
    height_width: int | None = None
    """The width that ``height`` was measured at."""


@dataclass(frozen=True, slots=True)
class BranchRow:
    """One line of the branch graph."""

    branch: Branch
    depth: int
    """0 for a root; a child is one deeper than its parent."""
    rails: tuple[bool, ...]
    """For each depth above this line's own: whether a later sibling makes a rail pass through here."""
    last: bool
    """Whether no later sibling follows under the same parent."""
    on_path: bool
    """Whether it is the current branch or one of its ancestors."""
    children: int
    running: bool = False


@dataclass(frozen=True, slots=True)
class TurnBar:
    """One turn's bar in the usage panel. Cached is part of input."""

    turn: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_nano: int | None
    known: bool
    usage: UsageSum = field(default_factory=UsageSum)
    """Everything that is known of the turn, for when its bar is picked."""


@dataclass(frozen=True, slots=True)
class Share:
    """One model's or tool's part of the conversation."""

    name: str
    requests: int
    total_tokens: int | None
    cost_nano: int | None
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class UsageView:
    """Everything that the usage panel shows."""

    turn: int | None = None
    """Number of the turn that ``this_turn`` speaks of."""
    this_turn: UsageSum = field(default_factory=UsageSum)
    branch: BranchUsage = field(default_factory=lambda: BranchUsage(UsageSum(), UsageSum()))
    conversation: UsageSum = field(default_factory=UsageSum)
    binned: UsageSum = field(default_factory=UsageSum)
    """Part of ``conversation``: what binned and deleted branches have cost."""
    everything: UsageSum = field(default_factory=UsageSum)
    today: UsageSum = field(default_factory=UsageSum)
    month: UsageSum = field(default_factory=UsageSum)
    bars: tuple[TurnBar, ...] = ()
    models: tuple[Share, ...] = ()
    tools: tuple[Share, ...] = ()
    context_tokens: int | None = None
    """Input plus output of the branch's newest request whose usage is known."""
    context_window: int | None = None
    local: bool = False
    """The current model is free by itself: the panel says *local*."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run in progress, on whichever branch."""

    run_id: str
    conversation_id: str
    branch_id: str
    turn: int
    prompt: str
    started_at: str
    state: Literal["waiting", "answering", "tool", "stopping"]
    note: str = ""


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits until its branch is free."""

    queue_id: int
    conversation_id: str
    branch_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """The model in the header."""

    name: str = ""
    label: str = ""
    ready: bool = False
    state: str = ""
    """What it is doing before it is ready, for people; empty when ready."""
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class ComparedTurn:
    """Two turns at the same distance from the fork point; None where a side has none."""

    left: TurnView | None
    right: TurnView | None

    def prompts(self) -> Sides:
        """Tell the prompts' differences; worked out at each call, which takes time for long texts."""
        return differences(self.left.prompt if self.left else "", self.right.prompt if self.right else "")

    def answers(self) -> Sides:
        """Tell the answers' differences, as ``prompts`` does."""
        return differences(answer_text(self.left), answer_text(self.right))


def answer_text(turn: TurnView | None) -> str:
    """Give a turn's answer as one text, tool calls told by name and output."""
    parts = []
    for item in turn.items if turn is not None else ():
        if item.kind == "text":
            parts.append(item.text)
        elif item.kind == "tool":
            parts.append(f"⚙ {item.name}({item.arguments}) → {item.text}")
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What stands above one side of a comparison."""

    branch_id: str
    title: str
    model: str | None
    usage: UsageSum
    """Of the turns after the fork point."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two branches from their fork point on."""

    left: ComparedSide
    right: ComparedSide
    shared_turns: int
    turns: tuple[ComparedTurn, ...]


@dataclass(frozen=True, slots=True)
class FanMember:
    """One of several branches that answer the same prompt."""

    branch_id: str
    title: str
    model: str
    """Label for people."""
    turn: int
    run_id: str
    status: RunStatus
    usage: UsageSum = field(default_factory=UsageSum)
    started_at: str = ""


@dataclass(frozen=True, slots=True)
class Fan:
    """A prompt sent to several sibling branches at once."""

    fan_id: int
    conversation_id: str
    prompt: str
    members: tuple[FanMember, ...]


@dataclass(frozen=True, slots=True)
class SendEstimate:
    """What sending the composer's text would take, *about*: never shown as a fact."""

    input_tokens: int
    cached_share: float | None
    """0 to 1, from the provider's own counts; None when it has told none."""
    low_nano: int | None
    high_nano: int | None
    """Price range in nano-dollars; None when the price is unknown."""
    context_left: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit of spend on what is shown, in nano-dollars."""

    limit_nano: int
    spent_nano: int
    scope: Literal["conversation", "branch"]

    @property
    def share(self) -> float:
        """Part of the limit that is spent; 1 and above once it is reached."""
        return self.spent_nano / self.limit_nano if self.limit_nano else 1.0


@dataclass(frozen=True, slots=True)
class Offer:
    """A question answered with one key, shown above the composer, never as a dialog."""

    offer_id: str
    """``download`` asks to fetch the embedded model; more may follow."""
    text: str
    choices: tuple[tuple[str, str, str], ...]
    """Key, command ID, label."""
    progress: float | None = None
    """0 to 1 while the thing offered is under way."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole of what is shown, replaced as one."""

    db_name: str = ""
    conversation_id: str = ""
    conversation_title: str = ""
    branch_id: str = "main"
    branch_title: str = ""
    branches: tuple[BranchRow, ...] = ()
    binned: tuple[Branch, ...] = ()
    turn_count: int = 0
    turns_version: int = 0
    """Grows whenever loaded turns may have become untrue; the screen then asks for its window again."""
    draft: str = ""
    usage: UsageView = field(default_factory=UsageView)
    runs: tuple[RunInfo, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    model: ModelView = field(default_factory=ModelView)
    offer: Offer | None = None
    fan: Fan | None = None
    """The newest fan-out of this conversation in this run of the program, until it is dismissed."""
    budget: Budget | None = None
    loading: bool = True

    @property
    def run(self) -> RunInfo | None:
        """The run on the branch that is shown."""
        return next(
            (
                run
                for run in self.runs
                if run.branch_id == self.branch_id and run.conversation_id == self.conversation_id
            ),
            None,
        )


def dollars(nano: int | None, *, at_least: bool = False) -> str:
    """Write nano-dollars for people: ``unknown``, ``$0.0000123``, ``≥ $1.24``; more digits below a cent."""
    if nano is None:
        return "unknown"
    value = nano / 1_000_000_000
    if nano == 0:
        text = "$0.00"
    elif abs(value) >= 0.01:
        text = f"${value:,.2f}" if abs(value) >= 1 else f"${value:.4f}"
    else:
        text = f"${value:.9f}".rstrip("0")
    return f"≥ {text}" if at_least else text
