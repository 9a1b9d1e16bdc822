"""The tour as a model: it answers by a script, streams, counts its words, and costs nothing.

Owns how a scripted answer becomes a model's response. ``tour_script`` owns the words. Asks no network.
Imports the SDK: import it late.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseUsage,
)

from advchat.models.rows import plain_usage, sdk_usage
from advchat.models.scope import read_tokens
from advchat.models.sdk_types import Sdk
from advchat.models.tour_script import Keys, answer

_PIECE = re.compile(r"\s*\S+\s*")
_PAUSE_SECONDS = 0.005
"""Between two pieces: fast enough to wait for, slow enough to be seen."""


class TourModel(Model):
    """Answers from the script."""

    def __init__(self, keys: Keys | None = None, pause: float = _PAUSE_SECONDS) -> None:
        self._keys = keys
        self._pause = pause

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002 - the SDK's name
        *_args: Sdk,
        **_kwargs: Sdk,
    ) -> ModelResponse:
        """Answer at once; see ``Model.get_response``."""
        response = _response(system_instructions, input, self._keys)
        usage = sdk_usage(read_tokens(plain_usage(response.usage)))
        return ModelResponse(output=response.output, usage=usage, response_id=response.id)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002 - the SDK's name
        *_args: Sdk,
        **_kwargs: Sdk,
    ) -> AsyncIterator[Any]:
        """Answer word by word; see ``Model.stream_response``."""
        response = _response(system_instructions, input, self._keys)
        message = response.output[0]
        for number, piece in enumerate(_PIECE.findall(response.output_text)):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                delta=piece,
                item_id=str(message.id),
                output_index=0,
                content_index=0,
                logprobs=[],
                sequence_number=number,
            )
            await asyncio.sleep(self._pause)
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


def _response(instructions: str | None, history: str | list[Any], keys: Keys | None) -> Response:
    texts = [history] if isinstance(history, str) else [_text(item) for item in history]
    prompts = texts if isinstance(history, str) else [_text(i) for i in history if i.get("role") == "user"]
    said = answer(prompts[-1] if prompts else "", first=len(prompts) <= 1, keys=keys)
    asked = sum(len(text.split()) for text in [instructions or "", *texts])
    told = len(said.split())
    part = ResponseOutputText(type="output_text", text=said, annotations=[])
    message = ResponseOutputMessage(
        id=f"msg_{uuid.uuid4().hex}", type="message", role="assistant", status="completed", content=[part]
    )
    return Response(
        id=f"resp_{uuid.uuid4().hex}",
        object="response",
        created_at=0,
        model="tour",
        status="completed",
        output=[message],
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
        usage=ResponseUsage.model_validate(
            {
                "input_tokens": asked,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": told,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": asked + told,
            }
        ),
    )


def _text(item: Sdk) -> str:
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or "") for part in content)
