"""Random items of every kind that a session stores.

Owns hypothesis strategies for one item and for a batch. Knows the wire shapes of the Responses API and no
session class.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Item = dict[str, Any]

WORDS = ("weather", "Weather", "Paris", "100%", "a_b", "back\\slash", '"quoted"', "it's", "%", "_", "naïve")
ODD = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfffy",
    "👩‍👩‍👧‍👦",
    "שלום",
    "\u202eabc",
    "İı",
    "ß",
    "ﬃ",
    "e\u0301",
    "\x1b[2J",
    "北京",
    "🇩🇪",
)
LONG = "long text " * 15

texts = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(ODD),
    st.just(LONG),
    st.lists(st.sampled_from(WORDS + ODD), min_size=2, max_size=4).map(" ".join),
    st.text(max_size=12),
)
"""What a person or a model writes: words that searches hit, and text that breaks programs."""

calls = st.sampled_from(("call_1", "call_2", "call_3"))
tools = st.sampled_from(("lookup", "get_weather", "tool_x", "", "Ünï"))
servers = st.sampled_from(("github", "files", ""))


def _item(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Item]:
    return st.fixed_dictionaries(fields)


def _kind(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Item]:
    return _item(type=st.just(kind), **fields)


parts = st.one_of(
    _kind("input_text", text=texts),
    _kind("input_image", image_url=st.just("data:image/png;base64,AAAA"), detail=st.just("auto")),
    _kind("input_file", file_id=st.just("file_1"), filename=texts),
    _kind("input_audio", input_audio=st.just({"data": "AAAA", "format": "wav"})),
)
user_messages = st.one_of(
    _item(role=st.just("user"), content=texts),
    _kind("message", role=st.just("user"), content=texts),
    _item(role=st.just("user"), content=st.lists(parts, max_size=3)),
    _item(role=st.just("user"), content=st.none()),
    _item(role=st.just("user")),
)
"""User messages, multimodal and without content ones included."""

answer_parts = st.one_of(
    _kind("output_text", text=texts, annotations=st.just([])),
    _kind("refusal", refusal=texts),
)
assistant_messages = st.one_of(
    _item(role=st.just("assistant"), content=texts),
    _kind(
        "message",
        id=st.just("msg_1"),
        role=st.just("assistant"),
        status=st.just("completed"),
        content=st.lists(answer_parts, min_size=1, max_size=2),
    ),
    _item(role=st.sampled_from(("system", "developer", "tool", "critic")), content=texts),
)
tool_calls = st.one_of(
    _kind("function_call", call_id=calls, name=tools, arguments=st.just("{}")),
    _kind("function_call", call_id=calls, name=tools, namespace=tools, arguments=st.just("{}")),
    _kind("custom_tool_call", call_id=calls, name=tools, input=texts),
    _kind("computer_call", call_id=calls, id=st.just("cc"), action=st.just({"type": "screenshot"})),
    _kind(
        "file_search_call", id=st.just("fs"), queries=st.lists(texts, max_size=2), status=st.just("completed")
    ),
    _kind("web_search_call", id=st.just("ws"), status=st.just("completed")),
    _kind("code_interpreter_call", id=st.just("ci"), code=texts, container_id=st.just("c")),
    _kind("image_generation_call", id=st.just("ig"), result=st.none(), status=st.just("completed")),
    _kind("local_shell_call", call_id=calls, action=st.just({"type": "exec", "command": ["ls"]})),
    _kind("shell_call", call_id=calls, action=st.just({"commands": ["ls"]})),
    _kind("apply_patch_call", call_id=calls, operation=st.just({"type": "delete_file", "path": "a"})),
    _kind("mcp_call", id=st.just("mcp_1"), name=tools, server_label=servers, arguments=st.just("{}")),
    _kind("mcp_call", id=st.just("mcp_1"), name=tools, arguments=st.just("{}")),
    _kind("mcp_list_tools", id=st.just("l"), server_label=servers, tools=st.just([])),
    _kind("mcp_approval_request", id=st.just("r"), name=tools, server_label=servers, arguments=st.just("{}")),
    _kind("tool_search_call", call_id=calls, arguments=st.just({"query": "q"}), status=st.just("completed")),
    _kind("tool_call", call_id=calls, name=tools),
    _kind("function_call", call_id=calls),
)
tool_outputs = st.one_of(
    _kind("function_call_output", call_id=calls, output=texts),
    _kind("custom_tool_call_output", call_id=calls, output=texts),
    _kind("computer_call_output", call_id=calls, output=st.just({"type": "computer_screenshot"})),
    _kind("local_shell_call_output", id=st.just("o"), output=texts),
    _kind("shell_call_output", call_id=calls, output=st.just([])),
    _kind("apply_patch_call_output", call_id=calls, status=st.just("completed")),
    _kind("mcp_approval_response", approval_request_id=st.just("r"), approve=st.booleans()),
    _kind("tool_search_output", call_id=calls, tools=st.just([])),
)
others = st.one_of(
    _kind("reasoning", id=st.just("rs_1"), summary=st.lists(_kind("summary_text", text=texts), max_size=1)),
    _kind("item_reference", id=st.just("msg_1")),
    _kind("compaction", encrypted_content=texts),
    _kind(
        "something_new",
        payload=st.recursive(texts | st.integers() | st.none(), lambda s: st.lists(s, max_size=2)),
    ),
    _item(content=texts),
    st.just({}),
)
items = st.one_of(user_messages, user_messages, assistant_messages, tool_calls, tool_outputs, others)
"""One item; user messages often, because they open turns."""

batches = st.lists(items, max_size=5)
