"""What really came over the wire for one request.

Owns the reading of a response's bytes beside the client: the model as answered, why it finished, and the
usage as the provider wrote it, all of which the SDK's events hide in part. Must not change a byte.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from advchat.config import Api

_BODY_LIMIT = 32 * 1024 * 1024
_TERMINAL = {"response.completed", "response.incomplete", "response.failed"}


@dataclass(slots=True)
class Observation:
    """One request's answer, as it came."""

    touched: Callable[[], None] | None = None
    """Called whenever bytes arrive."""
    status: int | None = None
    """The HTTP status; None where nothing was asked over HTTP with our client."""
    url: str = ""
    content_type: str = ""
    watched: bool = False
    """Whether the body could be read; then a missing ``finish`` means that the answer was cut off."""
    api: Api | None = None
    model: str | None = None
    finish: str | None = None
    """Why the model stopped: ``stop``, ``length``, ``content_filter``, ``tool_calls``, …"""
    usage: Mapping[str, Any] | None = None
    _rest: bytes = field(default=b"", init=False)

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes of a stream of events."""
        if self.touched is not None:
            self.touched()
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._read(line[5:].strip())

    def read_body(self, body: bytes) -> None:
        """Read the whole answer of a request that was not streamed."""
        self._read(body)

    def _read(self, data: bytes) -> None:
        try:
            value = json.loads(data)
        except ValueError:
            return
        if not isinstance(value, dict):
            return
        if isinstance(value.get("choices"), list):
            self._read_chat(value)
        elif isinstance(value.get("response"), dict):
            self._read_response(value["response"], ended=value.get("type") in _TERMINAL)
        elif value.get("object") == "response":
            self._read_response(value, ended=True)

    def _read_chat(self, value: Mapping[str, Any]) -> None:
        self.api = "chat"
        self.model = value.get("model") or self.model
        if isinstance(value.get("usage"), dict):
            self.usage = value["usage"]
        for choice in value["choices"]:
            if isinstance(choice, dict) and choice.get("finish_reason"):
                self.finish = str(choice["finish_reason"])

    def _read_response(self, value: Mapping[str, Any], *, ended: bool) -> None:
        self.api = "responses"
        self.model = value.get("model") or self.model
        if not ended:
            return
        if isinstance(value.get("usage"), dict):
            self.usage = value["usage"]
        reason = str((value.get("incomplete_details") or {}).get("reason") or value.get("status") or "stop")
        self.finish = {"max_output_tokens": "length", "completed": "stop"}.get(reason, reason)


OBSERVED: ContextVar[Observation | None] = ContextVar("observed", default=None)
"""The observation of the request that the current task is making."""


async def observe(response: httpx2.Response) -> None:
    """Let the current request's observation read along; this is the HTTP client's response hook."""
    seen = OBSERVED.get()
    if seen is None:
        return
    seen.status = response.status_code
    seen.url = str(response.url)
    seen.content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoded = response.headers.get("content-encoding", "identity") != "identity"
    stream = response.stream
    if response.is_success and not encoded and isinstance(stream, httpx2.AsyncByteStream):
        seen.watched = True
        response.stream = _Beside(stream, seen)


class _Beside(httpx2.AsyncByteStream):
    """Passes a body on unchanged and shows it to the observation."""

    def __init__(self, stream: httpx2.AsyncByteStream, seen: Observation) -> None:
        self._stream = stream
        self._seen = seen

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        is_json = self._seen.content_type == "application/json"
        async for chunk in self._stream:
            if not is_json:
                self._seen.feed(chunk)
            elif len(whole) < _BODY_LIMIT:
                whole += chunk
            yield chunk
        if is_json:
            self._seen.read_body(bytes(whole))

    async def aclose(self) -> None:
        await self._stream.aclose()
