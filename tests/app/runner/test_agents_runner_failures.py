"""Requests that fail: what is told, what is tried again, and what is kept."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest

from advchat.config import Api, Config
from advchat.events import RequestEnded, Waiting
from tests.app.runner.kit import MakeChat
from tests.server import (
    Cut,
    Drop,
    Fail,
    HttpReply,
    ModelServer,
    Raw,
    Refusal,
    Text,
    error,
    html,
    quota,
    rate_limited,
    say,
)
from tests.server.certificate import self_signed

APIS = pytest.mark.parametrize("api", ["responses", "chat"])


@APIS
async def test_case_34_an_error_inside_a_stream_keeps_what_came(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Text("par", size=3), Fail("The server broke [/")))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial) == ("failed", "par")
    assert result.error == f"127.0.0.1:{model_server.port}: The server broke [/"
    assert await chat.lines() == ["user: Hi", "assistant: par"]
    assert [(row.status, row.total_tokens, row.estimated_output_tokens) for row in chat.rows] == [
        ("failed", None, 1)
    ]
    assert (await chat.ask("Again")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Hi", "assistant: par", "user: Again"]


@APIS
@pytest.mark.parametrize("text", ["", "par"])
async def test_case_36_a_filtered_answer_says_that_it_was_blocked(
    make_chat: MakeChat, model_server: ModelServer, api: Api, text: str
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(*([text] if text else []), finish="content_filter"))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial, chat.text) == ("refused", text, text)
    assert result.error == (
        "The answer was blocked by the provider's content filter. Word the prompt otherwise."
    )
    assert [row.status for row in chat.rows] == ["refused"]
    assert chat.rows[0].total_tokens == model_server.billed.total
    assert (await chat.ask("Again")).outcome == "completed"


@APIS
@pytest.mark.parametrize("end", [Cut(), Drop()])
async def test_case_37_a_stream_that_breaks_off_is_interrupted(
    make_chat: MakeChat, model_server: ModelServer, api: Api, end: Cut | Drop
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Text("par", size=3), end))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial, chat.text) == ("interrupted", "par", "par")
    assert "Continue or Retry goes on." in (result.error or "")
    assert await chat.lines() == ["user: Hi", "assistant: par"]
    assert [row.status for row in chat.rows] == ["failed"]


async def test_a_length_limit_is_told_and_the_answer_kept(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    for api in ("responses", "chat"):
        chat = await make_chat(api=api)
        model_server.script(say("So far", finish="length"))
        result = await chat.ask("Hi")
        assert (result.outcome, chat.text) == ("interrupted", "So far")
        assert result.error == "The answer reached the model's output limit. Continue goes on."
        assert await chat.lines() == ["user: Hi", "assistant: So far"]
        assert [row.status for row in chat.rows] == ["completed"]


@APIS
async def test_a_refusal_is_told_and_its_words_kept(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Refusal("I would rather not.")))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial, chat.text) == ("refused", *["I would rather not."] * 2)
    assert result.error == "The model declined to answer. Word the prompt otherwise."
    assert [(row.status, row.total_tokens) for row in chat.rows] == [("refused", model_server.billed.total)]
    assert await chat.lines() == ["user: Hi", "assistant: I would rather not."]
    assert (await chat.ask("Again")).outcome == "completed"


async def test_case_44_no_quota_is_not_tried_again(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    await chat.runner.prepare()
    model_server.script(quota())
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert "no quota left. Check its plan and billing" in (result.error or "")
    assert len(model_server.requests) == 1
    assert chat.of(Waiting) == []


@APIS
async def test_case_44_a_rate_limit_is_waited_out_in_sight(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    await chat.runner.prepare()
    model_server.script(rate_limited(0.01), "At last")
    result = await chat.ask("Hi")
    assert (result.outcome, chat.text) == ("completed", "At last")
    waits = chat.of(Waiting)
    assert [wait.seconds for wait in waits] == [0.01]
    assert "limits how much may be asked" in waits[0].reason
    assert [(row.status, row.total_tokens) for row in chat.rows] == [
        ("failed", 0),
        ("completed", model_server.billed.total),
    ]
    assert [event.status for event in chat.of(RequestEnded)] == ["failed", "completed"]


async def test_case_44_a_wait_beyond_bounds_is_told_at_once(
    make_chat: MakeChat, model_server: ModelServer
) -> None:
    chat = await make_chat(api="chat")
    model_server.script(rate_limited(86_400))
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert "in 24 h" in (result.error or "")
    assert len(model_server.requests) == 1


async def test_a_passing_failure_is_tried_again(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    model_server.script(error(503, "overloaded"), error(500, "oops"), "Fine")
    assert (await chat.ask("Hi")).outcome == "completed"
    assert [row.status for row in chat.rows] == ["failed", "failed", "completed"]


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


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("no top_p", None),
    ],
)
async def test_case_48_a_setting_that_a_model_refuses_is_left_out(
    make_chat: MakeChat, model_server: ModelServer, tmp_path: Path, message: str, param: str | None
) -> None:
    file = tmp_path / "warm.py"
    file.write_text(
        "from agents import Agent, ModelSettings\n"
        "agent = Agent(name='Warm', model_settings=ModelSettings(temperature=0.5, top_p=0.9))\n"
    )
    chat = await make_chat(api="chat", agent=f"{file}:agent")
    model_server.script(error(400, message, param=param), "Fine", "Fine again")
    assert (await chat.ask("Hi")).outcome == "completed"
    assert (await chat.ask("Hi")).outcome == "completed"
    refused = "temperature" if param else "top_p"
    assert [refused in seen.body for seen in model_server.requests] == [True, False, False]


@APIS
@pytest.mark.parametrize("role", ["system", "developer"])
async def test_case_48_a_refused_system_role_goes_into_the_prompt(
    make_chat: MakeChat, model_server: ModelServer, api: Api, role: str
) -> None:
    chat = await make_chat(api=api)
    model_server.script(error(400, f"Message role '{role}' is not supported by this model"), "Fine")
    assert (await chat.ask("Hi", instructions="Be brief.")).outcome == "completed"
    assert model_server.requests[-1].lines == ["user: Be brief.\n\nHi"]
    assert model_server.requests[-1].instructions is None


async def test_an_endpoint_without_stream_options(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    model_server.script(error(400, "Unrecognized request argument supplied: stream_options"), "Fine")
    assert (await chat.ask("Hi")).outcome == "completed"
    assert (chat.rows[0].total_tokens, chat.rows[0].input_tokens) == (None, None)


async def test_any_other_refusal_is_one_line(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    model_server.script(error(400, '{"a":[1]}\n[/INST]\n[/'))
    result = await chat.ask("Hi")
    assert result.error == (f'127.0.0.1:{model_server.port} refused the request (400): {{"a":[1]}} [/INST] [/')


@APIS
async def test_case_49_a_web_page_of_an_error_is_one_line(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(html(502), html(502), html(502))
    result = await chat.ask("Hi")
    assert result.error == (
        f"127.0.0.1:{model_server.port} answered 502: a web page, “502 Bad Gateway”. Retry, or try again later."
    )
    assert len(chat.rows) == 3


@APIS
async def test_a_web_page_in_place_of_an_answer(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(HttpReply(200, b"<html>Log in first</html>", content_type="text/html"))
    result = await chat.ask("Hi")
    assert result.outcome == "failed"
    assert "answered with text/html, not as a model does. Check the base URL." in (result.error or "")


async def test_rubbish_in_a_stream_fails_the_run(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat(api="chat")
    model_server.script(say(Text("par", size=3), Raw(b"data: {not json\n\n"), "tial"))
    result = await chat.ask("Hi")
    assert (result.outcome, result.partial) == ("failed", "par")


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


@APIS
async def test_case_8_lone_surrogates_are_replaced_both_ways(
    make_chat: MakeChat, model_server: ModelServer, api: Api
) -> None:
    chat = await make_chat(api=api)
    model_server.script(say(Text("a\ud800b 😀 c", size=2)), say(Text("x", size=1), "\udfff"))
    result = await chat.ask("Say \ud83d please")
    assert (result.outcome, chat.text) == ("completed", "a\ufffdb 😀 c")
    assert model_server.requests[0].prompt == "Say \ufffd please"
    result = await chat.ask("And?")
    assert (result.outcome, chat.text) == ("completed", "x\ufffd")
    assert model_server.requests[1].lines[1] == "assistant: a\ufffdb 😀 c"


async def test_case_10_nul_passes_through(make_chat: MakeChat, model_server: ModelServer) -> None:
    chat = await make_chat()
    model_server.script(say("ab\0cd"))
    await chat.ask("Hi\0there")
    assert await chat.lines() == ["user: Hi\0there", "assistant: ab\0cd"]


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
