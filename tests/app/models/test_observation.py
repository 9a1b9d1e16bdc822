"""What is read beside the client."""

from __future__ import annotations

import json

from advchat.models.observation import Observation


def events(*values: object) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\r\n\r\n" for value in values)


def test_a_chat_stream_in_pieces_of_any_size() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    data = (
        events(
            {"model": "m-1", "choices": [{"delta": {"content": "ü"}, "finish_reason": None}]},
            {"model": "m-1", "choices": [{"delta": {}, "finish_reason": "length"}]},
            {"model": "m-1", "choices": [], "usage": usage},
        )
        + b": keep-alive\n\ndata: [DONE]\n\n"
    )
    for size in (1, 7, len(data)):
        seen = Observation()
        for start in range(0, len(data), size):
            seen.feed(data[start : start + size])
        assert (seen.api, seen.model, seen.finish, seen.usage) == ("chat", "m-1", "length", usage)


def test_a_responses_stream() -> None:
    seen = Observation()
    seen.feed(events({"type": "response.created", "response": {"model": "m-2", "status": "in_progress"}}))
    assert (seen.model, seen.finish) == ("m-2", None)
    end = {"model": "m-2", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    seen.feed(events({"type": "response.incomplete", "response": {**end, "usage": {"input_tokens": 1}}}))
    assert (seen.finish, seen.usage) == ("content_filter", {"input_tokens": 1})


def test_whole_answers() -> None:
    seen = Observation()
    seen.read_body(json.dumps({"object": "response", "model": "m", "status": "completed"}).encode())
    assert (seen.api, seen.finish, seen.usage) == ("responses", "stop", None)
    seen = Observation()
    seen.read_body(json.dumps({"model": "m", "choices": [{"finish_reason": "stop"}]}).encode())
    assert (seen.api, seen.finish) == ("chat", "stop")


def test_rubbish_is_passed_over() -> None:
    seen = Observation()
    seen.feed(b"data: {broken\n\ndata: [1, 2]\n\ndata: \xff\xfe\n\ndata: {}\n\nnonsense\n")
    assert (seen.api, seen.model, seen.finish) == (None, None, None)


def test_bytes_are_a_sign_of_life() -> None:
    touched: list[int] = []
    seen = Observation(touched=lambda: touched.append(1))
    seen.feed(b": keep-alive\n\n")
    assert touched == [1]
