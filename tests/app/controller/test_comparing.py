from hypothesis import given
from hypothesis import strategies as st

from advchat.controller.comparing import align, answer_text, common_prefix, differences
from advchat.state import ItemView, Span, TurnView


def turn(key: int, prompt: str, answer: str = "") -> TurnView:
    return TurnView(
        turn=key, key=key, prompt=prompt, items=(ItemView("text", text=answer),), status="completed"
    )


def test_only_the_words_that_differ_are_marked() -> None:
    left, right = differences("the quick fox", "the slow fox")

    assert left == (Span("the ", changed=False), Span("quick", changed=True), Span(" fox", changed=False))
    assert right == (Span("the ", changed=False), Span("slow", changed=True), Span(" fox", changed=False))


@given(st.text(), st.text())
def test_spans_joined_are_the_text_to_the_letter(one: str, other: str) -> None:
    left, right = differences(one, other)

    assert "".join(span.text for span in left) == one
    assert "".join(span.text for span in right) == other
    assert "".join(s.text for s in left if not s.changed) == "".join(s.text for s in right if not s.changed)


def test_long_texts_are_told_apart_by_line() -> None:
    same = "word " * 30_000 + "\n"

    left, right = differences(same + "left\n", same + "right\n")

    assert left[-1] == Span("left\n", changed=True)
    assert right[-1] == Span("right\n", changed=True)


def test_turns_stand_side_by_side_and_a_missing_one_is_none() -> None:
    rows = align([turn(3, "a", "x"), turn(4, "b")], [turn(5, "a", "y")])

    assert [(row.left and row.left.key, row.right and row.right.key) for row in rows] == [(3, 5), (4, None)]
    assert rows[0].prompts[0] == (Span("a", changed=False),)
    assert rows[0].answers == ((Span("x", changed=True),), (Span("y", changed=True),))


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
