"""The graph of branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from textual.geometry import Offset

from advchat.widgets.branches import BranchTree, rails
from advchat.widgets.rows import Cell
from tests.app.fakes import branch, row, some_branches
from tests.app.widgets.host import Host, lines

WIDE = (48, 12)


async def test_the_graph_shows_rails_titles_turns_cost_and_state() -> None:
    tree = BranchTree()
    async with Host(tree).run_test(size=WIDE) as pilot:
        tree.show(some_branches())
        await pilot.pause()
        shown = lines(tree)
    assert shown[0].startswith(" ○ main")
    assert shown[0].endswith("4 $0.0123")
    assert shown[1].startswith(" ├─◉ A shorter answer")
    assert shown[2].startswith(" │ └─○ en français")
    assert shown[2].endswith("⟳   3 unknown")
    assert "●" in shown[3]
    assert shown[4].startswith(" └─○ with a title that is")
    assert "≥$0.001" in shown[4]


async def test_case_14_wide_letters_keep_the_columns_aligned() -> None:
    tree = BranchTree()
    async with Host(tree).run_test(size=WIDE) as pilot:
        titles = (
            "plain",
            "用中文解释一下这个问题好吗",
            "😀 emoji ❤️",
            "עברית",
            "e\u0301 combining",
            "[/] \x1b[2J",
        )
        tree.show(tuple(row(branch(f"b{place}", title=title)) for place, title in enumerate(titles)))
        await pilot.pause()
        for y, _ in enumerate(titles):
            text = tree.render_line(y).text
            assert cell_len(text) == tree.row_width
            assert cell_len(text[: text.index("$")]) == tree.row_width - 8


async def test_the_cursor_stays_on_its_branch_and_follows_a_new_current_one() -> None:
    tree = BranchTree()
    async with Host(tree).run_test(size=WIDE) as pilot:
        tree.show(some_branches())
        await pilot.pause()
        assert tree.chosen is not None
        assert tree.chosen.branch.branch_id == "shorter"
        tree.cursor = 3
        more = (*some_branches()[:1], row(branch("new")), *some_branches()[1:])
        tree.show(more)
        assert tree.chosen.branch.branch_id == "zh"
        tree.show(some_branches(current="b4"))
        assert tree.chosen.branch.branch_id == "b4"


async def test_a_click_chooses_the_branch() -> None:
    tree = BranchTree()
    app = Host(tree)
    async with app.run_test(size=WIDE) as pilot:
        tree.show(some_branches())
        await pilot.pause()
        await pilot.click(BranchTree, offset=Offset(5, 2))
        chosen = app.hear(BranchTree.Chosen)
        assert [message.index for message in chosen] == [2]
        await pilot.click(BranchTree, offset=Offset(5, 9))
        assert len(app.hear(BranchTree.Chosen)) == 1


async def test_only_rows_in_view_are_drawn_of_ten_thousand() -> None:
    drawn: list[int] = []

    class Counting(BranchTree):
        def cells(self, index: int, width: int) -> Sequence[Cell]:
            drawn.append(index)
            return super().cells(index, width)

    tree = Counting()
    async with Host(tree).run_test(size=WIDE) as pilot:
        tree.show(tuple(row(branch(f"b{number}")) for number in range(10_000)))
        await pilot.pause()
        tree.focus()
        drawn.clear()
        await pilot.press("end")
        await pilot.pause()
        assert 9_999 in drawn
        assert len(set(drawn)) <= 2 * WIDE[1]


def test_deep_rails_leave_room_for_the_title() -> None:
    deep = row(branch("deep"), 60, (True,) * 60)
    assert cell_len(rails(deep, 36)) <= 14
    assert rails(deep, 36).startswith("⋯")
    assert rails(replace(deep, depth=0), 36) == ""
    assert rails(row(branch("a"), 2, (False, True), last=False), 36) == "│ ├─"


async def test_no_branches_say_what_to_do() -> None:
    tree = BranchTree()
    async with Host(tree).run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "No branches yet: send a prompt." in "\n".join(lines(tree))
