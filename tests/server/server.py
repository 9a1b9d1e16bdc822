"""A loopback server that speaks the OpenAI wire format, scripted per test.

Owns the choice of the answer, the record of requests, and its own account of the usage that it served,
against which a ledger can be held. The shapes are made by the two ``*_wire`` modules.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from tests.server.control import Controls
from tests.server.delivery import Delivery
from tests.server.http import ClientGoneError, Exchange, HttpRequest, read_request
from tests.server.script import Answer, HttpReply, Reply, Usage, error, say
from tests.server.seen import Api, Seen, Served, count

PATHS: Mapping[str, Api] = {"/responses": "responses", "/chat/completions": "chat"}
HEAD_LIMIT = 1 << 20


Responder = Callable[[Seen], Answer | None]


@dataclass(slots=True)
class _Rule:
    matches: Callable[[Seen], bool]
    answers: deque[Answer]


def echo(seen: Seen) -> Answer:
    """The answer when nothing is scripted: the prompt, said back."""
    return say(f"Echo: {seen.prompt}")


class ModelServer:
    """Answers what its script says; echoes the prompt when the script is empty.

    ``strict`` refuses, as providers do, a history with an orphan call or output, a reasoning item
    without a follower or an empty assistant message. ``apis`` are the APIs it knows: the other is a 404.
    """

    def __init__(
        self,
        *,
        apis: tuple[Api, ...] = ("responses", "chat"),
        prefix: str = "/v1",
        strict: bool = True,
        models: tuple[str, ...] = ("test-model",),
    ) -> None:
        self.apis = apis
        self.prefix = prefix
        self.strict = strict
        self.models = models
        self.requests: list[Seen] = []
        """Model requests, in order of arrival, the refused ones included."""
        self.others: list[Seen] = []
        """Every other request, those to unknown paths included."""
        self.account: list[Served] = []
        self.default: Responder = echo
        self.port = 0
        self._queue: deque[Answer] = deque()
        self._rules: list[_Rule] = []
        self._gates: dict[str, asyncio.Event] = {}
        self._refused: dict[str, HttpReply] = {}
        self._arrived = asyncio.Condition()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._scheme = "http"
        self._controls = Controls(self)

    async def start(self, port: int = 0, *, tls: ssl.SSLContext | None = None) -> Self:
        """Listen on the loopback interface; ``url`` is known from here on."""
        self._scheme = "https" if tls else "http"
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, ssl=tls, limit=HEAD_LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def close(self) -> None:
        """Drop every connection and stop listening."""
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """Scheme, host and port, without a path."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return self.url + self.prefix

    def script(self, *answers: Answer | str) -> None:
        """Queue answers for the requests to come, in order; a string is a plain reply."""
        self._queue.extend(_answer(answer) for answer in answers)

    def when(self, contains: str | Callable[[Seen], bool], *answers: Answer | str) -> None:
        """Queue answers for requests whose prompt holds the text, or that the function picks."""
        matches = contains if callable(contains) else lambda seen: contains in seen.prompt
        self._rules.append(_Rule(matches, deque(_answer(answer) for answer in answers)))

    def refuse_path(self, path: str, answer: HttpReply) -> None:
        """Answer every request to that path, which is none of the APIs known, in this way."""
        self._refused[path] = answer

    def gate(self, name: str) -> asyncio.Event:
        """The gate of that name, shut until its event is set."""
        return self._gates.setdefault(name, asyncio.Event())

    async def arrived(self, count: int) -> Seen:
        """Wait until ``count`` model requests have come in all; give the last of them."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    @property
    def billed(self) -> Usage:
        """The account's sum."""
        return Usage(
            input=sum(served.usage.input for served in self.account),
            output=sum(served.usage.output for served in self.account),
            cached=sum(served.usage.cached or 0 for served in self.account),
            cache_write=sum(served.usage.cache_write or 0 for served in self.account),
            reasoning=sum(served.usage.reasoning or 0 for served in self.account),
        )

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._serve(request, Exchange(reader, writer)):
                    break
        except asyncio.CancelledError:
            writer.transport.abort()  # Streams would log a cancelled handler as an error: end it in good form.
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, request: HttpRequest, exchange: Exchange) -> bool:
        """Answer one request; False when the connection is of no more use."""
        seen = await self._note(request)
        try:
            if seen.api is None:
                await self._serve_other(seen, exchange)
                return True
            answer = self._choose(seen)
            if isinstance(answer, HttpReply):
                await exchange.whole(answer.status, answer.body, answer.content_type, answer.headers)
                return True
            return await self._serve_reply(seen, answer, exchange)
        except ClientGoneError:
            seen.gone.set()
            return False
        finally:
            seen.done.set()

    async def _note(self, request: HttpRequest) -> Seen:
        path = urlsplit(request.path).path
        api = PATHS.get(path.removeprefix(self.prefix)) if path.startswith(self.prefix) else None
        known = api if api in self.apis and request.method == "POST" else None
        body = _parsed(request.body)
        number = len(self.requests) + 1 if known else 0
        seen = Seen(number, request.method, path, request.headers, request.body, body, known)
        async with self._arrived:
            (self.requests if known else self.others).append(seen)
            self._arrived.notify_all()
        return seen

    async def _serve_other(self, seen: Seen, exchange: Exchange) -> None:
        control = self._controls.answer(seen.method, seen.path, seen.body)
        if control is not None or seen.path in self._refused:
            answer = control or self._refused[seen.path]
        elif seen.path == f"{self.prefix}/models":
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.models]
            answer = HttpReply(200, json.dumps({"object": "list", "data": data}).encode())
        else:
            answer = error(404, f"Invalid URL ({seen.method} {seen.path})")
        await exchange.whole(answer.status, answer.body, answer.content_type, answer.headers)

    def _choose(self, seen: Seen) -> Answer:
        fault = seen.fault if self.strict else None
        if fault is not None:
            return error(400, fault, param="input")
        for rule in self._rules:
            if rule.answers and rule.matches(seen):
                return rule.answers.popleft()
        if self._queue:
            return self._queue.popleft()
        return self.default(seen) or echo(seen)

    async def _serve_reply(self, seen: Seen, reply: Reply, exchange: Exchange) -> bool:
        assert seen.api is not None
        model = reply.model or seen.model
        counted = reply.usage if isinstance(reply.usage, Usage) else count(seen, reply)
        api, usage = seen.api, None if reply.usage is None else counted

        def bill(told: bool) -> None:
            if not any(served.number == seen.number for served in self.account):
                self.account.append(Served(seen.number, api, model, counted, told))

        return await Delivery(seen, reply, model, usage, exchange, self.gate, bill).send()


def _answer(answer: Answer | str) -> Answer:
    return say(answer) if isinstance(answer, str) else answer


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
