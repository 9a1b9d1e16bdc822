"""Just enough HTTP/1.1 for a loopback server.

Owns reading a request and writing a response, whole or in chunks. Knows nothing of models.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus


class ClientGoneError(Exception):
    """The client has closed the connection."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Read the next request of a connection; None at its end, and for what is no HTTP (TLS, say)."""
    try:
        start = await reader.readexactly(1)
        if not start.isalpha():
            return None
        head = start + await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method, path, headers, body)


@dataclass(slots=True)
class Exchange:
    """One request's connection while it is answered."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    streaming: bool = field(default=False, init=False)

    async def whole(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer in one piece."""
        shown = {"content-type": content_type, "content-length": str(len(body)), **(headers or {})}
        await self._write(_head(status, shown) + body)

    async def start_stream(self) -> None:
        """Begin a stream of events."""
        self.streaming = True
        await self._write(
            _head(200, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})
        )

    async def chunk(self, data: bytes) -> None:
        """Send one chunk of the stream."""
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end_stream(self) -> None:
        """End the stream in good form."""
        await self._write(b"0\r\n\r\n")

    async def client_gone(self) -> None:
        """Return when the client has closed its side."""
        try:
            while await self.reader.read(1024):
                pass
        except ConnectionError:
            return

    def drop(self) -> None:
        """Close at once, whatever was promised."""
        self.writer.transport.abort()

    async def _write(self, data: bytes) -> None:
        if self.writer.is_closing() or self.reader.at_eof():
            raise ClientGoneError
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError as error:
            raise ClientGoneError from error


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
