from advchat.controller.tree_views import ancestors, branch_rows, resolve_branch, siblings
from advchat_storage.models import Branch


def branch(
    branch_id: str,
    parent: str | None = None,
    fork_turn: int | None = None,
    *,
    title: str = "",
    pinned: bool = False,
) -> Branch:
    return Branch(
        branch_id=branch_id,
        title=title,
        title_source="manual" if title else "none",
        parent=parent,
        fork_turn=fork_turn,
        fork_kind="root" if parent is None else "before",
        user_turns=1,
        message_count=2,
        is_current=False,
        created_at="2026-01-01",
        last_used_at="2026-01-01",
        binned_at=None,
        model=None,
        pinned=pinned,
        unread=False,
        budget_nano=None,
        own_cost_nano=None,
        own_cost_at_least=False,
    )


TREE = [
    branch("main"),
    branch("a", "main", 2, title="Idea"),
    branch("b", "main", 2, title="ideal"),
    branch("aa", "a", 3),
    branch("c", "main", 5),
]


def test_rows_are_depth_first_with_rails_where_siblings_follow() -> None:
    rows = branch_rows(TREE, "aa", {"b"})

    assert [(row.branch.branch_id, row.depth, row.rails, row.last) for row in rows] == [
        ("main", 0, (), True),
        ("a", 1, (False,), False),
        ("aa", 2, (False, True), True),
        ("b", 1, (False,), False),
        ("c", 1, (False,), True),
    ]
    assert [row.branch.branch_id for row in rows if row.on_path] == ["main", "a", "aa"]
    assert [row.branch.branch_id for row in rows if row.running] == ["b"]
    assert rows[0].children == 3


def test_pinned_branches_come_first_among_their_siblings() -> None:
    rows = branch_rows([branch("main"), branch("x", "main", 2), branch("y", "main", 2, pinned=True)], "main")

    assert [row.branch.branch_id for row in rows] == ["main", "y", "x"]


def test_a_branch_whose_parent_is_missing_is_a_root() -> None:
    rows = branch_rows([branch("main"), branch("lost", "gone", 2)], "main")

    assert [(row.branch.branch_id, row.depth) for row in rows] == [("main", 0), ("lost", 0)]


def test_siblings_part_at_the_same_turn_of_the_same_parent() -> None:
    assert siblings(TREE, "a") == ["main", "a", "b"]
    assert siblings(TREE, "c") == ["main", "c"]
    assert siblings(TREE, "main") == ["main", "c"]
    assert siblings([branch("main")], "main") == ["main"]
    assert siblings(TREE, "nothing") == []


def test_ancestors_end_even_where_parents_run_in_a_circle() -> None:
    assert ancestors(TREE, "aa") == ["aa", "a", "main"]
    assert ancestors([branch("x", "y"), branch("y", "x")], "x") == ["x", "y"]


def test_a_branch_is_named_by_id_then_title_then_a_prefix_of_one() -> None:
    assert resolve_branch(TREE, "main") == "main"
    assert resolve_branch(TREE, " aa ") == "aa"
    assert resolve_branch(TREE, "IDEA") == "a"
    assert resolve_branch(TREE, "ideal") == "b"
    assert resolve_branch(TREE, "ide") is None
    assert resolve_branch(TREE, "nothing") is None
    assert resolve_branch(TREE, "") is None


def test_a_thousand_nested_branches_are_laid_out() -> None:
    chain = [branch("main"), *(branch(f"b{n}", f"b{n - 1}" if n else "main", 2) for n in range(1000))]

    assert branch_rows(chain, "main")[-1].depth == 1000
