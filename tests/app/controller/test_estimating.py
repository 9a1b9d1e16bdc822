from dataclasses import replace

from advchat.controller.estimating import estimate
from advchat.state import SendEstimate
from advchat_storage import RequestRecord
from advchat_storage.calibration import Calibration

KNOWN = Calibration(
    input_tokens=900, output_tokens=100, cached_tokens=800, characters=4000, model="m", provider="p"
)


def price(record: RequestRecord) -> RequestRecord:
    """Input 10, cached 1, output 100 nano-dollars a token."""
    fresh = (record.input_tokens or 0) - (record.cached_tokens or 0)
    return replace(
        record, cost_nano=fresh * 10 + (record.cached_tokens or 0) + (record.output_tokens or 0) * 100
    )


def unknown_price(record: RequestRecord) -> RequestRecord:
    return replace(record, cost_nano=None)


def about(text: str, known: Calibration | None, window: int | None = 2000) -> SendEstimate | None:
    return estimate(text, known, [10, 50], price=price, model="m", provider="p", window=window)


def test_nothing_is_told_before_a_count_is_known() -> None:
    assert about("hello", None) is None


def test_the_count_grows_by_the_ratio_that_the_provider_showed() -> None:
    told = about("x" * 368, KNOWN)

    assert told is not None
    assert told.input_tokens == 1000 + 100
    assert told.context_left == 2000 - 1100
    assert told.cached_share == 900 / 1100
    assert told.low_nano == 200 * 10 + 900 + 10 * 100
    assert told.high_nano == 1100 * 10 + 50 * 100


def test_no_cache_is_promised_where_the_provider_told_of_none() -> None:
    never = about("x", replace(KNOWN, cached_tokens=0))
    silent = about("x", replace(KNOWN, cached_tokens=None))

    assert never is not None
    assert silent is not None
    assert never.cached_share == 0
    assert silent.cached_share is None


def test_an_unknown_price_stays_unknown() -> None:
    told = estimate("x", KNOWN, [], price=unknown_price, model="m", provider="p", window=None)

    assert told is not None
    assert (told.low_nano, told.high_nano, told.context_left) == (None, None, None)
