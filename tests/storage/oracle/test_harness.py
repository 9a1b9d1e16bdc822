"""The harness itself: the SDK agrees with itself, wanted differences are met, wrong answers are noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.storage.faults.stored import plain
from tests.storage.oracle.actors import OURS, SDK, Call
from tests.storage.oracle.differences import WANTED
from tests.storage.oracle.duo import Duo, Role
from tests.storage.oracle.machine import SessionMachine, budget


class SdkAgainstItself(SessionMachine):
    cast = (Role(SDK), Role(SDK), Role(SDK, session_id="other", limit=3))


TestSdkAgainstItself = SdkAgainstItself.TestCase
TestSdkAgainstItself.settings = budget(examples=5, steps=20)


def users(*contents: Any) -> Call:
    return Call("add_items", ([{"role": "user", "content": content} for content in contents],))


def list_an_empty_branch(duo: Duo) -> None:
    duo.act(0, users("a"), Call("create_branch_from_turn", (1, "empty")))
    duo.act(0, Call("list_branches"))


def reach_an_empty_branch(duo: Duo) -> None:
    duo.act(0, users("a"))
    for call in (Call("create_branch_from_turn", (1, "empty")), Call("switch_to_branch", ("main",))):
        duo.act(0, call)
    duo.act(0, Call("delete_branch", ("empty",)))


def write_to_a_deleted_branch(duo: Duo) -> None:
    duo.act(0, users("a", "b"))
    duo.act(0, Call("create_branch_from_turn", (2, "plan")))
    duo.act(1, Call("delete_branch", ("plan",)))
    duo.act(0, users("c"))


def store_a_lone_surrogate(duo: Duo) -> None:
    duo.act(0, users("a\ud800b"))
    duo.act(0, Call("get_items"))


def find_a_lone_surrogate(duo: Duo) -> None:
    duo.act(0, users("a\ud800b", "a\udc00b"))
    duo.act(0, Call("find_turns_by_content", ("\ud800",)))


def find_beside_no_content(duo: Duo) -> None:
    duo.act(0, users("weather", None))
    duo.act(0, Call("find_turns_by_content", ("null",)))


SCENES: tuple[Callable[[Duo], None], ...] = (
    list_an_empty_branch,
    reach_an_empty_branch,
    write_to_a_deleted_branch,
    store_a_lone_surrogate,
    find_a_lone_surrogate,
    find_beside_no_content,
)


@pytest.mark.parametrize(("entry", "scene"), list(zip(WANTED, SCENES, strict=True)))
def test_each_wanted_difference_is_met(tmp_path: Path, entry: Any, scene: Callable[[Duo], None]) -> None:
    duo = Duo(tmp_path, (Role(OURS), Role(OURS)))
    try:
        scene(duo)
        assert entry in duo.excused
    finally:
        duo.close()


@pytest.mark.parametrize("call", [Call("get_items"), Call("list_branches"), Call("get_conversation_turns")])
def test_a_wrong_answer_is_noticed(tmp_path: Path, call: Call) -> None:
    duo = Duo(tmp_path, (Role(OURS),))
    try:
        duo.act(0, users("a", "b"))
        with plain(duo.tested_file) as connection:
            connection.execute("DELETE FROM message_structure WHERE sequence_number = 2")
        with pytest.raises(AssertionError, match=call.method):
            duo.act(0, call)
    finally:
        duo.close()


def test_a_lone_surrogate_of_the_sdk_is_read_as_ours(tmp_path: Path) -> None:
    duo = Duo(tmp_path, (Role(SDK), Role(OURS)))
    try:
        duo.act(0, users("a\ud800b"))
        duo.act(1, users("c\udc00d"))
        [outcome] = duo.act(1, Call("get_items"))
        assert [item["content"] for item in outcome.value] == ["a\ufffdb", "c\ufffdd"]
    finally:
        duo.close()
