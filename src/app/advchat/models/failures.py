"""Why a request or a run failed, in one line for a person.

Owns the reading of every exception that a client, a network, the SDK or the user's own code raises: the
outcome, the line that names cause and way out, and whether trying again is of use. ``causes`` owns the
networks' part. Imports the SDK: import it late.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import agents
import openai

from advchat.events import Outcome
from advchat.models.causes import connection_line, never_sent
from advchat.models.faults import RequestError, StreamError
from advchat_storage.errors import StorageError

Retry = Literal["no", "limited", "transient"]

_LINE_LIMIT = 400
_TRANSIENT = frozenset({408, 409, 500, 502, 503, 504, 520, 522, 524, 529})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_TRIPWIRES = (
    agents.InputGuardrailTripwireTriggered,
    agents.OutputGuardrailTripwireTriggered,
    agents.ToolInputGuardrailTripwireTriggered,
    agents.ToolOutputGuardrailTripwireTriggered,
)
_SDK_ERRORS = {
    agents.MaxTurnsExceeded: "The agent called its tools without coming to an end. Continue lets it go on.",
    agents.ModelBehaviorError: "The model's answer could not be used: {}",
    agents.exceptions.ModelTimeoutError: "The agent's own time limit was reached: {}",
    agents.ToolTimeoutError: "The agent's own time limit was reached: {}",
}
_LONG_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure, read."""

    outcome: Outcome
    line: str
    detail: str | None = None
    """A traceback, where the user's own code has failed."""
    retry: Retry = "no"
    wait: float | None = None
    """Seconds that the provider asks to wait."""
    no_tokens: bool = False
    """Whether it is certain that no model has worked, so that the request has cost nothing."""
    unknown_model: str | None = None
    """The model that the endpoint does not know, where that is the cause."""
    withdrawn: bool = False
    """Whether the answer must not be kept: the user's guardrail has refused it."""


def of_request(error: Exception, *, host: str, model: str | None, base_url: str = "") -> Failure:
    """Tell what ``error`` means for a request to ``model`` at ``host``."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, host=host, model=model, base_url=base_url)
    if isinstance(error, openai.APIConnectionError):
        unsent = never_sent(error)
        line = one_line(connection_line(error, host))
        return Failure("failed" if unsent else "interrupted", line, no_tokens=unsent)
    if isinstance(error, openai.APIError):
        return Failure("failed", one_line(f"{host}: {_message(error.body, error.message)}"))
    if isinstance(error, StreamError):
        return Failure("failed", one_line(f"{host}: {error}"))
    return of_run(error)


def of_run(error: BaseException) -> Failure:
    """Tell what ``error``, raised by the SDK, the store or the user's own code, means for the run."""
    if isinstance(error, RequestError):
        detail = getattr(error, "detail", None)
        return Failure(error.outcome, one_line(str(error)), detail, no_tokens=error.no_tokens)
    if isinstance(error, StorageError | openai.OpenAIError):
        return Failure("failed", one_line(str(error)))
    if isinstance(error, agents.exceptions.ModelRefusalError):
        return Failure("refused", "The model declined to answer. Word the prompt otherwise.")
    if isinstance(error, _TRIPWIRES):
        return Failure(
            "refused", f"The agent's guardrail “{_guardrail_name(error)}” stopped the run.", withdrawn=True
        )
    for kind, words in _SDK_ERRORS.items():
        if isinstance(error, kind):
            return Failure("failed", one_line(words.format(error)))
    return _of_own_code(error)


