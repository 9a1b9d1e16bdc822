"""How refusals of many shapes are read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import openai
import pytest
from agents import ModelSettings

from advchat.models import failures
from advchat.models.quirks import learn, speaks_other_api, without


def refusal(status: int, body: Any = None, headers: dict[str, str] | None = None) -> openai.APIStatusError:
    request = httpx2.Request("POST", "https://x.example/v1/responses")
    response = httpx2.Response(status, request=request, headers=headers, text=str(body))
    inner = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError(f"Error code: {status}", response=response, body=inner)


def line(error: Exception) -> str:
    told = failures.of_request(error, host="h", model="m", base_url="https://h/v1").line
    assert "\n" not in told
    assert len(told) <= 400
    return told


@pytest.mark.parametrize(
    ("status", "body", "part"),
    [
        (400, {"error": {"message": "bad\nthing"}}, "h refused the request (400): bad thing"),
        (400, {"error": "plain words"}, "h refused the request (400): plain words"),
        (400, {"detail": [{"loc": ["x"], "msg": "missing"}]}, "missing"),
        (400, "just text", "h refused the request (400): just text"),
        (400, "", "h refused the request (400): no reason given"),
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, "too long for m"),
        (402, {"error": {"message": "pay"}}, "no credit left"),
        (403, {"error": {"message": "region"}}, "h forbids it (403): region"),
        (404, {"error": {"message": "model 'm' not found"}}, "does not know the model “m”"),
        (404, {"error": {"message": "no route"}}, "Nothing answers at https://h/v1 (404): no route"),
        (413, "<html><body>big</body></html>", "a web page"),
        (400, {"error": {"message": "x" * 5000}}, "xxx…"),
    ],
)
def test_a_refusal_is_one_line(status: int, body: object, part: str) -> None:
    assert part in line(refusal(status, body))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "150"}, 0.15),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, 0.0),
        ({}, None),
    ],
)
def test_case_44_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    told = failures.of_request(refusal(429, {"error": {"message": "slow"}}, headers), host="h", model="m")
    assert (told.retry, told.wait) == ("limited", seconds)


def test_case_44_a_wait_until_a_date() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    told = failures.of_request(refusal(429, {}, {"retry-after": until}), host="h", model="m")
    assert told.wait is not None
    assert 590 < told.wait <= 600
    assert "in 10 min" in told.line


@pytest.mark.parametrize(
    ("status", "message", "other"),
    [
        (404, "Not Found", True),
        (405, "Method Not Allowed", True),
        (501, "not implemented", True),
        (404, "model 'x' not found, try pulling it first", False),
        (400, "The responses endpoint is not supported", True),
        (422, "'messages' is a required property", True),
        (400, "Unknown endpoint", True),
        (400, "temperature is not supported", False),
        (401, "no key", False),
    ],
)
def test_an_endpoint_without_the_api_is_recognised(status: int, message: str, other: bool) -> None:
    assert speaks_other_api(refusal(status, {"error": {"message": message}})) is other


def asked(**options: Any) -> dict[str, Any]:
    return {"system_instructions": "Be.", "input": "Hi", "model_settings": ModelSettings(), **options}


def test_case_48_nothing_is_left_out_that_was_not_sent() -> None:
    omitted: set[str] = set()
    assert not learn(refusal(400, {"error": {"message": "temperature is bad"}}), omitted, asked())
    assert not learn(refusal(500, {"error": {"message": "temperature"}}), omitted, asked())
    assert omitted == set()


def test_case_48_each_refusal_is_learnt_once() -> None:
    omitted: set[str] = set()
    sent = asked(model_settings=ModelSettings(temperature=1.0))
    refused = refusal(400, {"error": {"message": "x", "param": "temperature"}})
    assert learn(refused, omitted, sent)
    assert without(sent, omitted)["model_settings"].temperature is None
    assert not learn(refused, omitted, without(sent, omitted))


def test_reasoning_of_another_account_is_left_out() -> None:
    items = [{"type": "reasoning", "id": "r"}, {"role": "user", "content": "Hi"}]
    omitted: set[str] = set()
    refused = refusal(400, {"error": {"message": "The encrypted content could not be verified."}})
    assert learn(refused, omitted, asked(input=items))
    assert without(asked(input=items), omitted)["input"] == items[1:]
