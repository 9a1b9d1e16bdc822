import pytest

from advchat.naming import branch_label


@pytest.mark.parametrize(
    ("branch_id", "title", "label"),
    [
        ("main", "", "main"),
        ("draft", "", "draft"),
        ("draft", "Better", "Better"),
        ("branch_from_turn_2_1775000000", "", "fork of turn 2"),
        ("branch_from_turn_12_1775000000_3", "", "fork of turn 12"),
        ("branch_after_turn_2_1775000000", "", "fork after turn 2"),
        ("branch_from_turn_2_1775000000", "Mine", "Mine"),
        ("branch_from_turn_x_1", "", "branch_from_turn_x_1"),
    ],
)
def test_a_branch_is_named_as_people_know_it(branch_id: str, title: str, label: str) -> None:
    assert branch_label(branch_id, title) == label
