"""What can go wrong with a model request on our own account.

Owns the exceptions that the streaming model raises itself, which the SDK passes through its runs. Their
text is for a person. Knows nothing of clients.
"""

from __future__ import annotations

from advchat.events import Outcome


class RequestError(Exception):
    """A request that did not give a whole answer."""

    outcome: Outcome = "failed"
    no_tokens = False
    """Whether it is certain that no model has worked."""


class SilentError(RequestError):
    """The connection stayed open and nothing came."""

    outcome = "interrupted"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"Nothing came from the model for {seconds:g} seconds, so the request was given up. "
            "Retry, or raise idle_timeout in the config."
        )


class CutOffError(RequestError):
    """The stream ended before the answer did."""

    outcome = "interrupted"

    def __init__(self) -> None:
        super().__init__("The connection ended before the answer did. Continue or Retry goes on.")


class NotAStreamError(RequestError):
    """A successful answer that is no model's, e.g. a web page."""

    def __init__(self, host: str, content_type: str) -> None:
        super().__init__(f"{host} answered with {content_type}, not as a model does. Check the base URL.")


class BlockedError(RequestError):
    """The provider's content filter ended the answer."""

    outcome = "refused"

    def __init__(self) -> None:
        super().__init__("The answer was blocked by the provider's content filter. Word the prompt otherwise.")


class NotAllowedError(RequestError):
    """A request that was kept from going out; the text says what keeps it."""

    no_tokens = True


class StreamError(RequestError):
    """An error object inside a stream that began well."""

    def __init__(self, message: str, code: str | None) -> None:
        self.code = code
        super().__init__(message)


class SettingsError(RequestError):
    """No request could be made with these settings; the text names the setting."""

    no_tokens = True
