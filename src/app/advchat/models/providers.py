"""Where each model name leads.

Owns the clients and the models made of the settings: OpenAI, any compatible endpoint, the embedded model,
the tour, and the user's own model objects, each wrapped so that it streams into its run. Knows nothing of
runs. Imports the SDK: import it late.
"""

from __future__ import annotations

import asyncio
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import urlsplit

import httpx2
import openai
from agents import Agent, Model, ModelProvider, MultiProvider
from agents.models import get_default_model

from advchat.config import Api, Config, Endpoint
from advchat.models.addresses import Address, read_address
from advchat.models.causes import proxy_fault
from advchat.models.endpoint import EndpointModel, Manner
from advchat.models.faults import SettingsError
from advchat.models.local import EXTRA_BODY, MAX_TOKENS, MODEL_NAME, TEMPERATURE, LocalModel, LocalModelError
from advchat.models.names import LOCAL_NAMES, ROUTED, TOUR, provider_of
from advchat.models.observation import observe
from advchat.models.quirks import EndpointState
from advchat.models.sdk_types import Sdk
from advchat.models.streaming import StreamingModel, Target
from advchat.models.tour import TourModel
from advchat.pricing import Pricing

_CONNECT_SECONDS = 20.0
_LIST_SECONDS = 3.0
_LISTED = 5
_KEYLESS = "none"
"""Sent where no key is set: local servers ask for none, and the client insists on one."""


@dataclass(slots=True)
class Providers:
    """Makes models by name, and keeps clients and what was learnt of endpoints for the process."""

    config: Config
    local: LocalModel | None = None
    pricing: Pricing | None = None
    _clients: dict[tuple[str, str | None], openai.AsyncOpenAI] = field(default_factory=dict)
    _states: dict[tuple[str, Api | None], EndpointState] = field(default_factory=dict)
    _models: dict[str, Model] = field(default_factory=dict)
    _routed: MultiProvider | None = None
    _local_client: openai.AsyncOpenAI | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)

    async def warm(self, name: str | None) -> None:
        """Do what takes time before a model is asked: make its client, start the embedded model.

        Raises SettingsError with a line for a person.
        """
        if name in LOCAL_NAMES:
            await self._start_local()
        elif name != TOUR and not _is_routed(name):
            await asyncio.to_thread(self._client_for, name)

    def model(self, name: str | None, *, by_default: bool = False) -> StreamingModel:
        """Give the model of that name; None is the SDK's default model at the configured endpoint.

        Raises SettingsError when there is no way to ask it.
        """
        if name == TOUR:
            made = self._made(TOUR, TourModel(self.config.keys))
            return StreamingModel(made, Target(TOUR, provider=TOUR, host="The tour"))
        if name in LOCAL_NAMES:
            target = Target(MODEL_NAME, provider="local", host="The local model", by_default=by_default)
            return StreamingModel(self._made(MODEL_NAME, None), target)
        asked = name or get_default_model()
        if _is_routed(asked):
            return StreamingModel(self._routed_model(asked), Target(asked, host=asked, by_default=by_default))
        endpoint, rest = self.config.resolve(asked)
        address = _address(endpoint)
        client = self._client(endpoint, address)
        api = endpoint.api or address.api
        state = self._states.setdefault((address.base_url, api), EndpointState(api))
        made = self._made(asked, EndpointModel(rest, client, state, Manner(keeps_nothing=address.is_openai)))
        provider = provider_of(address, self.pricing)
        secret = check_key(endpoint.api_key)
        target = Target(rest, provider, address.host, address.base_url, secret, by_default=by_default)
        return StreamingModel(made, target)

    def adopt(self, agent: Sdk) -> None:
        """Wrap the model objects that the user's agents bring along, in place, tools' agents included."""
        for found in all_agents(agent):
            if isinstance(found.model, Model) and not isinstance(found.model, StreamingModel):
                name = getattr(found.model, "model", None)
                target = Target(str(name) if name else type(found.model).__name__)
                found.model = StreamingModel(found.model, target)

    async def offered(self, name: str) -> str:
        """Say which models the endpoint of an unknown one has; empty where it does not tell at once."""
        try:
            client = self._client_for(name)
            async with asyncio.timeout(_LIST_SECONDS):
                names = sorted({model.id async for model in client.models.list()})
        except (openai.OpenAIError, SettingsError, TimeoutError, httpx2.HTTPError, ValueError):
            return ""
        near = get_close_matches(name, names, n=_LISTED, cutoff=0.5) or names[:_LISTED]
        more = ", …" if len(names) > len(near) else ""
        return f"It offers {', '.join(near)}{more}." if near else ""

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
        self._models.clear()
        if self._routed is not None:
            await self._routed.aclose()

    async def _start_local(self) -> None:
        if self.local is None:
            raise SettingsError("The local model is not available here. Choose another with /model or --model.")
        try:
            server = await self.local.start()
        except LocalModelError as error:
            raise SettingsError(
                f"{error}. Choose another with /model, or take the tour: /model tour"
            ) from error
        client = await asyncio.to_thread(self._client_at, server.base_url, server.api_key)
        if client is not self._local_client:
            extra = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS, "extra_body": dict(EXTRA_BODY)}
            state = EndpointState(api="chat")
            self._models[MODEL_NAME] = EndpointModel(MODEL_NAME, client, state, Manner(extra=extra))
            self._local_client = client

    def _made(self, name: str, model: Model | None) -> Model:
        """Keep one model per name."""
        if name not in self._models:
            if model is None:
                raise SettingsError(f"The model {name} is not ready yet. Send the prompt again in a moment.")
            self._models[name] = model
        return self._models[name]

    def _routed_model(self, name: str) -> Model:
        try:
            self._routed = self._routed or MultiProvider()
            return self._made(name, self._routed.get_model(name))
        except ImportError as error:
            raise SettingsError(f"{name} needs the extra: pip install 'advchat[providers]'") from error

    def _client_for(self, name: str | None) -> openai.AsyncOpenAI:
        endpoint, _ = self.config.resolve(name or get_default_model())
        return self._client(endpoint, _address(endpoint))

    def _client(self, endpoint: Endpoint, address: Address) -> openai.AsyncOpenAI:
        if not endpoint.connected:
            raise SettingsError(
                "There is no key for OpenAI. Set OPENAI_API_KEY, name another endpoint with --base-url, "
                "or use /model local or /model tour."
            )
        return self._client_at(address.base_url, check_key(endpoint.api_key))

    def _client_at(self, base_url: str, key: str | None) -> openai.AsyncOpenAI:
        """Give the one client of an address; asked for from several threads, a second would never be closed."""
        place = (base_url, key)
        with self._making:
            if place not in self._clients:
                self._clients[place] = _make_client(*place)
            return self._clients[place]


