"""Usage between three wordings: the provider's, the SDK's and the ledger's.

Owns the making of a ledger row and of the SDK's usage. Imports the SDK: import it late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from agents import ModelResponse, Usage

from advchat.models.scope import Tokens
from advchat.models.sdk_types import Sdk
from advchat_storage.models import RequestRecord

_CHARACTERS_PER_TOKEN = 4


def with_tokens(row: RequestRecord, tokens: Tokens, *, asked: int, came: int) -> RequestRecord:
    """Fill in the tokens; where they are unknown, estimates from the characters asked and come stand beside."""
    if tokens.total is None:
        return replace(row, estimated_input_tokens=_estimate(asked), estimated_output_tokens=_estimate(came))
    return replace(
        row,
        input_tokens=tokens.input,
        cached_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        total_tokens=tokens.total,
    )


def tools_called(response: ModelResponse | None) -> tuple[str, ...]:
    """Name the tools that a response calls, in order."""
    output = response.output if response else []
    return tuple(str(item.name) for item in output if item.type in ("function_call", "custom_tool_call"))


def is_refusal(response: ModelResponse) -> bool:
    """Whether the response is nothing but a refusal."""
    return bool(response.output) and all(_refuses(item) for item in response.output)


def plain_usage(usage: Sdk) -> dict[str, Sdk] | None:
    """Give usage as plain values; what the SDK fills in with zeros stays zero."""
    if usage is None:
        return None
    if hasattr(usage, "model_dump"):
        return cast("dict[str, Any]", usage.model_dump(warnings=False))
    names = ("input_tokens", "output_tokens", "total_tokens")
    plain: dict[str, Any] = {name: getattr(usage, name, None) for name in names}
    for name in ("input_tokens_details", "output_tokens_details"):
        details = getattr(usage, name, None)
        plain[name] = details.model_dump(warnings=False) if details is not None else None
    return plain


def sdk_usage(tokens: Tokens) -> Usage:
    """Make the SDK's usage of one request."""
    usage = Usage(
        requests=1,
        input_tokens=tokens.input or 0,
        output_tokens=tokens.output or 0,
        total_tokens=tokens.total or 0,
    )
    inputs = {"cached_tokens": tokens.cached or 0, "cache_write_tokens": tokens.cache_write or 0}
    usage.input_tokens_details = usage.input_tokens_details.model_copy(update=inputs)
    outputs = {"reasoning_tokens": tokens.reasoning or 0}
    usage.output_tokens_details = usage.output_tokens_details.model_copy(update=outputs)
    return usage


def _estimate(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _refuses(item: Sdk) -> bool:
    content = (getattr(item, "content", None) or []) if item.type == "message" else []
    return bool(content) and all(part.type == "refusal" for part in content)
