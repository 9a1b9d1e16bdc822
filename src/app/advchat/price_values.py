"""Values that pricing and the price library's data exchange.

Owns no behaviour, so that importing it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


class PriceUpdateError(Exception):
    """New prices could not be fetched or kept; those in use stay."""


class UnknownPriceError(Exception):
    """No price is known; the text says for what."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts that add up: the parts are never more than their whole, none is negative."""

    input: int
    cached: int
    cache_write: int
    output: int
    reasoning: int


@dataclass(frozen=True, slots=True)
class Charge:
    """What one request costs, in US dollars, exactly."""

    dollars: Decimal
    model: str
    """``provider/model`` whose price was taken."""


@dataclass(frozen=True, slots=True)
class PriceRow:
    """One line of the price table: US dollars per million tokens, None where unknown."""

    model: str
    provider: str
    """Empty for a price of the user's own."""
    input: Decimal | None
    cached: Decimal | None
    cache_write: Decimal | None
    output: Decimal | None
    context_window: int | None
    source: str
    """``config`` or ``genai-prices``."""
    tiered: bool = False
    """Whether a long input costs more than the row says."""
