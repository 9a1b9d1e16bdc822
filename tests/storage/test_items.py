"""Every kind of item that the SDK stores: what it is taken for, and that it comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advchat_storage import AdvancedSQLiteSession
from advchat_storage.items import classify, content_preview, cut, encode, says
from advchat_storage.parsing import INVALID, parse

KINDS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("user message", {"role": "user", "content": "Hello"}, "user", None),
    ("user message without content", {"role": "user"}, "user", None),
    (
        "user message with parts",
        {"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, {"type": "input_image"}]},
        "user",
        None,
    ),
    ("assistant message", {"role": "assistant", "type": "message", "content": []}, "assistant", None),
    (
        "refusal",
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        "assistant",
        None,
    ),
    ("system message", {"role": "system", "content": "Be brief"}, "other", None),
    ("typed system message", {"role": "system", "type": "message"}, "message", None),
    ("reasoning", {"type": "reasoning", "id": "rs_1", "summary": []}, "reasoning", None),
    ("function call", {"type": "function_call", "name": "add", "call_id": "1"}, "function_call", "add"),
    (
        "function call with a namespace",
        {"type": "function_call", "name": "add", "namespace": "math"},
        "function_call",
        "math.add",
    ),
    (
        "function call named as its namespace",
        {"type": "function_call", "name": "add", "namespace": "add"},
        "function_call",
        "add",
    ),
    ("function call without a name", {"type": "function_call", "namespace": "math"}, "function_call", None),
    ("function output", {"type": "function_call_output", "call_id": "1"}, "function_call_output", None),
    ("custom call", {"type": "custom_tool_call", "name": "grep"}, "custom_tool_call", "grep"),
    ("custom output", {"type": "custom_tool_call_output", "call_id": "1"}, "custom_tool_call_output", None),
    ("computer call", {"type": "computer_call", "name": "other"}, "computer_call", "computer_call"),
    ("computer output", {"type": "computer_call_output"}, "computer_call_output", None),
    ("file search", {"type": "file_search_call"}, "file_search_call", "file_search_call"),
    ("web search", {"type": "web_search_call"}, "web_search_call", "web_search_call"),
    ("code interpreter", {"type": "code_interpreter_call"}, "code_interpreter_call", "code_interpreter_call"),
    ("shell call", {"type": "shell_call"}, "shell_call", "shell_call"),
    ("shell output", {"type": "shell_call_output"}, "shell_call_output", None),
    ("local shell call", {"type": "local_shell_call"}, "local_shell_call", None),
    ("apply patch", {"type": "apply_patch_call"}, "apply_patch_call", "apply_patch_call"),
    ("mcp call", {"type": "mcp_call", "name": "read", "server_label": "files"}, "mcp_call", "files.read"),
    ("mcp call without a server", {"type": "mcp_call", "name": "read"}, "mcp_call", "read"),
    ("mcp call without a name", {"type": "mcp_call", "server_label": "files"}, "mcp_call", "files"),
    ("mcp call without either", {"type": "mcp_call"}, "mcp_call", None),
    (
        "mcp approval request",
        {"type": "mcp_approval_request", "name": "read", "server_label": "files"},
        "mcp_approval_request",
        "files.read",
    ),
    ("mcp list", {"type": "mcp_list_tools", "server_label": "files"}, "mcp_list_tools", None),
    ("tool search", {"type": "tool_search_call", "call_id": "1"}, "tool_search_call", "tool_search"),
    ("tool search output", {"type": "tool_search_output"}, "tool_search_output", "tool_search"),
    ("image generation", {"type": "image_generation_call"}, "image_generation_call", None),
    ("something new", {"type": "dream", "name": "sheep"}, "dream", "sheep"),
    ("nothing at all", {}, "other", None),
]


@pytest.mark.parametrize(
    ("item", "message_type", "tool"), [kind[1:] for kind in KINDS], ids=[k[0] for k in KINDS]
)
async def test_kind(item: dict[str, Any], message_type: str, tool: str | None) -> None:
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items([item])
        assert await session.get_items() == [item]
        turn = 1 if message_type == "user" else 0
        assert await session.get_conversation_by_turns() == {turn: [{"type": message_type, "tool_name": tool}]}


async def test_calls_are_counted_per_tool_and_turn() -> None:
    calls = [
        {"type": "function_call", "name": "add"},
        {"type": "function_call_output", "name": "add"},
        {"type": "function_call", "name": "add"},
        {"type": "custom_tool_call", "name": "grep"},
        {"type": "computer_call"},
        {"type": "file_search_call"},
        {"type": "web_search_call"},
        {"type": "code_interpreter_call"},
        {"type": "shell_call"},
        {"type": "apply_patch_call"},
        {"type": "mcp_call", "name": "read", "server_label": "files"},
        {"type": "image_generation_call"},
    ]
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items([{"role": "user", "content": "1"}, *calls])
        await session.add_items([{"role": "user", "content": "2"}, {"type": "function_call", "name": "add"}])
        assert await session.get_tool_usage() == [
            ("add", 2, 1),
            ("apply_patch_call", 1, 1),
            ("code_interpreter_call", 1, 1),
            ("computer_call", 1, 1),
            ("file_search_call", 1, 1),
            ("files.read", 1, 1),
            ("grep", 1, 1),
            ("shell_call", 1, 1),
            ("web_search_call", 1, 1),
            ("add", 1, 2),
        ]


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (["tool_search_call", "tool_search_output"], 1),
        (["tool_search_output", "tool_search_output"], 2),
        (["tool_search_call", "tool_search_call", "tool_search_output"], 2),
        (["tool_search_call", "tool_search_output", "tool_search_output"], 1),
    ],
)
async def test_a_tool_search_counts_by_its_calls_else_by_its_outputs(kinds: list[str], count: int) -> None:
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items([{"role": "user", "content": "1"}, *({"type": kind} for kind in kinds)])
        assert await session.get_tool_usage() == [("tool_search", count, 1)]


async def test_calls_that_early_files_have_no_name_for(tmp_path: Path) -> None:
    async with AdvancedSQLiteSession(
        session_id="c", db_path=tmp_path / "chat.db", create_tables=True
    ) as session:
        await session.add_items([{"role": "user", "content": "1"}, {"type": "shell_call"}])
        with session._locked_connection() as connection:
            connection.execute("UPDATE message_structure SET tool_name = NULL")
        assert await session.get_tool_usage() == [("shell_call", 1, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "Grüße",
        "👩‍👩‍👧",
        "سلام report.txt",
        "e\u0301",
        "\u202eevil",
        "tab\tand\nline",
        "a\0b",
        "\x1b[2J",
        "ﬀ ſ K İ",
        "\u2028",
    ],
)
async def test_odd_text_comes_back_whole(text: str) -> None:
    item = {"role": "user", "content": text}
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items([item])
        assert await session.get_items() == [item]
        assert [turn["full_content"] for turn in await session.find_turns_by_content(text)] == [text]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a\ud800b", "a\ufffdb"), ("\udfff", "\ufffd"), ("\ud83d\ude00", "😀"), ("\\ud800", "\\ud800")],
)
async def test_case_8_lone_surrogates_become_usable_text(given: str, kept: str) -> None:
    async with AdvancedSQLiteSession(session_id="c", create_tables=True) as session:
        await session.add_items(
            [{"role": "user", "content": [{"type": "input_text", "text": given, given: 1}]}]
        )
        (item,) = await session.get_items()
        assert item == {"role": "user", "content": [{"type": "input_text", "text": kept, kept: 1}]}
        assert json.dumps(item, ensure_ascii=False).encode()


def test_a_row_with_a_lone_surrogate_that_another_program_wrote_is_read_usable() -> None:
    assert parse(b'{"content": "a\\ud800b"}') == {"content": "a\ufffdb"}


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff\xfe", b"{'a': 1}", b"[" * 100_000])
def test_what_is_no_json_is_told_apart_from_null(data: bytes | None) -> None:
    assert parse(data) is INVALID
    assert parse(b"null") is None


def test_an_item_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        encode({"role": "user", "content": object()})


def test_what_is_no_mapping_is_of_another_kind() -> None:
    assert [classify(item) for item in ("text", None, 5, ["x"])] == [("other", None)] * 4


def test_previews_are_strings() -> None:
    assert content_preview("text") == "text"
    assert content_preview(None) == "null"
    assert content_preview([{"type": "input_text", "text": "é"}]) == '[{"type": "input_text", "text": "é"}]'
    assert (cut("x" * 100), cut("x" * 101)) == ("x" * 100, "x" * 100 + "...")


def test_only_ascii_letters_are_alike_in_either_case() -> None:
    assert says("ÄRGER mit ABC", "abc")
    assert not says("ÄRGER", "ä")
    assert not says(None, "null")
    assert says([None, {"text": 5}, {"text": "Abc"}], "abc")
