"""What a request costs.

Owns the order in which prices are looked for (the user's own, what is free by itself, the library's data)
and the rounding to nano-dollars. ``price_data`` owns the library. Knows neither the SDK, the store's
database nor the screen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from pathlib import Path
from typing import TYPE_CHECKING

from advchat.config import Config, OwnPrice, data_dir
from advchat.price_values import PriceRow, PriceUpdateError, UnknownPriceError, Usage
from advchat_storage import PriceChange, RequestRecord

if TYPE_CHECKING:
    from advchat.price_data import PriceData

__all__ = ["FREE_PROVIDERS", "PriceRow", "PriceUpdateError", "Pricing", "Repricing"]

FREE_PROVIDERS = frozenset({"local", "tour"})
"""What runs on this machine by our own doing. Any other endpoint, loopback too, has a price."""

_SMALLER = ("-mini", "-nano", "-lite", "-flash", "-small")
"""What vendors add to a model's name for its smaller siblings."""
_MILLION = 1_000_000
_NANO_PER_DOLLAR = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Repricing:
    """One ledger row whose cost would change."""

    request_id: str
    model: str | None
    old_nano: int | None
    cost_nano: int
    price_source: str | None
    price_version: str | None
    price_note: str | None

    @property
    def change(self) -> PriceChange:
        """As ``Store.reprice`` takes it."""
        return PriceChange(
            self.request_id, self.cost_nano, self.price_source, self.price_version, self.price_note
        )


class Pricing:
    """Prices requests by the user's own prices and the library's data.

    Usable from any thread. The data is loaded on first use, or by ``load`` in a thread before that; a newer
    copy of it is kept in ``directory``, the program's data directory unless another is given.
    """

    def __init__(self, config: Config | None = None, *, directory: Path | None = None) -> None:
        self._own = dict(config.prices) if config else {}
        self._directory = directory or data_dir()
        self._data: PriceData | None = None
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether the data is at hand, so that no call takes long."""
        return self._data is not None

    def load(self) -> PriceData:
        """Load the data if that has not been done; takes some tenths of a second."""
        with self._lock:
            if self._data is None:
                from advchat.price_data import load_prices  # noqa: PLC0415 - costs the first frame 0.15 s

                self._data = load_prices(self._directory)
            return self._data

    def update(self, url: str | None = None) -> str:
        """Fetch the newest data (blocks; the one call that asks the network) and return its version.

        Raises PriceUpdateError; the data in use then stays.
        """
        from advchat.price_data import fetch_prices  # noqa: PLC0415 - costs the first frame 0.15 s

        data = fetch_prices(self._directory, url)
        with self._lock:
            self._data = data
        return data.version

    def provider_id(self, base_url: str | None) -> str | None:
        """Return the library's ID of the provider behind ``base_url`` (None: OpenAI's own), or None."""
        return "openai" if base_url is None else self.load().provider_of(base_url)

    def context_window(self, model: str, provider: str | None = None) -> int | None:
        """Return how many tokens the model takes, or None where that is not known."""
        return self.load().context_window(model, provider)

    def price(self, record: RequestRecord) -> RequestRecord:
        """Return the record with its cost and where the price came from; unknown stays None, never 0."""
        usage, notes = _usage(record)
        if (own := self._own_price(record)) is not None:
            return _with_own_price(record, own, usage, notes)
        if record.provider in FREE_PROVIDERS:
            return _priced(record, Decimal(0), "free", None, [])
        if record.status == "failed" and usage is not None and not usage.input and not usage.output:
            # Nobody worked on it, so it costs nothing whatever the price; a completed one may just not tell.
            return _priced(record, Decimal(0), "no tokens", None, notes)
        model = record.model or record.model_asked
        if model is None:
            return _unknown(record, "the model is not known")
        if usage is None:
            return _unknown(record, "the answer did not tell its usage")
        return self._by_library(record, model, usage, notes)

    def recompute(self, records: Iterable[RequestRecord]) -> list[Repricing]:
        """Return what would change if each request were priced now. A known cost never becomes unknown."""
        found = []
        for record in records:
            now = self.price(record)
            if now.cost_nano is not None and now.cost_nano != record.cost_nano:
                source = now.price_source, now.price_version, now.price_note
                model = now.model or now.model_asked
                found.append(Repricing(now.request_id, model, record.cost_nano, now.cost_nano, *source))
        return found

    def table(self, term: str = "") -> list[PriceRow]:
        """Return the prices in force now whose ``provider/model`` holds ``term``; the user's own come first."""
        term = term.lower().strip()
        own = [_own_row(name, price) for name, price in self._own.items() if term in name]
        return own + self.load().rows(term)

    def cheaper(self, model: str, provider: str | None = None) -> str | None:
        """Name the dearest of the smaller models of that name that cost less there; None without one."""
        rows = self.load().rows(model.lower())
        own = next((row for row in rows if row.model == model and provider in (None, row.provider)), None)
        if own is None or own.input is None:
            return None
        smaller = [
            row
            for row in rows
            if row.provider == own.provider
            and row.input is not None
            and row.input < own.input
            and row.model.removeprefix(model) in _SMALLER
        ]
        dearest = max(smaller, key=lambda row: row.input or 0, default=None)
        return dearest.model if dearest is not None else None

    def _own_price(self, record: RequestRecord) -> OwnPrice | None:
        names = (record.model, record.model_asked)
        return next((self._own[name.lower()] for name in names if name and name.lower() in self._own), None)

    def _by_library(self, record: RequestRecord, model: str, usage: Usage, notes: list[str]) -> RequestRecord:
        data = self.load()
        provider = record.provider if record.provider and data.knows(record.provider) else None
        at = datetime.fromisoformat(record.started_at)
        try:
            with localcontext(prec=60):
                charge = data.charge(model, provider, usage, at if at.tzinfo else at.replace(tzinfo=UTC))
        except UnknownPriceError as error:
            return _unknown(record, str(error))
        if provider is None:
            who = f"provider {record.provider}" if record.provider else "provider"
            notes = [f"{who} not known, priced by the model's name as {charge.model}", *notes]
        return _priced(record, charge.dollars, "genai-prices", data.version, notes)


