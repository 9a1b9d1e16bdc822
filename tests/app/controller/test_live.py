from advchat.controller.live import LiveTurn
from advchat.events import ReasoningDelta, RequestEnded, TextDelta, ToolFinished, ToolStarted
from advchat.state import ItemView, TurnView


def live() -> LiveTurn:
    return LiveTurn(TurnView(turn=1, key=1, prompt="?", items=(), status="running"))


def test_pieces_of_one_kind_grow_together_and_a_tool_parts_them() -> None:
    turn = live()
    for event in (
        ReasoningDelta("r", "think"),
        TextDelta("r", "Let me "),
        TextDelta("r", "look."),
        ToolStarted("r", "c", "weather", "{}"),
        ToolFinished("r", "c", "weather", "rain", 0.5),
        TextDelta("r", "It rains."),
    ):
        turn.feed(event)

    assert turn.view.items == (
        ItemView("reasoning", text="think"),
        ItemView("text", text="Let me look."),
        ItemView("tool", text="rain", name="weather", arguments="{}", seconds=0.5, call_id="c"),
        ItemView("text", text="It rains."),
    )
    assert turn.text == "Let me look.\n\nIt rains."
    assert turn.reasoning == "think"


def test_a_running_tool_shows_as_running() -> None:
    turn = live()
    turn.feed(ToolStarted("r", "c", "weather", "{}"))

    assert turn.view.items[0].running


def test_parallel_tools_finish_in_any_order() -> None:
    turn = live()
    turn.feed(ToolStarted("r", "1", "a", ""))
    turn.feed(ToolStarted("r", "2", "b", ""))
    turn.feed(ToolFinished("r", "2", "b", "two", 1))
    turn.feed(ToolFinished("r", "1", "a", "one", 2))

    assert [(item.name, item.text, item.running) for item in turn.view.items] == [
        ("a", "one", False),
        ("b", "two", False),
    ]


def test_events_without_content_change_nothing() -> None:
    turn = live()
    turn.feed(RequestEnded("r", "q", "m", "completed", 1, 0, 1, None))
    turn.feed(ToolFinished("r", "unknown", "x", "y", 1))

    assert turn.view.items == ()
