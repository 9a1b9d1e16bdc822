"""Addresses of model endpoints.

Owns the reading of what people give as a base URL. Pure: asks no network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from advchat.config import Api

OPENAI = "https://api.openai.com/v1"

_ENDPOINTS: dict[str, Api | None] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/completions": None,
    "/models": None,
}
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DOUBLED = re.compile(r"(/v1)+$")


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL as an OpenAI client wants it, and the API that a full endpoint's URL has named."""

    base_url: str
    api: Api | None = None

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def is_openai(self) -> bool:
        """Whether it is the vendor's own service."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")


def read_address(given: str | None) -> Address:
    """Read a host, a base URL or a full endpoint URL; None is OpenAI's own.

    A bare host gets ``/v1``, a doubled ``/v1`` is one, and an endpoint's path is cut off.
    """
    if given is None or not given.strip():
        return Address(OPENAI)
    text = given.strip()
    if not _SCHEME.match(text):
        local = re.match(r"^(localhost|127\.|\[::1\]|0\.0\.0\.0)", text)
        text = ("http://" if local else "https://") + text
    parts = urlsplit(text)
    path, api = _without_endpoint(parts.path.rstrip("/"))
    path = _DOUBLED.sub("/v1", path) or "/v1"
    return Address(urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), api)


def _without_endpoint(path: str) -> tuple[str, Api | None]:
    for end, api in _ENDPOINTS.items():
        if path.endswith(end):
            return path.removesuffix(end).rstrip("/"), api
    return path, None
