"""What sending a prompt would take, about.

Owns the estimate shown before a prompt is sent, made from the provider's own counts on this branch. Pure:
knows no store connection. Says nothing where nothing is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from advchat.state import SendEstimate
from advchat_storage import RequestRecord
from advchat_storage.calibration import Calibration

Price = Callable[[RequestRecord], RequestRecord]

_MESSAGE_CHARACTERS = 30
"""What a message adds around its text in JSON."""


def estimate(
    text: str,
    known: Calibration | None,
    outputs: Sequence[int],
    *,
    price: Price,
    model: str | None,
    provider: str | None,
    window: int | None,
) -> SendEstimate | None:
    """Tell about how much ``text`` on top of the branch will take; None when no count is known yet.

    ``outputs`` are output tokens of earlier requests: the shortest and the longest bound the price.
    """
    if known is None or known.characters <= 0:
        return None
    before = known.input_tokens + known.output_tokens
    per_character = before / known.characters
    added = math.ceil((len(json.dumps(text, ensure_ascii=False)) + _MESSAGE_CHARACTERS) * per_character)
    tokens = before + added
    cached = known.input_tokens if known.cached_tokens else 0

    def cost(cached_tokens: int, output_tokens: int) -> int | None:
        return price(_request(tokens, cached_tokens, output_tokens, model, provider)).cost_nano

    bounds = [cost(cached, min(outputs, default=0)), cost(0, max(outputs, default=0))]
    low, high = (None, None) if None in bounds else (min(filter(None, bounds), default=0), bounds[1])
    return SendEstimate(
        input_tokens=tokens,
        cached_share=None if known.cached_tokens is None else cached / tokens,
        low_nano=low,
        high_nano=high,
        context_left=None if window is None else window - tokens,
    )


def _request(tokens: int, cached: int, output: int, model: str | None, provider: str | None) -> RequestRecord:
    now = datetime.now(UTC).isoformat()
    return RequestRecord(
        request_id="estimate",
        run_id="estimate",
        branch_id="",
        turn=0,
        agent=None,
        model_asked=model,
        model=model,
        provider=provider,
        api=None,
        started_at=now,
        first_token_at=None,
        finished_at=now,
        status="completed",
        input_tokens=tokens,
        cached_tokens=cached,
        output_tokens=output,
        total_tokens=tokens + output,
    )
