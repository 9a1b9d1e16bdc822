"""The model that stands between the SDK and the real one.

Owns one response's making: the stream is consumed and passed on as events, each request's ledger row is
written before its response goes on, passing failures are waited out in sight, silence is given up. Knows
nothing of endpoints, nor of how a run ends. Imports the SDK: import it late.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from agents import Model, ModelResponse, ModelSettings, ModelTracing
from agents.models import get_default_model_settings

from advchat.events import Waiting
from advchat.models import failures
from advchat.models.attempt import Attempt
from advchat.models.failures import Failure
from advchat.models.faults import NotAllowedError, SilentError
from advchat.models.mending import mend, mend_value
from advchat.models.observation import OBSERVED
from advchat.models.rows import is_refusal, plain_usage, sdk_usage, tools_called, with_tokens
from advchat.models.scope import DEPTH, NO_TOKENS, SCOPE, RunScope, Tokens, now, read_tokens
from advchat.models.sdk_types import Sdk
from advchat.runner import RequestPlan
from advchat_storage.models import RequestRecord, RequestStatus
from advchat_storage.sending import acceptable

_TAIL_SECONDS = 2.0
"""How long the end of a stream is waited for after its whole response: a drained connection is used again."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a model is and where it is asked, for the ledger and for messages."""

    model: str | None
    """As asked for."""
    provider: str | None = None
    host: str = "The model"
    base_url: str = ""
    secret: str | None = field(default=None, repr=False)
    """The key: an endpoint may say it back in a refusal, and it must not reach the disk."""
    by_default: bool = False
    """Whether the agent names no model of its own, so that its settings are the SDK's for another one."""


class StreamingModel(Model):
    """Wraps a model: streams it where the SDK only awaits it, inside a run of ours."""

    def __init__(self, inner: Model, target: Target) -> None:
        self.inner = inner
        self.target = target

    async def get_response(  # noqa: PLR0913 - the SDK's signature
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002 - the SDK's name
        model_settings: ModelSettings,
        tools: list[Any],
        output_schema: Sdk,
        handoffs: list[Any],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: Sdk,
    ) -> ModelResponse:
        """Ask the wrapped model; see ``Model.get_response``."""
        if self.target.by_default and model_settings == get_default_model_settings():
            model_settings = get_default_model_settings(self.target.model)
        history = input if isinstance(input, str) else [_ordered(item) for item in acceptable(input)]
        asked = {
            "system_instructions": None if system_instructions is None else mend(system_instructions),
            "input": mend_value(history),
            "model_settings": model_settings,
            "tools": tools,
            "output_schema": output_schema,
            "handoffs": handoffs,
            "tracing": tracing,
            "previous_response_id": previous_response_id,
            "conversation_id": conversation_id,
            "prompt": prompt,
        }
        scope = SCOPE.get()
        if scope is None:
            return await self.inner.get_response(**asked)
        return await _Exchange(scope, self.inner, self.target, asked).answer()

    def stream_response(self, *args: Sdk, **kwargs: Sdk) -> AsyncIterator[Sdk]:
        """Stream the wrapped model as it is."""
        return self.inner.stream_response(*args, **kwargs)

    async def close(self) -> None:
        """Close the wrapped model."""
        await self.inner.close()


def _ordered(item: Mapping[str, Any]) -> dict[str, Any]:
    """Put an item's keys in one order, whoever made it: equal histories are then equal to the byte."""
    return {key: item[key] for key in sorted(item)}


