from dataclasses import replace

from advchat.controller.item_views import calls_of, item_views, text_of, timed, turn_view
from advchat.state import ItemView
from advchat_storage.models import Turn, UsageSum


def test_a_tool_call_carries_its_output_wherever_that_stands() -> None:
    views = item_views(
        [
            {"type": "function_call", "call_id": "1", "name": "weather", "arguments": '{"city": "Oslo"}'},
            {"type": "function_call", "call_id": "2", "name": "time", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "2", "output": "noon"},
            {
                "type": "function_call_output",
                "call_id": "1",
                "output": [{"type": "input_text", "text": "rain"}],
            },
            {"role": "assistant", "content": [{"type": "output_text", "text": "It rains."}]},
        ]
    )

    assert views == [
        ItemView("tool", text="rain", name="weather", arguments='{"city": "Oslo"}', call_id="1"),
        ItemView("tool", text="noon", name="time", arguments="{}", call_id="2"),
        ItemView("text", text="It rains."),
    ]


def test_an_output_without_its_call_is_still_shown() -> None:
    assert item_views([{"type": "function_call_output", "call_id": "x", "output": "left over"}]) == [
        ItemView("tool", name="function_call", text="left over")
    ]


def test_hosted_and_mcp_tools_are_named_as_people_know_them() -> None:
    names = [
        view.name
        for view in item_views(
            [
                {"type": "web_search_call", "id": "w", "action": {"query": "x"}},
                {"type": "mcp_call", "id": "m", "name": "read", "server_label": "files", "arguments": "{}"},
                {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}},
            ]
        )
    ]

    assert names == ["web_search", "files.read", "shell"]


def test_empty_messages_and_silent_reasoning_leave_nothing() -> None:
    assert (
        item_views([{"type": "reasoning", "id": "r", "summary": []}, {"role": "assistant", "content": ""}])
        == []
    )


def test_refusals_and_attachments_have_a_text() -> None:
    assert text_of([{"type": "refusal", "refusal": "No."}]) == "No."
    assert (
        text_of([{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "x"}])
        == "see\n[image]"
    )
    assert text_of([{"type": "input_file", "filename": "a.pdf"}]) == "[a.pdf]"
    assert text_of(None) == ""
    assert text_of(7) == ""


def test_a_turn_keeps_its_prompt_apart_from_its_answer() -> None:
    turn = Turn(
        turn=2,
        message_id=7,
        created_at="t",
        items=({"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}),
        item_ids=(7, 8),
        item_times=("t", "t"),
        origin_branch="main",
        inherited=True,
        status="stopped",
        error=None,
    )

    view = turn_view(turn, UsageSum(requests=1))

    assert (view.turn, view.key, view.prompt, view.inherited, view.status) == (2, 7, "why?", True, "stopped")
    assert view.items == (ItemView("text", text="because"),)
    assert view.actions == ("continue", "retry")
    assert turn_view(replace(turn, items=turn.items[:1]), UsageSum()).actions == ("retry",)


def test_a_tool_call_gets_its_time_back() -> None:
    turn = Turn(
        turn=1,
        message_id=1,
        created_at="t",
        items=(
            {"role": "user", "content": "?"},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        ),
        item_ids=(1, 2, 3),
        item_times=("t", "t", "t"),
        origin_branch="main",
        inherited=False,
        status="completed",
        error=None,
    )

    assert calls_of([turn]) == ["a", "b"]
    assert [item.seconds for item in timed(turn_view(turn, UsageSum()), {"a": 1.5}).items] == [1.5, None]
