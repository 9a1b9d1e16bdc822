"""Bringing one reply to the client, whole or streamed, controls included.

Owns the order of events, gates and early ends on the wire. Knows nothing of how the reply was chosen; what
was served is told through a callback.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.server import chat_wire, responses_wire
from tests.server.http import Exchange
from tests.server.script import Control, Cut, Drop, Hold, Raw, Reply, Usage, Wait
from tests.server.seen import Seen


@dataclass(slots=True)
class Delivery:
    """One reply on its way out.

    Its coroutines return False when the connection is of no more use afterwards.
    """

    seen: Seen
    reply: Reply
    model: str
    usage: Usage | None
    exchange: Exchange
    gate: Callable[[str], asyncio.Event]
    bill: Callable[[bool], None]
    """Called once the answer is finished, with whether its usage is told."""

    async def send(self) -> bool:
        """Answer in the way the request asks for."""
        return await (self._stream() if self.seen.stream else self._whole())

    async def _whole(self) -> bool:
        for part in self.reply.parts:
            if isinstance(part, Control) and not await self._control(part):
                return False
        make = responses_wire.response_object if self._responses else chat_wire.completion_object
        body = make(self.reply, number=self.seen.number, model=self.model, usage=self.usage)
        self.bill(self.usage is not None)
        await self.exchange.whole(200, json.dumps(body).encode(), "application/json")
        return True

    async def _stream(self) -> bool:
        while self.reply.parts and isinstance(first := self.reply.parts[0], Wait | Hold | Drop):
            if not await self._control(first):
                return False
            self.reply = replace(self.reply, parts=self.reply.parts[1:])
        await self.exchange.start_stream()
        if not await self._events():
            return False
        await self.exchange.end_stream()
        return True

    async def _events(self) -> bool:
        told = self.usage if self.seen.wants_usage else None
        make = responses_wire.events if self._responses else chat_wire.chunks
        sequence = 0
        for frame, text in make(self.reply, number=self.seen.number, model=self.model, usage=told):
            if isinstance(frame, Cut):
                return True
            if isinstance(frame, Control):
                if not await self._control(frame):
                    return False
                continue
            if text is not None and text.rate is not None:
                await asyncio.sleep(text.size / text.rate)
            if _tells_end(frame):
                self.bill(told is not None)
            await self.exchange.chunk(self._encoded(frame, sequence))
            sequence += 1
            if "error" in frame:
                return True
        if not self._responses:
            await self.exchange.chunk(b"data: [DONE]\n\n")
        return True

    @property
    def _responses(self) -> bool:
        return self.seen.api == "responses"

    def _encoded(self, frame: Mapping[str, Any], sequence: int) -> bytes:
        if not self._responses:
            return b"data: " + json.dumps(frame).encode() + b"\n\n"
        shown = json.dumps({**frame, "sequence_number": sequence})
        return f"event: {frame['type']}\ndata: {shown}\n\n".encode()

    async def _control(self, control: Control) -> bool:
        if isinstance(control, Wait):
            gate = self.gate(control.gate) if isinstance(control.gate, str) else control.gate
            return await self._open_or_gone(gate)
        if isinstance(control, Hold):
            await self.exchange.client_gone()
            self.seen.gone.set()
        elif isinstance(control, Raw):
            await self.exchange.chunk(control.data)
            return True
        elif isinstance(control, Drop):
            self.exchange.drop()
        return False

    async def _open_or_gone(self, gate: asyncio.Event) -> bool:
        opened = asyncio.ensure_future(gate.wait())
        gone = asyncio.ensure_future(self.exchange.client_gone())
        try:
            await asyncio.wait({opened, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                self.seen.gone.set()
            return not gone.done()
        finally:
            opened.cancel()
            gone.cancel()
            await asyncio.gather(opened, gone, return_exceptions=True)


def _tells_end(frame: Mapping[str, Any]) -> bool:
    if "choices" in frame:
        return any(choice["finish_reason"] for choice in frame["choices"])
    return frame.get("type") in {"response.completed", "response.incomplete"}