def one_line(text: str) -> str:
    """Put a message on one line of bearable length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE_LIMIT else flat[: _LINE_LIMIT - 1] + "…"


def trace(error: BaseException) -> str:
    """Return the traceback as text."""
    return "".join(traceback.format_exception(error)).rstrip()


def _of_status(error: openai.APIStatusError, *, host: str, model: str | None, base_url: str) -> Failure:
    status, code = error.status_code, _code(error)
    message = _message(error.body, error.response.text if error.response.is_closed else error.message)
    charged = status >= 500
    if status == 429:
        return _of_limit(error, code, host, message)
    if status in _TRANSIENT and code not in _QUOTA_CODES:
        line = f"{host} answered {status}: {message}. Retry, or try again later."
        return Failure("failed", one_line(line), retry="transient", wait=_wait(error), no_tokens=not charged)
    if code == "model_not_found" or (status in (400, 404) and _names_model(message)):
        line = f"{host} does not know the model “{model}”: {message}. Choose another with /model or --model."
        return Failure("failed", one_line(line), no_tokens=True, unknown_model=model)
    line = _status_line(status, code, message, host=host, model=model, base_url=base_url)
    return Failure("failed", one_line(line), no_tokens=not charged)


def _of_limit(error: openai.APIStatusError, code: str | None, host: str, message: str) -> Failure:
    if code in _QUOTA_CODES or "exceeded your current quota" in message.lower():
        line = f"{host}: the account has no quota left. Check its plan and billing. ({message})"
        return Failure("failed", one_line(line), no_tokens=True)
    wait = _wait(error)
    when = "later" if wait is None else f"in {_span(wait)}"
    line = f"{host} limits how much may be asked: {message}. Try again {when}."
    return Failure("failed", one_line(line), retry="limited", wait=wait, no_tokens=True)


def _span(seconds: float) -> str:
    """Write a span of time for people."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _status_line(
    status: int, code: str | None, message: str, *, host: str, model: str | None, base_url: str
) -> str:
    named = {
        401: f"{host} does not accept the API key (401): {message}. Set OPENAI_API_KEY or api_key anew.",
        402: f"{host}: the account has no credit left. Check its plan and billing. ({message})",
        403: f"{host} forbids it (403): {message}. Check what the key may do.",
        404: f"Nothing answers at {base_url} (404): {message}. Check the base URL.",
    }
    if code in _QUOTA_CODES:
        return named[402]
    if code in _LONG_CODES or "context length" in message or "context window" in message:
        return (
            f"The conversation is too long for {model}: {message}. Fork at an earlier turn, or change models."
        )
    return named.get(status, f"{host} refused the request ({status}): {message}")


def _names_model(message: str) -> bool:
    lowered = message.lower()
    missing = any(word in lowered for word in ("not exist", "not found", "unknown", "does not support"))
    return "model" in lowered and missing and "url" not in lowered


def _code(error: openai.APIError) -> str | None:
    body = error.body if isinstance(error.body, Mapping) else {}
    inner = body.get("error")
    given = (inner if isinstance(inner, Mapping) else body).get("code") or error.code
    return str(given) if given else None


def _message(body: object, fallback: str) -> str:
    """Find the provider's own words in an error's body, whatever its shape, without a page's markup."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner.rstrip(".")
        if isinstance(inner, Mapping):
            said = inner.get("message") or inner.get("detail") or inner.get("code")
            return str(said if isinstance(said, str) else json.dumps(said or dict(inner))).rstrip(".")
    text = body if isinstance(body, str) and body else fallback
    if re.search(r"<\s*(!doctype|html|head|body)", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        return f"a web page, “{one_line(title[1])}”" if title else "a web page"
    return one_line(text).rstrip(".") or "no reason given"


def _wait(error: openai.APIStatusError) -> float | None:
    """Read how long the provider asks to wait, in seconds."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        given = headers.get(name)
        if given is None:
            continue
        try:
            return max(0.0, float(given) / unit)
        except ValueError:
            pass
        try:
            until = parsedate_to_datetime(given)
        except ValueError:
            continue
        return max(0.0, (until.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    return None


def _of_own_code(error: BaseException) -> Failure:
    """Read what the user's tools, hooks and guardrails raise; the SDK wraps some of it."""
    cause = error.__cause__ if isinstance(error, agents.UserError) and error.__cause__ else error
    wrong = isinstance(cause, agents.exceptions.AgentsException)
    what = str(cause) if wrong else f"{type(cause).__name__}: {cause}"
    return Failure("failed", one_line(f"The agent's own code failed: {what}"), detail=trace(cause))


def _guardrail_name(error: BaseException) -> str:
    result: Any = getattr(error, "guardrail_result", None)
    guardrail = getattr(error, "guardrail", None) or getattr(result, "guardrail", None)
    named: Any = getattr(guardrail, "get_name", None)
    return str(named() if callable(named) else getattr(guardrail, "name", None) or type(guardrail).__name__)
