"""The tour: its words, and its manners as a model."""

from __future__ import annotations

import pytest

from advchat.commands import COMMANDS, key_label
from advchat.config import Config
from advchat.models.names import describe
from advchat.models.tour_script import HEAD, TOPICS, answer
from tests.app.runner.conftest import make_chat
from tests.app.runner.kit import MakeChat

__all__ = ["make_chat"]


@pytest.mark.parametrize("prompt", ["", "hello", "How do I fork?", "what does it cost", "🤷", "[/b] \x1b[2J"])
@pytest.mark.parametrize("first", [True, False])
def test_every_answer_says_that_it_is_no_ai(prompt: str, first: bool) -> None:
    assert answer(prompt, first=first).startswith(f"{HEAD}\n\n")


def test_the_welcome_names_three_ways_to_a_model() -> None:
    said = answer("Hi", first=True)
    for way in ("OPENAI_API_KEY", "--base-url", "advchat[local]"):
        assert way in said


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("How can I fork a turn?", "Forking"),
        ("Which model is this?", "Models"),
        ("What did it cost?", "Usage"),
        ("Where do I search?", "Searching"),
        ("Show me the keyboard shortcuts", "Keys"),
    ],
)
def test_topics_are_found_by_their_words(prompt: str, title: str) -> None:
    assert f"## {title}" in answer(prompt, first=False)


def test_what_it_says_of_keys_is_what_the_registry_holds() -> None:
    said = answer("fork", first=False)
    fork = next(command for command in COMMANDS if command.id == "turn.fork")
    assert f"`{key_label(fork.keys[0])}`" in said
    assert fork.help in said


def test_every_topics_commands_exist_or_are_groups() -> None:
    for topic in TOPICS:
        assert topic.text
        assert len(answer(topic.words[0], first=False)) > 100


def test_the_users_own_keys_are_named() -> None:
    assert f"`{key_label('ctrl+t')}` or `/fork" in answer("fork", first=False, keys={"turn.fork": ("ctrl+t",)})


async def test_it_streams_and_has_usage_and_needs_no_network(make_chat: MakeChat) -> None:
    chat = await make_chat("http://127.0.0.1:9", model=None)
    result = await chat.ask("How do I fork?", model="tour")
    assert (result.outcome, result.error) == ("completed", None)
    assert chat.text.startswith(HEAD)
    assert len([event for event in chat.events if type(event).__name__ == "TextDelta"]) > 20
    row = chat.rows[0]
    assert (row.provider, row.model) == ("tour", "tour")
    assert row.output_tokens == len(chat.text.split())
    assert row.total_tokens == (row.input_tokens or 0) + (row.output_tokens or 0)
    first_input = row.input_tokens or 0
    await chat.ask("And usage?", model="tour")
    assert (chat.rows[0].input_tokens or 0) > first_input


def test_it_is_free_and_uses_no_tools() -> None:
    info = describe("tour", Config(), None)
    assert (info.free, info.can_use_tools, info.provider) == (True, False, "tour")
