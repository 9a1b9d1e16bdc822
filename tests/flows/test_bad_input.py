"""Bad input at the command line: one clear line with the way out, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.flows.cli import CommandLine
from tests.server import error, html
from tests.server.threaded import ThreadedServer

PASSABLE = stat.S_IXGRP | stat.S_IXOTH
"""What lets somebody else through a folder, without letting them list it."""


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--nonsense"], "--nonsense"),
        (["frobnicate"], "frobnicate"),
        (["ask", "Hi", "--fork", "0"], "--fork"),
        (["ask", "Hi", "--fork", "two"], "two"),
        (["usage", "--by", "colour"], "colour"),
        (["--api", "soap"], "soap"),
        (["--base-url", "not an address", "ask", "Hi"], "--base-url"),
        (["search"], "TEXT"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(line: CommandLine, words: list[str], named: str) -> None:
    said = line(*words)
    assert named in said.complaint(2)
    assert not line.db.exists()


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt(line: CommandLine, prompt: str) -> None:
    assert "empty" in line.ask(prompt).complaint(2)
    assert "empty" in line.ask("-", stdin=prompt.encode()).complaint(2)
    assert line.server.histories == []


def test_the_app_without_a_terminal(line: CommandLine) -> None:
    assert "advchat ask" in line(stdin=b"Hi").complaint(2)
    assert not line.db.exists()


def test_what_is_not_there(line: CommandLine) -> None:
    assert str(line.db) in line("conversations").complaint(2)
    line.ask("One")
    assert "turn 99" in line.ask("-c", "--fork", "99", "Hi").complaint(2)
    assert "nothing" in line.ask("--branch", "nothing", "Hi").complaint(2)
    assert "nowhere" in line.ask("--conversation", "nowhere", "Hi").complaint(2)
    assert "nowhere" in line("turns", "--conversation", "nowhere").complaint(2)
    assert "nothing" in line("turns", "--branch", "nothing").complaint(2)
    assert "yesterday" in line("usage", "--since", "yesterday").complaint(2)
    assert len(line.server.histories) == 1
    assert [turn["content"] for turn in line("turns", "--json").json] == ["One"]
    assert len(line("branches", "--json").json) == 1
    assert len(line("conversations", "--json").json) == 1


@contextmanager
def nobody() -> Iterator[None]:
    """Be somebody whom permissions bind, if this is root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("command", [["ask", "Hi"], ["conversations"], ["check"]])
def test_files_of_others_stay_as_they_are(line: CommandLine, tmp_path: Path, command: list[str]) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Nothing but notes.\n" * 100)
    files = [text]
    for number, ddl in enumerate(("recipes (name)", "agent_messages (x)", "agent_sessions (session_id)")):
        files.append(tmp_path / f"foreign{number}.db")
        with closing(sqlite3.connect(files[-1])) as connection:
            connection.execute(f"CREATE TABLE {ddl}")
    for file in files:
        before = file.read_bytes()
        said = line(*command, "--base-url", line.server.base_url, "--model", "m", db=file)
        assert file.name in said.complaint(1)
        assert file.read_bytes() == before
    assert line.server.histories == []


def test_a_folder_in_place_of_the_file(line: CommandLine, tmp_path: Path) -> None:
    assert str(tmp_path) in line("ask", "Hi", db=tmp_path).complaint(1)