def _usage(record: RequestRecord) -> tuple[Usage | None, list[str]]:
    """Return counts that add up, and notes on those that did not; None where a count is unknown."""
    if record.input_tokens is None or record.output_tokens is None:
        return None, []
    whole, output = max(0, record.input_tokens), max(0, record.output_tokens)
    cached = min(max(0, record.cached_tokens or 0), whole)
    written = min(max(0, record.cache_write_tokens or 0), whole - cached)
    reasoning = min(max(0, record.reasoning_tokens or 0), output)
    told = (record.input_tokens, record.output_tokens, record.cached_tokens, record.cache_write_tokens)
    taken = (whole, output, cached, written)
    odd = any(count is not None and count != used for count, used in zip(told, taken, strict=True))
    return Usage(whole, cached, written, output, reasoning), ["counts that did not add up were cut"] * odd


def _with_own_price(
    record: RequestRecord, own: OwnPrice, usage: Usage | None, notes: list[str]
) -> RequestRecord:
    if own.free:
        return _priced(record, Decimal(0), "free", "config", [])
    if usage is None:
        return _unknown(record, "the answer did not tell its usage")
    cached = own.input if own.cached is None else own.cached
    written = own.input if own.cache_write is None else own.cache_write
    with localcontext(prec=60):
        dollars = (
            (usage.input - usage.cached - usage.cache_write) * own.input
            + usage.cached * cached
            + usage.cache_write * written
            + usage.output * own.output
        ) / _MILLION
    rates = f"input={own.input} cached={cached} cache_write={written} output={own.output}"
    return _priced(record, dollars, "config", rates, notes)


def _priced(
    record: RequestRecord, dollars: Decimal, source: str, version: str | None, notes: list[str]
) -> RequestRecord:
    with localcontext(prec=60):
        nano = int((dollars * _NANO_PER_DOLLAR).to_integral_value(ROUND_HALF_EVEN))
    return replace(
        record,
        cost_nano=nano,
        price_source=source,
        price_version=version,
        price_note="; ".join(notes) or None,
    )


def _unknown(record: RequestRecord, why: str) -> RequestRecord:
    return replace(record, cost_nano=None, price_source=None, price_version=None, price_note=why)


def _own_row(name: str, own: OwnPrice) -> PriceRow:
    cached = own.input if own.cached is None else own.cached
    written = own.input if own.cache_write is None else own.cache_write
    return PriceRow(name, "", own.input, cached, written, own.output, None, "config")
