"""What the test server keeps of each request: how it came, and what was served.

Owns the record's values and the counting of tokens in words. Knows nothing of sockets nor of scripts' order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.server import history, responses_wire
from tests.server.script import Call, Reply, Usage

Api = Literal["responses", "chat"]


@dataclass(slots=True)
class Seen:
    """A request that was received."""

    number: int
    """1-based among model requests; 0 for any other."""
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    api: Api | None
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client went away before the answer's end."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server has finished with the request, in whichever way."""

    @property
    def lines(self) -> list[str]:
        """The history sent, in short (see ``history.lines``)."""
        return history.lines(self.body)

    @property
    def instructions(self) -> str | None:
        return history.instructions(self.body)

    @property
    def prompt(self) -> str:
        """The newest user text."""
        return history.last_user_text(self.body)

    @property
    def fault(self) -> str | None:
        """Why a provider would refuse the history; None when it would not."""
        return history.fault(self.body)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def wants_usage(self) -> bool:
        """Whether usage may be told: in chat streams only when it was asked for."""
        options = self.body.get("stream_options") or {}
        return self.api != "chat" or not self.stream or bool(options.get("include_usage"))


@dataclass(frozen=True, slots=True)
class Served:
    """The account's line for one model request whose answer was finished."""

    number: int
    api: Api
    model: str
    """As answered."""
    usage: Usage
    """What the provider would bill."""
    told: bool
    """Whether the usage went over the wire."""


def count(seen: Seen, reply: Reply) -> Usage:
    """Usage in words: one token per word of history and instructions, and one per line of history."""
    spoken = [*seen.lines, seen.instructions or ""]
    words = sum(len(line.split()) for line in spoken) + len(seen.lines)
    said = 0
    for part in reply.content:
        text = f"{part.name} {responses_wire.arguments_of(part)}" if isinstance(part, Call) else part.text
        said += len(text.split())
    return Usage(input=words, output=said)
