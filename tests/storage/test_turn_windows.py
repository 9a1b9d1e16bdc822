"""Turns by window of position: headers, items, origins, siblings."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from advchat_storage import Turn, TurnHeader
from tests.storage.scenes import CONVERSATION, Scene, assistant, request, sdk_session, user


async def _headers(scene: Scene, branch: str = "main", start: int = 0, stop: int = 99) -> list[TurnHeader]:
    return await scene.store.turn_headers(CONVERSATION, branch, start, stop)


async def _turns(scene: Scene, branch: str = "main", start: int = 0, stop: int = 99) -> list[Turn]:
    return await scene.store.turns(CONVERSATION, branch, start, stop)


async def _siblings(scene: Scene, branch: str) -> dict[int, tuple[str, ...]]:
    return {turn.turn: turn.siblings for turn in await _turns(scene, branch) if turn.siblings}


async def test_a_branch_without_turns(scene: Scene) -> None:
    assert await scene.store.turn_count(CONVERSATION, "main") == 0
    assert await _headers(scene) == []
    assert await _turns(scene) == []
    assert await scene.store.turn_count("nobody", "main") == 0


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 2, [1, 2]),
        (1, 3, [2, 3]),
        (4, 9, [5]),
        (5, 9, []),
        (2, 2, []),
        (3, 1, []),
        (-3, 2, [1, 2]),
    ],
)
async def test_a_window_holds_the_turns_at_its_positions(
    scene: Scene, start: int, stop: int, expected: list[int]
) -> None:
    for number in range(1, 6):
        await scene.ask(f"q{number}")

    headers, turns = await _headers(scene, start=start, stop=stop), await _turns(scene, start=start, stop=stop)
    assert [header.turn for header in headers] == expected
    assert [turn.turn for turn in turns] == expected
    assert [header.preview for header in headers] == [f"q{number}" for number in expected]
    assert [turn.items[0] for turn in turns] == [user(f"q{number}") for number in expected]


async def test_what_came_before_the_first_prompt_is_turn_zero_at_position_zero(scene: Scene) -> None:
    async with scene.store.session(CONVERSATION) as session:
        await session.add_items([{"role": "system", "content": "Be brief."}])
    await scene.ask("one")

    assert await scene.store.turn_count(CONVERSATION, "main") == 2
    assert [turn.turn for turn in await _turns(scene)] == [0, 1]
    assert [header.turn for header in await _headers(scene, start=1, stop=2)] == [1]
    assert (await _headers(scene))[0].preview == ""


async def test_a_turn_has_its_items_their_rows_and_their_times(scene: Scene) -> None:
    message = await scene.ask("one", "two")
    (turn,) = await _turns(scene)

    assert turn.items == (user("one"), assistant("two"))
    assert turn.message_id == message == turn.item_ids[0]
    assert len(turn.item_ids) == len(turn.item_times) == 2
    assert turn.created_at == turn.item_times[0]
    assert turn.created_at.endswith("+00:00")
    assert (turn.status, turn.error, turn.note) == ("completed", None, None)
    assert await scene.store.turn(CONVERSATION, "main", 1) == turn
    assert await scene.store.turn(CONVERSATION, "main", 2) is None


async def test_inherited_turns_say_where_they_were_made_and_keep_their_time(scene: Scene) -> None:
    first = await scene.ask("one")
    await scene.fork(1, name="child", after=True)
    await scene.ask("two", branch="child")
    await scene.fork(2, source="child", name="grandchild", after=True)
    await scene.ask("three", branch="grandchild")

    turns = await _turns(scene, "grandchild")
    assert [(turn.origin_branch, turn.inherited) for turn in turns] == [
        ("main", True),
        ("child", True),
        ("grandchild", False),
    ]
    assert [header.inherited for header in await _headers(scene, "grandchild")] == [True, True, False]
    assert turns[0].message_id == first
    assert turns[0].created_at == (await _turns(scene))[0].created_at


async def test_a_turn_whose_maker_was_deleted_belongs_to_who_still_has_it(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="maker", after=True)
    await scene.ask("two", branch="maker")
    await scene.fork(2, source="maker", name="heir", after=True)
    await scene.delete("maker")

    assert [(turn.origin_branch, turn.inherited) for turn in await _turns(scene, "heir")] == [
        ("main", True),
        ("heir", False),
    ]


async def test_siblings_part_exactly_at_their_turn(scene: Scene) -> None:
    for prompt in ("one", "two", "three"):
        await scene.ask(prompt)
    for name in ("b", "c"):
        await scene.fork(2, name=name)
        await scene.ask(f"two of {name}", branch=name)
    await scene.ask("three of b", branch="b")
    await scene.fork(3, source="b", name="d")
    await scene.ask("three of d", branch="d")

    assert await _siblings(scene, "main") == {2: ("main", "b", "c")}
    assert await _siblings(scene, "c") == {2: ("main", "b", "c")}
    assert await _siblings(scene, "b") == {2: ("main", "b", "c"), 3: ("b", "d")}
    # On d, d itself stands for the turn that it inherited from b.
    assert await _siblings(scene, "d") == {2: ("main", "d", "c"), 3: ("b", "d")}


async def test_siblings_at_the_first_turn(scene: Scene) -> None:
    await scene.ask("one")
    await scene.fork(1, name="b")
    assert await _siblings(scene, "main") == {}
    await scene.ask("other one", branch="b")
    await scene.fork(1, source="b", name="c", after=True)

    assert await _siblings(scene, "main") == {1: ("main", "b")}
    assert await _siblings(scene, "c") == {1: ("main", "c")}


async def test_siblings_are_found_through_a_window_that_begins_at_their_turn(scene: Scene) -> None:
    for prompt in ("one", "two", "three"):
        await scene.ask(prompt)
    await scene.fork(2, name="b")
    await scene.ask("two of b", branch="b")

    (turn,) = await _turns(scene, start=1, stop=2)
    assert turn.siblings == ("main", "b")
    (turn,) = await _turns(scene, start=2, stop=3)
    assert turn.siblings == ()


async def test_a_branch_that_went_on_in_a_shared_turn_is_no_sibling_at_the_next(scene: Scene) -> None:
    await scene.ask("one")
    await scene.ask("two")
    await scene.fork(2, name="b")
    async with scene.store.session(CONVERSATION, branch_id="b") as session:
        await session.add_items([assistant("one thing more"), user("two of b")])

    assert await _siblings(scene, "main") == {}


async def test_binned_deleted_and_foreign_branches_are_no_siblings(scene: Scene) -> None:
    await scene.ask("one")
    await scene.ask("two")
    for name in ("binned", "deleted", "kept"):
        await scene.fork(2, name=name)
        await scene.ask(name, branch=name)
    await scene.bin("binned")
    await scene.delete("deleted")
    await scene.store.create_conversation(conversation_id="other")
    async with scene.store.session("other") as session:
        await session.add_items([user("one")])

    assert await _siblings(scene, "main") == {2: ("main", "kept")}
    async with scene.store.session(CONVERSATION) as session:
        await session.restore_branch("binned")
    assert await _siblings(scene, "main") == {2: ("main", "binned", "kept")}


async def test_heights_are_kept_by_turn_and_width(scene: Scene) -> None:
    message = await scene.ask("one")
    second = await scene.ask("two")
    await scene.fork(1, name="fork", after=True)
    await scene.store.remember_heights(CONVERSATION, 80, {message: 12, 99_999: 5})
    await scene.store.remember_heights(CONVERSATION, 100, {message: 9})

    hints = [(header.height_hint, header.height_width) for header in await _headers(scene)]
    assert hints == [(9, 100), (None, None)]
    assert (await _headers(scene, "fork"))[0].height_hint == 9
    await scene.store.set_turn_status(CONVERSATION, second, "stopped")
    assert (await _headers(scene))[1].status == "stopped"


async def test_heights_of_turns_that_the_sdk_wrote(scene: Scene) -> None:
    with sdk_session(scene.store.path) as sdk:
        await sdk.add_items([user("one")])
    (header,) = await _headers(scene)
    assert header.status == "completed"
    await scene.store.remember_heights(CONVERSATION, 80, {header.message_id: 3})

    (header,) = await _headers(scene)
    assert (header.height_hint, header.status) == (3, "completed")


async def test_what_is_no_status_is_refused(scene: Scene) -> None:
    message = await scene.ask("one")
    with pytest.raises(ValueError, match="choose running"):
        await scene.store.set_turn_status(CONVERSATION, message, "fine")  # type: ignore[arg-type]  # Under test.


async def test_a_turn_marked_running_that_nobody_answers_is_interrupted(scene: Scene) -> None:
    message = await scene.ask("one")
    await scene.store.set_turn_status(CONVERSATION, message, "running", "why")

    (turn,) = await _turns(scene)
    assert (turn.status, turn.error) == ("interrupted", "why")


async def test_a_header_has_what_its_turn_cost(scene: Scene) -> None:
    await scene.ask("one", input_tokens=10, output_tokens=5, cost_nano=3)
    await scene.store.record(CONVERSATION, request(turn=1, input_tokens=1, output_tokens=1, cost_nano=4))
    await scene.ask("two")

    first, second = await _headers(scene)
    assert (first.usage.requests, first.usage.total_tokens, first.usage.cost_nano) == (2, 17, 7)
    assert second.usage.requests == 0


@pytest.mark.parametrize(
    "text",
    [
        "x" * 9000,
        'quote " and \\ backslash ' * 400,
        "\u6771\u4eac\u90fd " * 3000,
        "\U0001f469\u200d\U0001f469 " * 2000,
        "line\nbreaks\tand tabs " * 500,
    ],
)
async def test_a_long_prompt_is_previewed_from_its_beginning(scene: Scene, text: str) -> None:
    await scene.ask(text)
    (header,) = await _headers(scene)

    assert len(header.preview) <= 200
    assert header.preview.endswith("…")
    assert " ".join(text.split()).startswith(header.preview[:-1])


async def test_a_long_prompt_of_parts_is_previewed_too(scene: Scene) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 9000}
    async with scene.store.session(CONVERSATION) as session:
        await session.add_items([user([image, {"type": "input_text", "text": "What is this?"}])])

    assert (await _headers(scene))[0].preview == "What is this?"


async def test_rows_that_are_no_json_are_passed_over(scene: Scene) -> None:
    await scene.ask("one", "answer")
    await scene.ask("two", "answer")
    with sqlite3.connect(scene.store.path) as connection:
        connection.execute("UPDATE agent_messages SET message_data = '{oops' WHERE id IN (1, 4)")
        connection.execute("UPDATE agent_messages SET message_data = ? WHERE id = 3", (json.dumps(["odd"]),))
    connection.close()

    first, second = await _turns(scene)
    assert first.items == (assistant("answer"),)
    assert json.dumps(second.items) == '[["odd"]]'
    assert [header.preview for header in await _headers(scene)] == ["", ""]


async def test_notes_of_carried_turns(scene: Scene, tmp_path: Path) -> None:
    await scene.ask("one")
    await scene.fork(1, name="fork")
    async with scene.store.session(CONVERSATION) as session:
        await session.carry_turns("main", [1], "fork")

    (turn,) = await _turns(scene, "fork")
    assert turn.note == "from turn 1 of main"
    assert not turn.inherited
