"""A model at an OpenAI-compatible endpoint.

Owns the choice of the API, found out from the real request's answer, and what is added to or left out of a
request for the endpoint's sake. Knows nothing of runs. Imports the SDK: import it late.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import openai
from agents import Model, ModelResponse, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel

from advchat.config import Api
from advchat.models.quirks import Asked, EndpointState, learn, speaks_other_api, without
from advchat.models.sdk_types import Sdk

_REASONING_MODELS = ("gpt-5", "o1", "o3", "o4")
_ENCRYPTED = "reasoning.encrypted_content"


@dataclass(frozen=True, slots=True)
class Manner:
    """How an endpoint is spoken to."""

    keeps_nothing: bool = False
    """Ask the vendor not to store responses; then histories go without IDs, and reasoning goes encrypted."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Model settings that replace what the agent says."""


class EndpointModel(Model):
    """One model name at one endpoint; the endpoint's state is shared by all its models."""

    def __init__(
        self, name: str, client: openai.AsyncOpenAI, state: EndpointState, manner: Manner | None = None
    ) -> None:
        self.name = name
        self._state = state
        self._manner = manner or Manner()
        self._apis: dict[Api, Model] = {
            "responses": OpenAIResponsesModel(name, client),
            "chat": OpenAIChatCompletionsModel(name, client),
        }

    @property
    def api(self) -> Api | None:
        """The API that is spoken; None until it is known."""
        return self._state.api

    async def get_response(self, *args: Sdk, **asked: Sdk) -> ModelResponse:
        """Ask without streaming; see ``Model.get_response``."""
        api: Api = self._state.api or "responses"
        while True:
            try:
                response = await self._apis[api].get_response(*args, **self._adapted(asked, api))
            except openai.APIStatusError as error:
                api = self._next(error, asked, api)
            else:
                self._state.api = api
                return response

    async def stream_response(self, *args: Sdk, **asked: Sdk) -> AsyncIterator[Sdk]:
        """Ask and stream; see ``Model.stream_response``."""
        api: Api = self._state.api or "responses"
        while True:
            try:
                events: Any = self._apis[api].stream_response(*args, **self._adapted(asked, api))
                async with aclosing(events):
                    async for event in events:
                        self._state.api = api
                        yield event
            except openai.APIStatusError as error:
                api = self._next(error, asked, api)
            else:
                return

    def _next(self, error: openai.APIStatusError, asked: Asked, api: Api) -> Api:
        """Give the API for another attempt after a refusal; raises it when there is none."""
        if self._state.api is None and api == "responses" and speaks_other_api(error):
            return "chat"
        omitted = self._state.omitted.setdefault(self.name, set())
        if learn(error, omitted, self._adapted(asked, api)):
            return api
        raise error

    def _adapted(self, asked: Asked, api: Api) -> Asked:
        settings: ModelSettings = asked["model_settings"]
        if api == "chat" and settings.include_usage is None:
            settings = replace(settings, include_usage=True)
        adapted: Asked = {**asked, "model_settings": replace(settings, **self._manner.extra)}
        if api == "responses" and self._manner.keeps_nothing:
            adapted = self._unkept(adapted)
        return without(adapted, self._state.omitted.get(self.name, set()))

    def _unkept(self, asked: Asked) -> Asked:
        """Make the request one that the vendor keeps nothing of, unless the agent says otherwise."""
        settings: ModelSettings = asked["model_settings"]
        if settings.store or asked["previous_response_id"] or asked["conversation_id"]:
            return asked
        include = list(settings.response_include or ())
        if self.name.startswith(_REASONING_MODELS) and _ENCRYPTED not in include:
            include.append(_ENCRYPTED)
        settings = replace(settings, store=False, response_include=include or None)
        history = asked["input"]
        if not isinstance(history, str):
            history = [_without_id(item) for item in history if not _is_unkept_reasoning(item)]
        return {**asked, "model_settings": settings, "input": history}


def _without_id(item: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the ID by which the vendor would look for an item that it has not kept."""
    return {key: value for key, value in item.items() if key != "id" or item.get("type") == "item_reference"}


def _is_unkept_reasoning(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "reasoning" and not item.get("encrypted_content")
