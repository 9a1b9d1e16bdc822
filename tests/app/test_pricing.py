"""Costs, checked against the vendors' price pages as they are in the library's data."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import genai_prices
import pytest

from advchat.config import Config, OwnPrice
from advchat.pricing import PriceUpdateError, Pricing
from advchat_storage.models import RequestRecord

NANO = 1_000_000_000


def record(
    model: str | None = "gpt-4.1-mini",
    *,
    provider: str | None = "openai",
    asked: str | None = None,
    at: str = "2026-11-01T12:00:00.000000+00:00",
    **counts: int | None,
) -> RequestRecord:
    tokens: dict[str, int | None] = {"input_tokens": 0, "output_tokens": 0, **counts}
    base = RequestRecord(
        request_id="r1",
        run_id="run",
        branch_id="main",
        turn=1,
        agent=None,
        model_asked=asked or model,
        model=model,
        provider=provider,
        api="responses",
        started_at=at,
        first_token_at=None,
        finished_at=at,
        status="completed",
    )
    return replace(base, **tokens)  # type: ignore[arg-type]  # the keywords name token counts only


@pytest.fixture(scope="module")
def pricing(tmp_path_factory: pytest.TempPathFactory) -> Pricing:
    return Pricing(directory=tmp_path_factory.mktemp("prices"))


def own_prices(directory: Path, name: str, price: OwnPrice) -> Pricing:
    return Pricing(Config(prices={name: price}), directory=directory)


def test_a_million_tokens_cost_the_listed_rate(pricing: Pricing) -> None:
    priced = pricing.price(record(input_tokens=1_000_000, output_tokens=1_000_000))
    assert priced.cost_nano == 400_000_000 + 1_600_000_000
    assert (priced.price_source, priced.price_version) == ("genai-prices", genai_prices.__version__)
    assert priced.price_note is None


def test_case_52_cached_tokens_are_billed_once(pricing: Pricing) -> None:
    priced = pricing.price(record(input_tokens=1000, cached_tokens=800, output_tokens=0))
    assert priced.cost_nano == 200 * 400 + 800 * 100


def test_cache_writes_have_their_own_rate(pricing: Pricing) -> None:
    priced = pricing.price(
        record(
            "claude-haiku-4-5", provider="anthropic",
            input_tokens=10_000, cached_tokens=6000, cache_write_tokens=3000, output_tokens=100,
        )
    )  # fmt: skip
    assert priced.cost_nano == 1000 * 1000 + 6000 * 100 + 3000 * 1250 + 100 * 5000


def test_cache_writes_without_a_rate_cost_what_input_costs(pricing: Pricing) -> None:
    priced = pricing.price(record(input_tokens=1000, cache_write_tokens=400))
    assert priced.cost_nano == 1000 * 400


def test_reasoning_is_part_of_output(pricing: Pricing) -> None:
    with_reasoning = pricing.price(record("o3", input_tokens=100, output_tokens=1000, reasoning_tokens=900))
    without = pricing.price(record("o3", input_tokens=100, output_tokens=1000))
    assert with_reasoning.cost_nano == without.cost_nano == 100 * 2000 + 1000 * 8000


@pytest.mark.parametrize(("tokens", "dollars_per_million"), [(272_000, "2.5"), (272_001, "5")])
def test_a_tier_applies_to_the_whole_request(pricing: Pricing, tokens: int, dollars_per_million: str) -> None:
    priced = pricing.price(record("gpt-5.4", input_tokens=tokens))
    assert priced.cost_nano == tokens * Decimal(dollars_per_million) * 1000


def test_the_price_is_that_of_the_requests_time(pricing: Pricing) -> None:
    before = pricing.price(record("o3", at="2025-06-01T00:00:00+00:00", input_tokens=1000))
    after = pricing.price(record("o3", at="2025-06-20T00:00:00.000000+00:00", input_tokens=1000))
    naive = pricing.price(record("o3", at="2025-06-20T00:00:00", input_tokens=1000))
    assert (before.cost_nano, after.cost_nano, naive.cost_nano) == (10_000_000, 2_000_000, 2_000_000)


def test_a_batch_of_nothing_costs_nothing(pricing: Pricing) -> None:
    assert pricing.price(record(input_tokens=0, output_tokens=0)).cost_nano == 0


def test_case_54_an_unknown_model_is_unknown_not_zero(pricing: Pricing) -> None:
    for provider in ("openai", None, "nobody"):
        priced = pricing.price(record("no-such-model-7", provider=provider, input_tokens=10, output_tokens=0))
        assert priced.cost_nano is None
        assert priced.price_source is None
        assert priced.price_note == "no price is known for no-such-model-7"
    assert pricing.price(record("no-such-model-7")).cost_nano is None
    assert pricing.price(record(None)).cost_nano is None


def test_case_54_a_listed_model_without_rates_is_unknown(pricing: Pricing) -> None:
    unpriced = next(row for row in pricing.table("openai/") if row.input is None and row.output is None)
    assert pricing.price(record(unpriced.model, input_tokens=10)).cost_nano is None


def test_unknown_counts_are_unknown_costs(pricing: Pricing) -> None:
    for tokens_in, tokens_out in ((None, 5), (5, None), (None, None)):
        priced = pricing.price(record(input_tokens=tokens_in, output_tokens=tokens_out))
        assert priced.cost_nano is None
        assert priced.price_note == "the answer did not tell its usage"


def test_an_unknown_provider_is_priced_by_the_models_name(pricing: Pricing) -> None:
    for provider, who in ((None, "provider"), ("my-gateway", "provider my-gateway")):
        priced = pricing.price(record(provider=provider, input_tokens=1000))
        assert priced.cost_nano == 400_000
        assert priced.price_note == f"{who} not known, priced by the model's name as openai/gpt-4.1-mini"


def test_a_gateways_vendor_prefix_names_the_provider(pricing: Pricing) -> None:
    priced = pricing.price(record("openai/gpt-4.1-mini", provider=None, input_tokens=1000))
    assert priced.cost_nano == 400_000


def test_a_model_renamed_in_the_answer_is_priced_as_answered(pricing: Pricing) -> None:
    priced = pricing.price(record("gpt-4.1-mini-2025-04-14", asked="gpt-4.1", input_tokens=1000))
    assert priced.cost_nano == 400_000
    assert pricing.price(record(None, asked="gpt-4.1", input_tokens=1000)).cost_nano == 2_000_000


@pytest.mark.parametrize(("tokens", "nano"), [(1, 38), (3, 112), (5, 188), (2, 75)])
def test_rates_finer_than_a_nano_dollar_round_half_to_even(pricing: Pricing, tokens: int, nano: int) -> None:
    """37.5 nano-dollars a cached token: 37.5, 112.5, 187.5 and 75."""
    cached = record("openai/gpt-oss-20b", provider="groq", input_tokens=tokens, cached_tokens=tokens)
    assert pricing.price(cached).cost_nano == nano


def test_counts_that_do_not_add_up_are_cut_and_noted(pricing: Pricing) -> None:
    priced = pricing.price(record(input_tokens=100, cached_tokens=150, cache_write_tokens=7))
    assert priced.cost_nano == 100 * 100
    assert priced.price_note == "counts that did not add up were cut"
    assert pricing.price(record(input_tokens=-5, output_tokens=-1)).cost_nano == 0


def test_free_is_only_what_runs_here_by_itself(pricing: Pricing) -> None:
    for provider in ("local", "tour"):
        priced = pricing.price(record("smollm2-135m", provider=provider, input_tokens=None, output_tokens=None))
        assert (priced.cost_nano, priced.price_source) == (0, "free")
    assert pricing.price(record("smollm2-135m", provider=None, input_tokens=5)).cost_nano is None


def test_case_56_own_prices_are_dollars_per_million_tokens(tmp_path: Path) -> None:
    own = OwnPrice(input=Decimal("2.50"), output=Decimal(10), cached=Decimal("0.25"))
    priced = own_prices(tmp_path, "my-model", own).price(
        record("My-Model", provider=None, input_tokens=60_000, cached_tokens=20_000, output_tokens=1000)
    )
    assert priced.cost_nano == (Decimal("0.1") + Decimal("0.005") + Decimal("0.01")) * NANO
    assert priced.price_source == "config"
    assert priced.price_version == "input=2.50 cached=0.25 cache_write=2.50 output=10"


def test_own_prices_win_and_match_the_name_asked_for(tmp_path: Path) -> None:
    pricing = own_prices(tmp_path, "mine", OwnPrice(input=Decimal("0.0005"), output=Decimal(0)))
    priced = pricing.price(record("/models/mine.gguf", asked="Mine", input_tokens=1))
    assert (priced.cost_nano, priced.price_source) == (0, "config")
    assert pricing.price(record("/models/mine.gguf", asked="mine", input_tokens=3)).cost_nano == 2
    listed = own_prices(tmp_path, "gpt-4.1-mini", OwnPrice(Decimal(1), Decimal(1)))
    assert listed.price(record(input_tokens=7)).cost_nano == 7000


def test_own_free_is_free_even_without_usage(tmp_path: Path) -> None:
    pricing = own_prices(tmp_path, "llama", OwnPrice(free=True))
    priced = pricing.price(record("llama", provider=None, input_tokens=None, output_tokens=None))
    assert (priced.cost_nano, priced.price_source, priced.price_version) == (0, "free", "config")


def test_providers_are_known_by_their_address(pricing: Pricing) -> None:
    assert pricing.provider_id(None) == "openai"
    assert pricing.provider_id("https://api.groq.com/openai/v1") == "groq"
    assert pricing.provider_id("http://127.0.0.1:8080/v1") is None


def test_context_windows(pricing: Pricing) -> None:
    assert pricing.context_window("gpt-4.1-mini-2025-04-14", "openai") == 1_000_000
    assert pricing.context_window("gpt-5-nano", "nobody") == 400_000
    assert pricing.context_window("no-such-model-7") is None


def test_table_shows_own_prices_first(tmp_path: Path) -> None:
    pricing = own_prices(tmp_path, "gpt-4.1-mini", OwnPrice(Decimal(1), Decimal(2)))
    own, *rows = pricing.table("gpt-4.1-mini")
    assert (own.provider, own.source, own.cached, own.output) == ("", "config", Decimal(1), Decimal(2))
    row = next(row for row in rows if (row.provider, row.model) == ("openai", "gpt-4.1-mini"))
    rates = (row.input, row.cached, row.cache_write, row.output)
    assert rates == tuple(map(Decimal, ("0.4", "0.1", "0.4", "1.6")))
    assert row.context_window == 1_000_000
    assert next(row for row in pricing.table("OpenAI/gpt-5.4") if row.model == "gpt-5.4").tiered


def test_recompute_tells_what_would_change_and_never_forgets_a_price(pricing: Pricing) -> None:
    right = pricing.price(record(input_tokens=1000))
    wrong = replace(right, request_id="r2", cost_nano=7)
    unpriced = replace(right, request_id="r3", cost_nano=None, price_source=None)
    gone = replace(record("no-such-model-7", input_tokens=5), request_id="r4", cost_nano=9)
    changes = pricing.recompute([right, wrong, unpriced, gone])
    assert [(change.request_id, change.old_nano, change.cost_nano) for change in changes] == [
        ("r2", 7, 400_000),
        ("r3", None, 400_000),
    ]
    assert changes[0].change == ("r2", 400_000, "genai-prices", genai_prices.__version__, None)


PROVIDERS = [
    {
        "id": "openai",
        "name": "OpenAI",
        "api_pattern": "https://api\\.openai\\.com",
        "model_match": {"starts_with": "gpt-"},
        "models": [
            {
                "id": "gpt-4.1-mini",
                "match": {"starts_with": "gpt-4.1-mini"},
                "prices": {"input_mtok": 9, "output_mtok": 18},
            }
        ],
    }
]


@pytest.fixture
def prices_server() -> Iterator[tuple[str, list[bytes]]]:
    """Serves the newest of a list of answers as the price file."""
    answers: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if answers else 503)
            self.send_header("Content-Length", str(len(answers[-1]) if answers else 0))
            self.end_headers()
            self.wfile.write(answers[-1] if answers else b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/data.json", answers
    server.shutdown()
    server.server_close()
    thread.join()


def test_update_is_kept_for_the_next_start(tmp_path: Path, prices_server: tuple[str, list[bytes]]) -> None:
    url, answers = prices_server
    answers.append(json.dumps(PROVIDERS).encode())
    pricing = Pricing(directory=tmp_path / "new")
    assert pricing.price(record(input_tokens=1000)).cost_nano == 400_000
    version = pricing.update(url)
    assert version.startswith(f"{genai_prices.__version__}+20")
    for later in (pricing, Pricing(directory=tmp_path / "new")):
        priced = later.price(record(input_tokens=1000))
        assert (priced.cost_nano, priced.price_version) == (9_000_000, version)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["prices.json"]


def test_an_update_for_another_library_is_passed_over(tmp_path: Path) -> None:
    kept = {"library": "0.0.1", "fetched_at": "2020-01-01", "providers": PROVIDERS}
    for text in (json.dumps(kept), "{", "[]", '{"library": null}'):
        (tmp_path / "prices.json").write_text(text)
        assert Pricing(directory=tmp_path).price(record(input_tokens=1000)).cost_nano == 400_000


@pytest.mark.parametrize("answer", [None, b"{", b"{}", b"[]", b'[{"id": "x"}]'])
def test_a_failed_update_leaves_prices_as_they_were(
    tmp_path: Path, prices_server: tuple[str, list[bytes]], answer: bytes | None
) -> None:
    url, answers = prices_server
    if answer is not None:
        answers.append(answer)
    pricing = Pricing(directory=tmp_path)
    with pytest.raises(PriceUpdateError) as caught:
        pricing.update(url)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"no new prices from {url}: ")
    assert pricing.price(record(input_tokens=1000)).cost_nano == 400_000
    assert list(tmp_path.iterdir()) == []


def test_an_update_without_network_is_one_line(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/x"
    with pytest.raises(PriceUpdateError, match=f"^no new prices from {url}: [^\n]+$"):
        Pricing(directory=tmp_path).update(url)
