"""The price library's data: what is bundled with it, or a newer copy that the user has fetched.

Owns the copy's file, its fetching, and how a model is found in the data. Asks the network in
``fetch_prices`` only. Importing it costs 0.15 s, so ``pricing`` does that late.
"""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import httpx2
from genai_prices import Usage as Counts
from genai_prices import __version__
from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices, _providers_from_raw
from genai_prices.update_prices import DEFAULT_UPDATE_URL

from advchat.price_values import Charge, PriceRow, PriceUpdateError, UnknownPriceError, Usage

_FILE = "prices.json"
_TIMEOUT = 30.0


class PriceData:
    """One state of the library's data. Made by ``load_prices``."""

    def __init__(self, snapshot: DataSnapshot, version: str) -> None:
        self._snapshot = snapshot
        self.version = version
        """The library's version, and the day of the copy where one was fetched."""

    def provider_of(self, base_url: str) -> str | None:
        """Return the ID of the provider behind an address, or None."""
        try:
            return self._snapshot.find_provider(None, None, base_url).id
        except LookupError:
            return None

    def knows(self, provider: str) -> bool:
        """Whether the data holds this provider."""
        try:
            self._snapshot.find_provider(None, provider, None)
        except LookupError:
            return False
        return True

    def charge(self, model: str, provider: str | None, usage: Usage, at: datetime) -> Charge:
        """Price one request; without a provider by the model's name alone. Raises UnknownPriceError."""
        found_provider, info = self._find(model, provider)
        rates = info.get_prices(at)
        for tokens, rate, kind in (
            (usage.input, rates.input_mtok, "input"),
            (usage.output, rates.output_mtok, "output"),
        ):
            if rate is None and (tokens or (rates.input_mtok is None and rates.output_mtok is None)):
                raise UnknownPriceError(f"no price of {kind} is known for {found_provider.id}/{info.id}")
        counts = Counts(
            input_tokens=usage.input,
            cache_read_tokens=usage.cached,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
            output_reasoning_tokens=usage.reasoning,
        )
        try:
            calculation = info.calc_price(counts, found_provider, genai_request_timestamp=at)
        except ValueError as error:
            raise UnknownPriceError(f"{found_provider.id}/{info.id} cannot be priced: {error}") from error
        return Charge(calculation.total_price, f"{found_provider.id}/{info.id}")

    def context_window(self, model: str, provider: str | None) -> int | None:
        """Return the model's window in tokens where the data tells it."""
        known = provider if provider is not None and self.knows(provider) else None
        try:
            return self._find(model, known)[1].context_window
        except UnknownPriceError:
            return None

    def rows(self, term: str) -> list[PriceRow]:
        """Return the prices in force now of the models whose ``provider/model`` holds ``term``."""
        now = datetime.now(UTC)
        return [
            _row(provider.id, info, info.get_prices(now))
            for provider in self._snapshot.providers
            for info in provider.models
            if term in f"{provider.id}/{info.id}".lower()
        ]

    def _find(self, model: str, provider: str | None) -> tuple[Provider, ModelInfo]:
        # The library reads "vendor/model", as gateways name models, under this one provider's name only.
        by_name = "litellm" if "/" in model else None
        try:
            return self._snapshot.find_provider_model(model, None, provider or by_name, None)
        except LookupError:
            raise UnknownPriceError(f"no price is known for {model}") from None


def load_prices(directory: Path) -> PriceData:
    """Import the library and read the copy kept in ``directory``, where there is a usable one.

    A copy fetched for another version of the library is passed over: the bundled data is newer.
    """
    try:
        kept = json.loads((directory / _FILE).read_text(encoding="utf-8"))
        if kept["library"] == __version__:
            return PriceData(_snapshot(kept["providers"]), f"{__version__}+{kept['fetched_at'][:10]}")
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return PriceData(get_snapshot(), __version__)


def fetch_prices(directory: Path, url: str | None = None) -> PriceData:
    """Fetch the newest data (blocks; asks the network), keep it and return it. Raises PriceUpdateError."""
    address = url or DEFAULT_UPDATE_URL
    try:
        answer = httpx2.get(address, timeout=_TIMEOUT, follow_redirects=True).raise_for_status()
        providers = answer.json()
        snapshot = _snapshot(providers)
    except (httpx2.HTTPError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise PriceUpdateError(f"no new prices from {address}: {reason}") from error
    now = datetime.now(UTC).isoformat()
    try:
        _keep(directory, {"library": __version__, "fetched_at": now, "providers": providers})
    except OSError as error:
        raise PriceUpdateError(f"new prices cannot be kept in {directory}: {error.strerror}") from error
    return PriceData(snapshot, f"{__version__}+{now[:10]}")


def _row(provider: str, info: ModelInfo, rates: ModelPrice) -> PriceRow:
    """Write rates as a row; one that is missing falls back to input's, as in the library's arithmetic."""
    cached = rates.input_mtok if rates.cache_read_mtok is None else rates.cache_read_mtok
    written = rates.input_mtok if rates.cache_write_mtok is None else rates.cache_write_mtok
    return PriceRow(
        model=info.id,
        provider=provider,
        input=_base(rates.input_mtok),
        cached=_base(cached),
        cache_write=_base(written),
        output=_base(rates.output_mtok),
        context_window=info.context_window,
        source="genai-prices",
        tiered=isinstance(rates.input_mtok, TieredPrices) or isinstance(rates.output_mtok, TieredPrices),
    )


def _base(rate: Decimal | TieredPrices | None) -> Decimal | None:
    return rate.base if isinstance(rate, TieredPrices) else rate


def _snapshot(providers: object) -> DataSnapshot:
    """Check raw data by the library's own schema. Raises ValueError."""
    if not isinstance(providers, list) or not providers:
        raise ValueError("the answer is no list of providers")
    return DataSnapshot(_providers_from_raw(providers), from_auto_update=True)


def _keep(directory: Path, content: object) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=directory, prefix=_FILE)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file)
        Path(name).replace(directory / _FILE)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
