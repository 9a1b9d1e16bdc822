"""Why a connection failed, in one line for a person.

Owns the reading of an exception's chain of causes down to the network, and the proxies' part in it. Knows
neither the SDK nor models.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator

_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
_UNSENT = frozenset({"ConnectError", "ConnectTimeout", "ProxyError", "PoolTimeout", "UnsupportedProtocol"})


def chain(error: BaseException) -> Iterator[BaseException]:
    """Give the error and everything that caused it, groups included."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions


def never_sent(error: BaseException) -> bool:
    """Whether the request cannot have reached anybody."""
    return any(type(cause).__name__ in _UNSENT for cause in chain(error))


def connection_line(error: BaseException, host: str) -> str:
    """Name the cause of a failed connection to ``host``, and the way out."""
    causes = list(chain(error))
    proxy = _proxy()
    via = f" through the proxy {proxy}" if proxy else ""
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"The certificate of {host} is not trusted ({cause.verify_message}). Where a proxy opens TLS, "
                "name its certificate authority in SSL_CERT_FILE."
            )
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "reason", None) or cause
            return f"No TLS with {host}{via} ({reason}). Is it http:// rather than https://?"
    if any(type(cause).__name__ == "ProxyError" for cause in causes):
        return f"The proxy {proxy} refused the connection to {host}. Check {_proxy_name()}, or unset it."
    for cause in causes:
        line = _socket_line(cause, host, via)
        if line is not None:
            return line
    if never_sent(error):
        return f"No connection to {host}{via}. Check the network{' and ' + _proxy_name() if proxy else ''}."
    return f"The connection to {host}{via} was lost. Continue or Retry goes on."


def proxy_fault(error: BaseException) -> str | None:
    """Name the proxy setting that keeps a client from being made at all; None when it is something else."""
    text = str(error)
    if isinstance(error, ImportError) and "socks" in text.lower():
        return (
            f"{_proxy_name()} names a SOCKS proxy, which needs the package socksio: install it beside advchat, "
            "or unset the variable."
        )
    if isinstance(error, ValueError) and "proxy" in text.lower():
        return f"{_proxy_name()} is no proxy that can be used: {text}"
    return None


def _socket_line(cause: BaseException, host: str, via: str) -> str | None:
    if isinstance(cause, socket.gaierror):
        wrong = _proxy() or host
        return f"The name of {wrong} could not be found. Check the network and the address."
    if isinstance(cause, ConnectionRefusedError) and via:
        return f"The proxy {_proxy()} is not there. Start it, unset {_proxy_name()}, or correct its address."
    if isinstance(cause, ConnectionRefusedError):
        return f"Nothing listens at {host}. Start the server, or check the address."
    if isinstance(cause, OSError) and cause.errno is not None and type(cause) is OSError and cause.strerror:
        return f"No connection to {host}{via}: {cause.strerror}. Check the network."
    return None


def _proxy_name() -> str:
    return next((name for name in _PROXIES if _value(name)), "HTTPS_PROXY")


def _proxy() -> str:
    """Return the proxy in force, without what may be a password."""
    value = _value(_proxy_name())
    return value.rpartition("@")[2] if "@" in value else value


def _value(name: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or ""
