"""Reaching an endpoint: addresses, APIs, keys, proxies, certificates."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest

from advchat.config import Config
from tests.app.runner.kit import MakeChat
from tests.server import (
    ModelServer,
    error,
)
from tests.server.certificate import self_signed


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/v1", "/v1/responses", "/v1/chat/completions/"])
async def test_case_46_an_address_is_read_as_it_is_meant(
    make_chat: MakeChat, model_server: ModelServer, path: str
) -> None:
    chat = await make_chat(model_server.url + path)
    assert (await chat.ask("Hi")).outcome == "completed"
    expected = "/v1/chat/completions" if "chat" in path else "/v1/responses"
    assert [seen.path for seen in model_server.requests] == [expected]


async def test_case_46_a_wrong_address_is_shown(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(model_server.url + "/elsewhere/v1")
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert f"Nothing answers at {model_server.url}/elsewhere/v1 (404)" in (result.error or "")


@pytest.mark.parametrize("status", [404, 405, 400])
async def test_the_api_is_found_out_from_the_real_request_once(make_chat: MakeChat, status: int) -> None:
    async with ModelServer(apis=("chat",)) as server:
        if status != 404:
            server.refuse_path("/v1/responses", error(status, "Unsupported endpoint: /v1/responses"))
        chat = await make_chat(server.base_url)
        await chat.ask("One")
        await chat.ask("Two")
        assert [seen.path for seen in server.others] == ["/v1/responses"]
        assert [seen.lines for seen in server.requests] == [
            ["user: One"],
            ["user: One", "assistant: Echo: One", "user: Two"],
        ]
        assert [(row.status, row.api) for row in chat.rows] == [("completed", "chat")]
        await chat.store.close()


async def test_a_missing_model_is_no_missing_api(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    missing = error(404, "The model `nope` does not exist", code="model_not_found")
    model_server.script(missing)
    result = await chat.ask("Hi", model="nope")
    assert "does not know the model “nope”" in (result.error or "")
    assert (result.error or "").endswith("Choose another with /model or --model. It offers test-model.")
    assert [seen.api for seen in model_server.requests] == ["responses"]


async def test_case_50_a_certificate_that_is_not_trusted_is_named(make_chat: MakeChat, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    server = await ModelServer().start(tls=tls)
    chat = await make_chat(server.base_url)
    result = await chat.ask("Hi")
    await server.close()
    assert result.outcome == "failed"
    assert f"The certificate of 127.0.0.1:{server.port} is not trusted" in (result.error or "")
    assert "SSL_CERT_FILE" in (result.error or "")
    assert [(row.status, row.total_tokens) for row in chat.rows] == [("failed", 0)]


async def test_case_50_tls_with_a_plain_server_is_named(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(model_server.base_url.replace("http:", "https:"))
    result = await chat.ask("Hi")
    assert "No TLS with 127.0.0.1" in (result.error or "")


async def test_case_50_a_dead_proxy_is_named(make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = f"127.0.0.1:{_closed_port()}"
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@{proxy}")
    chat = await make_chat("https://model.invalid/v1")
    result = await chat.ask("Hi")
    assert result.error == (
        f"The proxy {proxy} is not there. Start it, unset HTTPS_PROXY, or correct its address."
    )


async def test_case_50_a_socks_proxy_is_named(make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    chat = await make_chat("https://model.invalid/v1")
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert "ALL_PROXY names a SOCKS proxy" in (result.error or "")
    assert result.detail is None


async def test_case_50_this_machine_is_asked_without_a_proxy(
    make_chat: MakeChat, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{_closed_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    chat = await make_chat()
    assert (await chat.ask("Hi")).outcome == "completed"


async def test_case_50_nothing_listens(make_chat: MakeChat) -> None:
    port = _closed_port()
    chat = await make_chat(f"http://127.0.0.1:{port}/v1")
    result = await chat.ask("Hi")
    assert result.error == f"Nothing listens at 127.0.0.1:{port}. Start the server, or check the address."
    assert await chat.lines() == ["user: Hi"]


async def test_case_50_an_unknown_host(make_chat: MakeChat) -> None:
    chat = await make_chat("http://model.invalid/v1")
    result = await chat.ask("Hi")
    assert result.error == "The name of model.invalid could not be found. Check the network and the address."


async def test_case_82_a_key_is_trimmed(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(key="  sk-test\n")
    assert (await chat.ask("Hi")).outcome == "completed"
    assert model_server.requests[0].headers["authorization"] == "Bearer sk-test"


async def test_case_82_a_key_that_cannot_be_sent_is_named(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    chat = await make_chat(key="sk-tеst")
    result = await chat.ask("Hi")
    assert result.error == (
        "The API key holds CYRILLIC SMALL LETTER IE (U+0435) at character 5, which no key does. "
        "Copy the key again."
    )
    assert (model_server.requests, chat.rows) == ([], [])


async def test_a_refused_key(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    model_server.script(error(401, "Incorrect API key provided: sk-test", code="invalid_api_key"))
    result = await chat.ask("Hi")
    assert "does not accept the API key (401): Incorrect API key provided: …." in (result.error or "")
    assert "sk-test" not in (chat.rows[0].error or "")


async def test_case_83_a_local_server_needs_no_key(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(key=None)
    assert (await chat.ask("Hi")).outcome == "completed"


async def test_neither_key_nor_endpoint_is_one_line(make_chat: MakeChat) -> None:
    chat = await make_chat(config=Config())
    result = await chat.ask("Hi", model="gpt-4.1")
    assert "There is no key for OpenAI. Set OPENAI_API_KEY" in (result.error or "")


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
