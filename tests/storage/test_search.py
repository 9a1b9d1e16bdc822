"""Search: literal, in any script, case and length, each message once, by index and without."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advchat_storage import SearchHit, Store, search_index
from advchat_storage.migrations import prepare
from advchat_storage.ownership import Tables
from advchat_storage.search import search
from advchat_storage.wording import excerpt, folded
from tests.storage.scenes import CONVERSATION, Scene, assistant, sdk_session, user


async def _say(scene: Scene, *texts: str, conversation: str = CONVERSATION, branch: str = "main") -> None:
    async with scene.store.session(conversation, branch_id=branch) as session:
        await session.add_items([user(text) for text in texts])


async def _found(scene: Scene, term: str, **scope: str | int) -> list[str]:
    hits = await scene.store.search(term, **scope)  # type: ignore[arg-type]  # A test's short form.
    return [_word(hit) for hit in hits]


def _word(hit: SearchHit) -> str:
    return hit.excerpt[slice(*hit.match)]


@pytest.fixture(params=["read", "indexed"])
async def talk(request: pytest.FixtureRequest, scene: Scene) -> Scene:
    """Say something in many scripts; found by reading, and by the index."""
    await _say(
        scene,
        "The Straße to ΑΘΗΝΑ",
        "東京都 is far",
        "100% of snake_case is 'quoted' \"twice\"",
        "a OR b AND NOT c* NEAR(d) (e) ^f -g col:h",
        "Привет, Мир",
        "café with one code point, and cafe\u0301 with two",
        "ab\0cd then \ud800 alone",
        "مرحبا بالعالم",
        "👩‍👩‍👧 family",
        "back\\slash {brace} [bracket] <tag>",
    )
    if request.param == "indexed":
        await scene.index()
    return scene


@pytest.mark.parametrize(
    ("term", "shown"),
    [
        ("strasse", "Straße"),
        ("STRASSE", "Straße"),
        ("αθηνα", "ΑΘΗΝΑ"),
        ("東", "東"),
        ("京都", "京都"),
        ("東京都 is", "東京都 is"),
        ("100%", "100%"),
        ("%", "%"),
        ("e_c", "e_c"),
        ("_", "_"),
        ("'quoted' \"t", "'quoted' \"t"),
        ('"', '"'),
        ("OR b AND", "OR b AND"),
        ("NEAR(d)", "NEAR(d)"),
        ("c*", "c*"),
        ("^f", "^f"),
        ("col:h", "col:h"),
        ("-g", "-g"),
        ("пРИВЕТ, мир", "Привет, Мир"),
        ("ми", "Ми"),
        ("b\0c", "b\ufffdc"),
        ("cd then", "cd then"),
        ("العالم", "العالم"),
        ("👧", "👧"),
        ("\\s", "\\s"),
        ("{brace}", "{brace}"),
        ("<tag>", "<tag>"),
    ],
)
async def test_a_term_is_found_as_it_is_written(talk: Scene, term: str, shown: str) -> None:
    assert await _found(talk, term) == [shown]


@pytest.mark.parametrize("term", ["café", "cafe\u0301"])
async def test_a_letter_written_in_two_ways_is_found_either_way(talk: Scene, term: str) -> None:
    (hit,) = await talk.store.search(term)
    assert hit.excerpt.count("café") == 2


@pytest.mark.parametrize("term", ["e__c", "snake%case", "nothing", "c NEAR", "京東", "", "  ", "\n"])
async def test_what_is_not_there_is_not_found(talk: Scene, term: str) -> None:
    assert await _found(talk, term) == []


@pytest.mark.parametrize("term", ["cd", "CD t", "b\0c", "the end"])
async def test_case_10_text_behind_a_nul_is_found_and_shown(scene: Scene, term: str) -> None:
    await _say(scene, "ab\0cd to the end")
    for _ in range(2):
        (hit,) = await scene.store.search(term)
        assert hit.excerpt == "ab\ufffdcd to the end"
        await scene.index()
    (turn,) = await scene.store.turns(CONVERSATION, "main", 0, 1)
    assert turn.items == (user("ab\0cd to the end"),)


async def test_case_08_text_with_a_lone_surrogate_is_found(scene: Scene) -> None:
    await scene.ask("half \ud83d of a face", "and \ud800 more")
    await scene.index()

    assert [hit.excerpt for hit in await scene.store.search("\ud800")] == [
        "and \ufffd more",
        "half \ufffd of a face",
    ]


async def test_a_hit_says_where_it_is(scene: Scene) -> None:
    await scene.ask("What is a monad?", "A monoid in\nthe category of endofunctors.")
    (hit,) = await scene.store.search("CATEGORY of")

    assert (hit.conversation_id, hit.conversation_title) == (CONVERSATION, "What is a monad?")
    assert (hit.branch_id, hit.turn, hit.role) == ("main", 1, "assistant")
    assert hit.excerpt == "A monoid in the category of endofunctors."
    assert _word(hit) == "category of"
    assert hit.created_at.endswith("+00:00")
    (turn,) = await scene.store.turns(CONVERSATION, "main", 0, 1)
    assert hit.message_id == turn.item_ids[1]


async def test_only_what_was_said_is_searched(scene: Scene) -> None:
    async with scene.store.session(CONVERSATION) as session:
        await session.add_items(
            [
                {"role": "system", "content": "needle"},
                user(
                    [{"type": "input_text", "text": "first"}, {"type": "input_text", "text": "needle in part"}]
                ),
                {"type": "function_call", "call_id": "1", "name": "needle", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "needle"},
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "needle"}]},
                assistant("the needle itself"),
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "refusal", "refusal": "no needle"}],
                },
                {"role": "user", "content": None},
            ]
        )

    assert [hit.role for hit in await scene.store.search("needle")] == ["assistant", "assistant", "user"]


async def test_a_shared_message_is_found_once_on_the_branch_that_is_looked_at(scene: Scene) -> None:
    await scene.ask("needle one", "Yes")
    await scene.ask("two")
    for name in ("a", "b"):
        await scene.fork(2, name=name)

    (hit,) = await scene.store.search("needle one")
    assert hit.branch_id == "main"
    (hit,) = await scene.store.search("needle one", conversation_id=CONVERSATION, branch_id="b")
    assert hit.branch_id == "b"
    async with scene.store.session(CONVERSATION) as session:
        await session.switch_to_branch("a")
    (hit,) = await scene.store.search("needle one")
    assert hit.branch_id == "a"


async def test_scopes_are_a_branch_a_conversation_or_all(scene: Scene) -> None:
    await scene.store.create_conversation(conversation_id="other")
    await _say(scene, "needle in the other", conversation="other")
    await _say(scene, "needle in both")
    await scene.fork(1, name="fork", after=True)
    await _say(scene, "needle on main")
    await _say(scene, "needle on fork", branch="fork")
    await scene.index()

    async def excerpts(conversation: str | None = None, branch: str | None = None) -> list[str]:
        hits = await scene.store.search("needle", conversation_id=conversation, branch_id=branch)
        return [hit.excerpt.removeprefix("needle ") for hit in hits]

    assert await excerpts() == ["on fork", "on main", "in both", "in the other"]
    assert await excerpts(CONVERSATION) == ["on fork", "on main", "in both"]
    assert await excerpts(CONVERSATION, "main") == ["on main", "in both"]
    assert await excerpts(CONVERSATION, "fork") == ["on fork", "in both"]


async def test_the_newest_come_first_up_to_the_limit(scene: Scene) -> None:
    await _say(scene, *(f"needle {number}" for number in range(9)))
    await scene.index()
    await _say(scene, "needle 9")

    hits = await scene.store.search("needle", limit=3)
    assert [hit.excerpt for hit in hits] == ["needle 9", "needle 8", "needle 7"]
    assert await scene.store.search("needle", limit=0) == []


@pytest.mark.parametrize("indexed", [False, True])
async def test_what_is_gone_or_binned_is_not_found(scene: Scene, indexed: bool) -> None:
    await scene.ask("shared needle")
    for name in ("binned", "deleted"):
        await scene.fork(1, name=name, after=True)
        await _say(scene, f"{name} needle", branch=name)
    await _say(scene, "popped needle")
    if indexed:
        await scene.index()
    await scene.pop("main")
    await scene.bin("binned")
    await scene.delete("deleted")

    hits = await scene.store.search("needle")
    assert [hit.excerpt for hit in hits] == ["Answer to shared needle", "shared needle"]
    async with scene.store.session(CONVERSATION) as session:
        await session.restore_branch("binned")
    assert (await scene.store.search("needle"))[0].excerpt == "binned needle"


async def test_words_of_deleted_messages_leave_the_file_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Scene.open(path) as scene:
        await _say(scene, "a secret", "no matter")
        await scene.index()
    with sdk_session(path) as sdk:
        await sdk.pop_item()
        await sdk.pop_item()
    async with Scene.open(path) as scene:
        while await scene.store._write(search_index.sweep, tables=Tables()):
            pass
        assert await scene.store._write(search_index.problem) is None
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT * FROM advchat_search_documents").fetchall() == []
        for table in ("advchat_search_long", "advchat_search_short"):
            found = connection.execute(f'SELECT rowid FROM {table} WHERE {table} MATCH \'"se" OR "sec"\'')
            assert found.fetchall() == []
    connection.close()


async def test_what_the_sdk_writes_is_found(scene: Scene) -> None:
    await _say(scene, "ours")
    await scene.index()
    with sdk_session(scene.store.path) as sdk:
        await sdk.add_items([user("their needle")])

    assert await _found(scene, "THEIR") == ["their"]
    await scene.index()
    assert await _found(scene, "THEIR") == ["their"]


async def test_an_index_of_another_version_is_made_anew(scene: Scene) -> None:
    await _say(scene, "needle")
    await scene.index()
    with sqlite3.connect(scene.store.path) as connection:
        connection.execute("UPDATE advchat_search_state SET value = 99 WHERE name = 'version'")
    connection.close()
    assert await _found(scene, "needle") == ["needle"]
    await scene.index()
    assert await _found(scene, "needle") == ["needle"]
    assert await scene.store._read(search_index.watermark) > 0


@pytest.mark.parametrize("term", ["needle", "ne", "n", "東"])
async def test_without_a_full_text_index_the_documents_are_read(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    monkeypatch.setattr(search_index, "_can_full_text", lambda connection: False)
    await _say(scene, "Needle 東京", "other")
    await scene.index()
    assert await scene.store._read(search_index.watermark) > 0

    assert [folded(word) for word in await _found(scene, term)] == [term]


async def test_a_large_conversation_is_asked_of_the_index_and_a_small_one_is_read(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advchat_storage.search.SMALL_CONVERSATION", 1)
    await scene.store.create_conversation(conversation_id="other")
    await _say(scene, "needle elsewhere", conversation="other")
    await _say(scene, "needle here", "needle there")
    await scene.index()

    for term in ("needle", "ne"):
        hits = await scene.store.search(term, conversation_id=CONVERSATION)
        assert [hit.excerpt for hit in hits] == ["needle there", "needle here"]


async def test_many_waiting_messages_are_taken_in_first(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advchat_storage.search.MANY", 3)
    monkeypatch.setattr("advchat_storage.search_index.BATCH", 2)
    await _say(scene, "one needle", "two", "three", "four", "five")

    assert await _found(scene, "needle") == ["needle"]
    assert not await scene.store._read(search_index.pending, tables=Tables())


async def test_a_search_that_is_taken_back_leaves_the_next_one_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advchat_storage.search.MANY", 3)
    monkeypatch.setattr("advchat_storage.search_index.BATCH", 1)
    await _say(scene, *(f"needle {number}" for number in range(30)))
    for _ in range(5):
        search = asyncio.ensure_future(scene.store.search("needle"))
        await asyncio.wait([search], timeout=0)
        search.cancel()
        await asyncio.wait([search])

    assert len(await scene.store.search("needle")) == 30


async def test_a_locked_file_is_searched_all_the_same(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advchat_storage.search.MANY", 3)
    monkeypatch.setattr("advchat_storage.store._INDEXING_SECONDS", 0.01)
    await _say(scene, "one needle", "two", "three", "four")
    with closing(sqlite3.connect(scene.store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await _found(scene, "needle") == ["needle"]
        other.execute("ROLLBACK")


_letters = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbBß ﬁİıΣς東京%_\"'*\0\ud800é\u0301́👧\u200d"), st.characters(exclude_categories=())
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(_letters, min_size=1, max_size=8), term=_letters, place=st.integers(0, 40))
def test_the_index_finds_exactly_what_reading_finds(texts: list[str], term: str, place: int) -> None:
    looked_for = term or texts[place % len(texts)][place % 5 :][: 1 + place % 4]
    connection = sqlite3.connect(":memory:", isolation_level=None)
    prepare(connection, True, tables=Tables(), path=":memory:")
    _store_texts(connection, texts)
    read = [hit.message_id for hit in search(connection, tables=Tables(), term=looked_for)]
    while search_index.take_in(connection, tables=Tables()):
        pass
    assert search_index.has_full_text(connection)
    found = [hit.message_id for hit in search(connection, tables=Tables(), term=looked_for)]
    connection.close()

    sought = folded(looked_for.strip())
    expected = [number for number, text in enumerate(texts, 1) if sought and sought in folded(text)]
    assert found == read == expected[::-1]


def _store_texts(connection: sqlite3.Connection, texts: list[str]) -> None:
    from advchat_storage.history import append, rows_of
    from advchat_storage.place import Scope

    append(connection, Scope("talk", Tables()), "main", rows_of([user(text) for text in texts]))


@settings(deadline=None)
@given(text=_letters, width=st.integers(1, 20), start=st.integers(0, 12), size=st.integers(1, 6))
def test_an_excerpt_is_one_line_and_shows_the_term(text: str, width: int, start: int, size: int) -> None:
    term = folded(text[start : start + size])
    shown, (first, last) = excerpt(text, term, width)

    assert "\n" not in shown
    assert 0 <= first <= last <= len(shown)
    if term in folded(text):
        assert " ".join(term.split()) in " ".join(folded(shown[first:last]).split()) or not term.split()


async def test_the_index_grows_in_the_background(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sdk_session(path) as sdk:
        await sdk.add_items([user(f"needle {number}") for number in range(600)])
    async with Store(path) as store:
        # Jobs of the writer are done in order, so that this one is behind a batch at least.
        while await store._read(search_index.pending, tables=Tables()):
            await store._write(lambda connection: None)
        assert len(await store.search("needle", limit=1000)) == 600
