"""What the test server shall answer, as plain values.

Owns the vocabulary of a script: replies, the parts they are made of, and usage. Knows nothing of HTTP
nor of the two wire formats, so that one script serves both.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. Details are None to leave them out of the answer."""

    input: int
    output: int
    cached: int | None = 0
    cache_write: int | None = 0
    reasoning: int | None = 0

    @property
    def total(self) -> int:
        return self.input + self.output


class _Auto:
    """Marks usage that the server counts by itself, in words."""


AUTO = _Auto()


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, streamed ``size`` characters at a time, ``rate`` characters a second at most."""

    text: str
    size: int = 12
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A reasoning item: its summary streams before what follows."""

    text: str
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; arguments that are a string go out as they are."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model declines, with these words."""

    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on once the gate is open; a name stands for a gate of the server (``server.gate(name)``)."""

    gate: asyncio.Event | str


@dataclass(frozen=True, slots=True)
class Hold:
    """Keep the socket open and silent until the client goes away."""


@dataclass(frozen=True, slots=True)
class Fail:
    """An error object inside the stream, which then ends."""

    message: str = "The server had an error while processing your request"
    code: str | None = "server_error"
    type: str = "server_error"


@dataclass(frozen=True, slots=True)
class Cut:
    """End the body in good form, without a finish reason or a last event."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection in the middle of the body."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Send these bytes as they are, in place of an event."""

    data: bytes


Content = Text | Reasoning | Call | Refusal
Control = Wait | Hold | Fail | Cut | Drop | Raw
Part = Content | Control
Finish = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. Controls that stand first act before the response's headers are sent."""

    parts: tuple[Part, ...]
    usage: Usage | _Auto | None = AUTO
    """None: the answer tells no usage."""
    model: str | None = None
    """As answered; None answers with the model asked for."""
    finish: Finish = "stop"

    @property
    def content(self) -> tuple[Content, ...]:
        return tuple(part for part in self.parts if isinstance(part, Content))


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer below the wire format: a status with a body of any kind."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


Answer = Reply | HttpReply


def say(
    *parts: Part | str,
    usage: Usage | _Auto | None = AUTO,
    model: str | None = None,
    finish: Finish = "stop",
) -> Reply:
    """Make a reply; a plain string is a ``Text``."""
    made = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Reply(made, usage=usage, model=model, finish=finish)


def html(status: int = 502, size: int = 50_000) -> HttpReply:
    """A gateway's error page of about ``size`` bytes."""
    filler = "<p>nginx nginx nginx</p>" * (size // 24 + 1)
    page = f"<html><head><title>{status} Bad Gateway</title></head><body><h1>Oops</h1>{filler}</body></html>"
    return HttpReply(status, page.encode(), content_type="text/html")


def quota() -> HttpReply:
    """429 because the account has no money left: trying again is no use."""
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        code="insufficient_quota",
        kind="insufficient_quota",
    )


def rate_limited(retry_after: float | str) -> HttpReply:
    """429 because of too many requests, with ``Retry-After``."""
    return error(
        429,
        "Rate limit reached for requests",
        code="rate_limit_exceeded",
        kind="requests",
        headers={"retry-after": str(retry_after)},
    )


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    kind: str = "invalid_request_error",
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpReply:
    """An error as the vendor's API words it."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return HttpReply(status, json.dumps(body).encode(), headers=headers or {})