def test_case_61_an_unwritable_folder_and_an_unreadable_file(line: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    line.ask("Hi")
    shutil.copy(line.db, folder / "secret.db")
    shutil.copy(line.db, folder / "open.db")
    (folder / "secret.db").chmod(0o000)
    (folder / "open.db").chmod(0o444)
    folder.chmod(0o555)
    for parent in [tmp_path, *tmp_path.parents]:
        if parent.stat().st_uid == os.geteuid() and parent.stat().st_mode & PASSABLE != PASSABLE:
            parent.chmod(parent.stat().st_mode | PASSABLE)
    ask = ["ask", "Hi", "--base-url", line.server.base_url, "--model", "m"]
    try:
        with nobody():
            said = [line(*ask, db=folder / f"{name}.db") for name in ("new", "secret", "open")]
    finally:
        folder.chmod(0o755)
    assert [name in one.complaint(1) for name, one in zip(("new", "secret", "open"), said, strict=True)]
    assert len(line.server.histories) == 1


def test_case_66_a_new_file_is_made_wherever_it_can_be(line: CommandLine, tmp_path: Path, home: Path) -> None:
    place = tmp_path / "no such" / "föl der" / "chat.db"
    assert line("ask", "Hi", "--base-url", line.server.base_url, "--model", "m", db=place).code == 0
    assert place.exists()
    assert line("ask", "Hi", "--base-url", line.server.base_url, "--model", "m", db=Path("~/mine.db")).code == 0
    assert (home / "mine.db").exists()


def test_an_unknown_model_is_named_with_the_way_out(line: CommandLine) -> None:
    line.server.server.script(
        error(404, "The model `nope` does not exist or you do not have access to it.", code="model_not_found")
    )
    said = line.ask("Hi", model="nope")
    complaint = said.complaint(1)
    assert "nope" in complaint
    assert "--model" in complaint
    assert [turn["content"] for turn in line("turns", "--json").json] == ["Hi"], "the prompt is kept"


def test_no_network(line: CommandLine) -> None:
    said = line("ask", "Hi", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert "127.0.0.1:1" in said.complaint(1)
    (turn,) = line("turns", "--json").json
    assert (turn["content"], turn["status"]) == ("Hi", "failed")
    total = line("usage", "--json").json["total"]
    assert not total["at_least"], "a request that never went out has cost nothing"


def test_case_49_a_page_of_html_is_one_line(line: CommandLine, server: ThreadedServer) -> None:
    server.server.default = lambda seen: html(502)
    said = line.ask("Hi")
    assert said.code == 1
    assert "502" in said.err
    assert "<" not in said.err
    assert len(said.err) < 1000


@pytest.mark.parametrize("ending", ["", "/v1", "/v1/", "/v1/chat/completions", "/v1/responses"])
def test_case_46_any_spelling_of_the_endpoint_works(line: CommandLine, ending: str) -> None:
    url = line.server.server.url + ending
    said = line("ask", "Hi", "--base-url", url, "--model", "m")
    assert (said.code, said.out) == (0, "Echo: Hi\n"), said


@pytest.mark.parametrize("key", ["test-key\n", "  test-key "])
def test_case_82_space_around_the_key_is_trimmed(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert line.ask("Hi").code == 0
    assert line.server.server.requests[0].headers["authorization"] == "Bearer test-key"


def test_case_82_a_letter_that_no_key_has_is_named(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-аbc")
    complaint = line.ask("Hi").complaint(2)
    assert "CYRILLIC" in complaint
    assert "sk-" not in complaint
    assert line.server.histories == []


def test_case_83_a_local_server_needs_no_key(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert line.ask("Hi").code == 0


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b"# one\r\n"])
def test_case_85_a_bom_and_crlf_are_tolerated(line: CommandLine, tmp_path: Path, head: bytes) -> None:
    config = tmp_path / "settings.toml"
    config.write_bytes(head + b'model = "from-file"\r\ntheme = "light"\r\n')
    said = line("ask", "Hi", "--base-url", line.server.base_url, "--config", str(config))
    assert said.code == 0
    assert line.server.server.requests[0].model == "from-file"


def test_case_85_mistakes_in_the_settings_are_named_with_their_line(line: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('model = 3\nthem = "x"\n')
    said = line.ask("Hi", "--config", str(config))
    assert said.code == 2
    assert said.out == ""
    assert ":1" in said.err or "line 1" in said.err
    assert "Traceback" not in said.err
    assert line.server.histories == []
