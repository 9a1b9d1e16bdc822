"""How base URLs are read."""

from __future__ import annotations

import pytest

from advchat.models.addresses import OPENAI, read_address


@pytest.mark.parametrize(
    ("given", "base_url", "api"),
    [
        (None, OPENAI, None),
        ("  ", OPENAI, None),
        ("https://api.openai.com", OPENAI, None),
        ("https://api.openai.com/v1/", OPENAI, None),
        ("https://api.openai.com/v1/v1", OPENAI, None),
        ("http://localhost:8080", "http://localhost:8080/v1", None),
        ("localhost:8080", "http://localhost:8080/v1", None),
        ("[::1]:8080", "http://[::1]:8080/v1", None),
        ("models.example", "https://models.example/v1", None),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1", None),
        ("https://x.example/v1beta/openai/", "https://x.example/v1beta/openai", None),
        ("https://x.example/v1/responses", "https://x.example/v1", "responses"),
        ("https://x.example/v1/chat/completions/", "https://x.example/v1", "chat"),
        ("https://x.example/chat/completions", "https://x.example/v1", "chat"),
        ("https://x.example/openai/v1/models", "https://x.example/openai/v1", None),
        ("https://x.example/v1?api-version=3#top", "https://x.example/v1?api-version=3", None),
        (" HTTP://x.example/v1 ", "http://x.example/v1", None),
    ],
)
def test_case_46_what_people_give(given: str | None, base_url: str, api: str | None) -> None:
    address = read_address(given)
    assert (address.base_url, address.api) == (base_url, api)


def test_the_host_is_told_without_a_password() -> None:
    assert read_address("https://me:secret@x.example:8443/v1").host == "x.example:8443"


@pytest.mark.parametrize(
    ("given", "is_openai"),
    [
        (None, True),
        ("https://eu.api.openai.com/v1", True),
        ("https://openai.com.example/v1", False),
        ("https://notopenai.com/v1", False),
    ],
)
def test_the_vendors_own_service(given: str | None, is_openai: bool) -> None:
    assert read_address(given).is_openai is is_openai