class RunProvider(ModelProvider):
    """The SDK's view of the providers for one run: its default model is the run's."""

    def __init__(self, providers: Providers, default: str | None) -> None:
        self._providers = providers
        self._default = default

    def get_model(self, model_name: str | None) -> Model:
        """Give the model of that name, wrapped."""
        return self._providers.model(model_name or self._default, by_default=model_name is None)


def check_key(key: str | None) -> str | None:
    """Return the key without the blanks around it. Raises SettingsError naming what cannot be sent in it."""
    trimmed = (key or "").strip()
    for position, character in enumerate(trimmed, start=1):
        if not "!" <= character <= "~":
            name = unicodedata.name(character, "a control character")
            raise SettingsError(
                f"The API key holds {name} (U+{ord(character):04X}) at character {position}, "
                "which no key does. Copy the key again."
            )
    return trimmed or None


def _address(endpoint: Endpoint) -> Address:
    return read_address(endpoint.base_url)


def _is_routed(name: str | None) -> bool:
    return name is not None and name.startswith(ROUTED)


def _make_client(base_url: str, key: str | None) -> openai.AsyncOpenAI:
    """Make a client whose answers are observed and whose failures are ours to repeat.

    A plain server on this machine is never asked through a proxy, whatever the environment forgets to say.
    """
    parts = urlsplit(base_url)
    here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    try:
        return openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or _KEYLESS,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [observe]}, trust_env=not here),
            default_headers={"Accept-Encoding": "identity"},  # So that the observation can read along.
        )
    except (ImportError, ValueError) as error:
        raise SettingsError(proxy_fault(error) or f"No client for {base_url}: {error}") from error


def all_agents(agent: Sdk) -> Iterator[Agent[Sdk]]:
    """Give the agent and all that it can hand over to or use as tools, each once."""
    seen: set[int] = set()
    waiting = [agent]
    while waiting:
        current = waiting.pop()
        reference = getattr(current, "_agent_ref", None)
        if callable(reference):
            current = reference()
        if not isinstance(current, Agent) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [*current.handoffs, *(getattr(tool, "_agent_instance", None) for tool in current.tools)]
