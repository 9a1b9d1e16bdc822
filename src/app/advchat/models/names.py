"""Model names that mean something of their own.

Owns those names, and what is said of any name without asking anybody. Knows no SDK: the first frame uses it.
"""

from __future__ import annotations

from advchat.config import Config
from advchat.models.addresses import OPENAI, Address, read_address
from advchat.models.local import MODEL_NAME, model_info
from advchat.pricing import Pricing
from advchat.runner import ModelInfo

TOUR = "tour"
LOCAL_NAMES = frozenset({"local", MODEL_NAME})
ROUTED = ("any-llm/", "litellm/")
"""Prefixes of names that the SDK's own routing leads to further providers."""

_TOUR_INFO = ModelInfo(TOUR, "tour · scripted guide", TOUR, None, free=True, can_use_tools=False)


def describe(name: str | None, config: Config, pricing: Pricing | None) -> ModelInfo:
    """Tell of the model; None is one whose name the SDK's import will tell.

    Never imports the SDK, never asks the network; asks the prices only once they are loaded.
    """
    if name == TOUR:
        return _TOUR_INFO
    if name in LOCAL_NAMES:
        return model_info()
    if name is None:
        return ModelInfo("", "default model", None, None, free=False, can_use_tools=True)
    endpoint, rest = config.resolve(name)
    address = read_address(endpoint.base_url)
    loaded = pricing if pricing is not None and pricing.loaded else None
    provider = provider_of(address, loaded)
    own = config.prices.get(rest.lower())
    return ModelInfo(
        name=name,
        label=rest if address.base_url == OPENAI else f"{rest} · {endpoint.name or address.host}",
        provider=provider,
        context_window=loaded.context_window(rest, provider) if loaded else None,
        free=own is not None and own.free,
        can_use_tools=True,
    )


def provider_of(address: Address, pricing: Pricing | None) -> str | None:
    """Give the price library's name of whoever serves the address; None where it is not known."""
    if address.is_openai:
        return "openai"
    return pricing.provider_id(address.base_url) if pricing is not None else None
