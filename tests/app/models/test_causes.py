"""Causes of failed connections."""

from __future__ import annotations

import itertools
import socket
import ssl

import pytest

from advchat.models.causes import chain, connection_line, never_sent, proxy_fault


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def caused(*errors: BaseException) -> BaseException:
    for outer, inner in itertools.pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


class ConnectError(Exception):
    """Named as the HTTP client's."""


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (socket.gaierror(-2, "Name or service not known"), "The name of h could not be found"),
        (ConnectionRefusedError(111, "refused"), "Nothing listens at h"),
        (OSError(101, "Network is unreachable"), "No connection to h: Network is unreachable"),
        (ssl.SSLError(1, "[SSL] wrong version"), "No TLS with h"),
        (ConnectionResetError(104, "reset"), "The connection to h was lost"),
    ],
)
def test_case_50_the_cause_is_named(error: BaseException, part: str) -> None:
    assert part in connection_line(caused(RuntimeError("Connection error."), error), "h")


def test_case_50_a_cause_inside_a_group_is_found() -> None:
    group = ExceptionGroup("all failed", [ConnectionRefusedError(111, "refused")])
    assert "Nothing listens at h" in connection_line(caused(RuntimeError(), OSError("all failed"), group), "h")


def test_a_circle_of_causes_ends() -> None:
    first, second = RuntimeError("1"), RuntimeError("2")
    first.__context__, second.__context__ = second, first
    assert list(chain(first)) == [first, second]


def test_what_was_never_sent() -> None:
    assert never_sent(caused(RuntimeError(), ConnectError()))
    assert not never_sent(caused(RuntimeError(), ConnectionResetError()))


def test_case_50_a_proxys_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.example:3128")
    line = connection_line(caused(RuntimeError(), ConnectError(), ConnectionRefusedError(111, "x")), "h")
    assert "proxy.example:3128" in line
    assert "secret" not in line


def test_errors_that_are_no_proxys() -> None:
    assert proxy_fault(ImportError("no module named foo")) is None
    assert proxy_fault(ValueError("bad url")) is None
    assert "is no proxy" in (proxy_fault(ValueError("Unknown scheme for proxy URL")) or "")
