"""The screens' parts that know no screen: panels, places, the line of jobs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from advchat.actions import UserError
from advchat.screens.line import Line
from advchat.screens.panels import PANELS, Panels
from advchat.screens.places import shared_turns_end
from advchat.state import BranchRow
from tests.app.fakes import branch, row


def test_wide_panels_are_unfolded_until_folded() -> None:
    panels = Panels(width=160)
    assert all(panels.seen(panel) for panel in PANELS)
    panels.fold("usage")
    assert not panels.seen("usage")
    panels.width = 100
    assert not any(panels.seen(panel) for panel in PANELS)
    panels.unfold("turns")
    assert [panel for panel in PANELS if panels.seen(panel)] == ["turns"]
    assert not panels.alone
    panels.width = 79
    assert panels.alone
    assert panels.close()
    assert not panels.close()
    panels.width = 160
    assert [panel for panel in PANELS if panels.seen(panel)] == ["branches", "turns"]


def tree() -> list[BranchRow]:
    def make(ident: str, parent: str | None, fork: int | None) -> BranchRow:
        return row(replace(branch(ident, parent=parent), fork_turn=fork))

    return [
        make("main", None, None),
        make("a", "main", 3),
        make("b", "main", 5),
        make("aa", "a", 7),
        make("ab", "a", 2),
        make("lost", None, None),
    ]


@pytest.mark.parametrize(
    ("one", "other", "end"),
    [
        ("main", "a", 3),
        ("a", "main", 3),
        ("a", "b", 3),
        ("aa", "a", 7),
        ("aa", "main", 3),
        ("aa", "b", 3),
        ("ab", "aa", 2),
        ("ab", "main", 2),
        ("main", "lost", None),
        ("main", "nowhere", None),
    ],
)
def test_where_two_branches_part(one: str, other: str, end: int | None) -> None:
    assert shared_turns_end(tree(), one, other) == end


async def test_jobs_are_done_in_order_and_a_failure_is_said() -> None:
    said: list[str] = []
    done: list[str] = []
    line = Line(said.append)
    gate = asyncio.Event()

    async def slow() -> None:
        await gate.wait()
        done.append("slow")

    async def refused() -> None:
        raise UserError("No.")

    async def last() -> None:
        done.append("last")

    working = asyncio.create_task(line.run())
    line.add(slow)
    line.add(refused, failed=lambda: done.append("failed"))
    line.add(last)
    assert done == []
    gate.set()
    await line.done()
    assert done == ["slow", "failed", "last"]
    assert said == ["No."]
    working.cancel()


async def test_the_unforeseen_is_one_line_and_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []

    async def broken() -> None:
        raise KeyError("a\nb")

    with caplog.at_level(logging.ERROR):
        assert not await Line(said.append, Path("/logs/advchat.log")).attempt(broken)
    assert said == [r"That failed: KeyError: 'a\nb'. The details are in /logs/advchat.log."]
    assert "Traceback" in caplog.text
