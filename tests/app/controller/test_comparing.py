from advchat.controller.comparing import align, common_prefix
from advchat.differences import Span
from advchat.state import ItemView, TurnView, answer_text


def turn(key: int, prompt: str, answer: str = "") -> TurnView:
    return TurnView(
        turn=key, key=key, prompt=prompt, items=(ItemView("text", text=answer),), status="completed"
    )


def test_turns_stand_side_by_side_and_a_missing_one_is_none() -> None:
    rows = align([turn(3, "a", "x"), turn(4, "b")], [turn(5, "a", "y")])

    assert [(row.left and row.left.key, row.right and row.right.key) for row in rows] == [(3, 5), (4, None)]
    assert rows[0].prompts()[0] == (Span("a", changed=False),)
    assert rows[0].answers() == ((Span("x", changed=True),), (Span("y", changed=True),))


def test_branches_share_the_turns_of_one_key() -> None:
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2
    assert common_prefix([], [1]) == 0
    assert common_prefix([1], [1, 2]) == 1


def test_tools_are_part_of_what_is_compared() -> None:
    view = TurnView(
        1,
        1,
        "?",
        (ItemView("tool", name="f", arguments="{}", text="ok"), ItemView("text", text="done")),
        "completed",
    )

    assert answer_text(view) == "⚙ f({}) → ok\n\ndone"
