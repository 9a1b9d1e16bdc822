"""The whole program in a pseudo-terminal when the model, the disk or the words make trouble."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import OpenTerminal
from tests.server import HttpReply, error
from tests.server.threaded import ThreadedServer

MARKUP = '{"a":[1]} [/INST] [/ [b'


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a file system needs rights that this user lacks")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_case_01_to_03_markup_is_shown_as_it_is(open_terminal: OpenTerminal, server: ThreadedServer) -> None:
    server.server.script(error(400, MARKUP), HttpReply(500, MARKUP.encode(), content_type="text/plain"), MARKUP)
    terminal = open_terminal()
    terminal.wait("ready")
    terminal.type(f"First {MARKUP}")
    terminal.wait(f"First {MARKUP}")
    terminal.press("enter")
    terminal.wait(lambda text: text.count("[/INST] [/ [b") >= 2)
    terminal.type("/fork 1 ZLEX [b +")
    terminal.press("enter")
    terminal.wait(lambda text: text.count("ZLEX [b +") >= 2)
    terminal.type(f"Again {MARKUP}")
    terminal.press("enter")
    terminal.wait_for(lambda: [f"user: Again {MARKUP}"] in server.histories)
    terminal.wait("Again", "ready")


def test_case_60_a_full_disk_costs_neither_text_nor_program(
    open_terminal: OpenTerminal, server: ThreadedServer, small_disk: Path
) -> None:
    db = small_disk / "chat.db"
    terminal = open_terminal(db=db)
    terminal.wait("ready")
    terminal.type("Before")
    terminal.press("enter")
    terminal.wait("Echo: Before", "ready")
    terminal.wait_gone("⟳")
    ballast = small_disk / "ballast"
    _fill(ballast)
    prompt = "Too much " + "x" * 9000 + " end"
    terminal.paste(prompt)
    terminal.wait(" end")
    terminal.press("enter")
    terminal.wait("! ", "space")
    assert " end" in terminal.text(), "the text is in the composer still"
    ballast.unlink()
    terminal.press("enter")
    assert server.arrived(2).prompt == prompt
    assert server.histories[1][:2] == ["user: Before", "assistant: Echo: Before"]


def _fill(ballast: Path) -> None:
    """Write until the file system has no byte left."""
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
