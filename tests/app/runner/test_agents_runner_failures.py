"""Requests that fail: what is told, what is tried again, and what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from advchat.config import Api
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
