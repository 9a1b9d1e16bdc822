"""What two texts do not share."""

from hypothesis import given
from hypothesis import strategies as st

from advchat.differences import Span, differences


def changed(spans: tuple[Span, ...]) -> list[str]:
    return [span.text.strip() for span in spans if span.changed]


def test_only_the_words_that_differ_are_marked() -> None:
    left, right = differences("the quick fox", "the slow fox")

    assert left == (Span("the", changed=False), Span(" quick", changed=True), Span(" fox", changed=False))
    assert right == (Span("the", changed=False), Span(" slow", changed=True), Span(" fox", changed=False))


@given(st.text(), st.text())
def test_spans_joined_are_the_text_to_the_letter(one: str, other: str) -> None:
    left, right = differences(one, other)

    assert "".join(span.text for span in left) == one
    assert "".join(span.text for span in right) == other
    assert "".join(s.text for s in left if not s.changed) == "".join(s.text for s in right if not s.changed)


@given(st.text())
def test_equal_texts_have_no_differences(text: str) -> None:
    left, right = differences(text, text)

    assert changed(left) == changed(right) == []
    assert "".join(span.text for span in left) == text


def test_lines_that_both_have_are_found_however_long_the_texts() -> None:
    same = "word " * 30_000 + "\n"

    left, right = differences(f"{same}left\n{same}", f"{same}right\n{same}")

    assert (changed(left), changed(right)) == (["left"], ["right"])


def test_a_huge_passage_without_common_lines_is_told_as_changed_whole() -> None:
    one, other = "a " * 25_000, "b a " * 25_000

    left, right = differences(one, other)

    assert left == (Span(one, changed=True),)
    assert right == (Span(other, changed=True),)


def test_an_empty_side_leaves_all_of_the_other_changed() -> None:
    assert differences("", "some words") == ((), (Span("some words", changed=True),))