class _Exchange:
    """One response that the SDK asks for, with as many requests as it takes."""

    def __init__(self, scope: RunScope, inner: Model, target: Target, asked: dict[str, Any]) -> None:
        self._scope = scope
        self._inner = inner
        self._target = target
        self._asked = asked
        self._nested = DEPTH.get() > 1
        self._agent = scope.agent

    async def answer(self) -> ModelResponse:
        """Ask, and ask again where that is of use."""
        number = 0
        while True:
            await self._ask_leave()
            attempt = Attempt(self._scope, self._nested, self._target.host)
            try:
                return await self._try(attempt)
            except Exception as error:
                failure = self._read(error)
                self._scope.failed = (error, failure)
                pause = None if attempt.shown else self._pause(failure, number)
                if pause is None:
                    raise
            number += 1
            self._scope.tell(Waiting(self._scope.run_id, failure.line, pause))
            await asyncio.sleep(pause)

    async def _ask_leave(self) -> None:
        allow = self._scope.allow
        if allow is None:
            return
        sent = json.dumps([self._asked["system_instructions"], self._asked["input"]], default=str)
        refusal = await allow(RequestPlan(self._target.model, self._target.provider, len(sent)))
        if refusal is not None:
            error = NotAllowedError(refusal)
            self._scope.failed = (error, self._read(error))
            raise error

    def _pause(self, failure: Failure, number: int) -> float | None:
        """Give the seconds to wait before the next attempt; None when there is none."""
        patience = self._scope.patience
        most = {"no": 0, "limited": patience.limited_retries, "transient": patience.retries}[failure.retry]
        pause = patience.pause_seconds * 2**number if failure.wait is None else failure.wait
        return pause if number < most and pause <= patience.longest_wait else None

    async def _try(self, attempt: Attempt) -> ModelResponse:
        token = OBSERVED.set(attempt.seen)
        try:
            response = await self._consume(attempt)
        except asyncio.CancelledError:
            await self._record(attempt, "stopped")
            raise
        except Exception as error:
            failure = self._read(error)
            status: RequestStatus = "refused" if failure.outcome == "refused" else "failed"
            await self._record(attempt, status, failure=failure)
            raise
        finally:
            OBSERVED.reset(token)
        await self._record(attempt, "refused" if is_refusal(response) else "completed", response=response)
        if not self._nested:
            self._scope.finish([dict(item) for item in response.to_input_items()])
        return response

    async def _consume(self, attempt: Attempt) -> ModelResponse:
        """Stream the model; one that cannot stream is awaited."""
        patience = self._scope.patience.idle_seconds
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(patience) as clock:

                def touched() -> None:
                    clock.reschedule(loop.time() + (patience if attempt.final is None else _TAIL_SECONDS))

                attempt.seen.touched = touched
                streamed = await self._stream(attempt)
        except TimeoutError:
            if not clock.expired():
                raise
            if attempt.final is None:
                raise SilentError(patience) from None
            streamed = True
        finally:
            attempt.seen.touched = None
        if streamed:
            return attempt.whole()
        response = await self._inner.get_response(**self._asked)
        response.output = attempt.show(response.output)
        return response

    async def _stream(self, attempt: Attempt) -> bool:
        """Consume the stream; False when the model has none."""
        try:
            stream: Any = self._inner.stream_response(**self._asked)
            if inspect.isawaitable(stream):
                stream = await stream
            async with aclosing(stream) if hasattr(stream, "aclose") else nullcontext(stream) as events:
                async for event in events:
                    attempt.take(event)
                    if event.type == "response.incomplete":
                        break  # The SDK would raise what the attempt words better.
        except NotImplementedError:
            if attempt.came:
                raise
        return attempt.came or attempt.seen.status is not None

    def _read(self, error: Exception) -> Failure:
        target = self._target
        failure = failures.of_request(error, host=target.host, model=target.model, base_url=target.base_url)
        if target.secret is None or target.secret not in failure.line:
            return failure
        return replace(failure, line=failure.line.replace(target.secret, "…"))

    async def _record(
        self,
        attempt: Attempt,
        status: RequestStatus,
        *,
        failure: Failure | None = None,
        response: ModelResponse | None = None,
    ) -> None:
        tokens = self._tokens(attempt, failure, response)
        row = RequestRecord(
            request_id=attempt.request_id,
            run_id=self._scope.run_id,
            branch_id=self._scope.branch_id,
            turn=self._scope.turn,
            agent=self._agent,
            model_asked=self._target.model,
            model=attempt.seen.model or (self._target.model if response else None),
            provider=self._target.provider,
            api=attempt.seen.api,
            started_at=attempt.started_at,
            first_token_at=attempt.first_token_at,
            finished_at=now(),
            status=status,
            error=failure.line if failure else None,
            tools=tools_called(response),
        )
        if response is not None or tokens.total:
            self._scope.usage.append(sdk_usage(tokens))
        await self._scope.write(
            with_tokens(row, tokens, asked=self._asked_characters(), came=attempt.characters)
        )

    def _tokens(self, attempt: Attempt, failure: Failure | None, response: ModelResponse | None) -> Tokens:
        """Give what the provider has told; usage told before the answer's end is no final count."""
        if failure is not None and failure.no_tokens:
            return NO_TOKENS
        if attempt.seen.finish is not None:
            return read_tokens(attempt.seen.usage)
        if response is not None and not attempt.seen.watched:
            return read_tokens(plain_usage(response.usage))
        return Tokens()

    def _asked_characters(self) -> int:
        asked = self._asked["input"]
        text = asked if isinstance(asked, str) else json.dumps(asked, default=str, ensure_ascii=False)
        return len(text) + len(self._asked["system_instructions"] or "")
