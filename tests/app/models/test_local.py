"""The embedded model's process: started once, ended with its parent, and saying why when it cannot run.

The child is a real process. Where a test is about dying, a small library of the test's own takes the place
of the real one, which dies on machines that a test cannot be.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from advchat.models.local import (
    EXTRA_BODY,
    MAX_TOKENS,
    MODEL_NAME,
    TEMPERATURE,
    LocalEndpoint,
    LocalModel,
    LocalModelError,
    model_info,
)
from advchat.models.local_download import ModelFile
from advchat.models.local_server import threads

FILE = ModelFile("nothing==0", "tiny.gguf", 4, hashlib.sha256(b"GGUF").hexdigest(), 4)

HANG = "import threading; threading.Event().wait()"

FAKE = """
import os
class CommonParams:
    def __init__(self):
        for name in ("model", "cpuparams", "cpuparams_batch"):
            setattr(self, name, type(name, (), {})())
class Server:
    def __init__(self, params):
        print("a line that must not be taken for the answer")
        assert params.api_keys and params.hostnames == ["127.0.0.1"] and params.cors_origins == ""
        self.listening_address = f"http://127.0.0.1:{os.getpid()}"
"""


@pytest.fixture
async def model(tmp_path: Path) -> AsyncIterator[LocalModel]:
    model = LocalModel(tmp_path / "data", file=FILE)
    model.path.parent.mkdir(parents=True)
    model.path.write_bytes(b"GGUF")
    yield model
    await model.close()


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the model's library, working until a test writes another."""
    folder = tmp_path / "library"
    folder.mkdir()
    path = folder / "xllamacpp.py"
    path.write_text(FAKE)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return path


def pid_of(endpoint: LocalEndpoint) -> int:
    return int(endpoint.base_url.removesuffix("/v1").rpartition(":")[2])


def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that may not be a child of ours."""
    with suppress(ProcessLookupError):
        if not hasattr(os, "pidfd_open"):
            while True:
                os.kill(pid, 0)
        handle = os.pidfd_open(pid)
        select.select([handle], [], [])
        os.close(handle)


def write(path: Path, source: str) -> None:
    path.write_text(source)


def test_settings_that_the_model_needs() -> None:
    assert (TEMPERATURE, MAX_TOKENS, dict(EXTRA_BODY)) == (0.0, 300, {"dry_multiplier": 0.8})
    info = model_info()
    assert (info.name, info.label, info.provider) == (MODEL_NAME, "local · SmolLM2 135M", "local")
    assert info.free
    assert not info.can_use_tools


@pytest.mark.parametrize(("cores", "wanted"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4), (64, 4)])
def test_threads_leave_room(cores: int, wanted: int) -> None:
    assert threads(cores) == wanted


async def test_starts_once_for_all_who_ask(model: LocalModel, library: Path) -> None:
    first, second = await asyncio.gather(model.start(), model.start())
    assert first == second
    assert model.running
    assert len(first.api_key) > 30
    assert first.api_key not in repr(first)
    await model.close()
    assert not model.running
    wait_until_gone(pid_of(first))


async def test_starts_again_after_its_process_was_lost(model: LocalModel, library: Path) -> None:
    first = await model.start()
    os.kill(pid_of(first), signal.SIGKILL)
    await model.ended()
    assert not model.running
    second = await model.start()
    assert pid_of(second) != pid_of(first)
    assert second.api_key != first.api_key


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ImportError('libgomp.so.1: cannot open shared object file')", "apt install libgomp1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "lacks AVX2"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "for want of memory"),
        ("raise RuntimeError('no\\nluck')", "the local model ended before it was ready: no luck"),
        ("import os; os.write(2, b'odd noise\\n'); os._exit(3)", "before it was ready: odd noise"),
        ("import os; os._exit(3)", "before it was ready: exit code 3"),
    ],
    ids=["libgomp", "avx2", "memory", "error", "noise", "silence"],
)
async def test_says_in_one_line_why_it_cannot_run(
    model: LocalModel, library: Path, source: str, words: str
) -> None:
    write(library, source)
    with pytest.raises(LocalModelError) as caught:
        await model.start()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not model.running
    write(library, FAKE)
    await model.start()
    assert model.running


async def test_cancelled_start_leaves_no_process(model: LocalModel, library: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    write(
        library,
        f"import os, threading\nopen({str(told)!r}, 'w').write(str(os.getpid()))\nthreading.Event().wait()",
    )
    starting = asyncio.create_task(model.start())
    pid = int(await asyncio.to_thread(told.read_text))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    wait_until_gone(pid)


PARENT = """
import asyncio, pathlib, sys
from advchat.models.local import LocalModel
from advchat.models.local_download import ModelFile

async def main():
    model = LocalModel(pathlib.Path(sys.argv[1]), file=ModelFile("", "tiny.gguf", 4, "", 1))
    print((await model.start()).base_url, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_child_ends_when_its_parent_is_killed(model: LocalModel, library: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(model.path.parent.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = pid_of(LocalEndpoint(parent.stdout.readline().strip(), ""))
        os.kill(pid, 0)
        parent.kill()
    wait_until_gone(pid)


async def test_does_not_run_without_its_file_or_extra(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LocalModel(tmp_path / "empty", file=FILE)
    assert model.unavailable() is None
    with pytest.raises(LocalModelError, match="not downloaded yet"):
        await model.start()
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert model.unavailable() == "the local model needs the extra: pip install 'advchat[local]'"
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert model.unavailable() == f"the local model has no build for this machine ({sys.platform}, riscv64)"
    with pytest.raises(LocalModelError, match="no build"):
        await model.start()


def ask(endpoint: LocalEndpoint, key: str, **body: object) -> tuple[int, dict[str, str], str]:
    request = urllib.request.Request(f"{endpoint.base_url}/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read().decode()


@pytest.mark.local_model
async def test_real_model_answers_whoever_has_the_key(local_model: LocalModel) -> None:
    endpoint = await local_model.start()
    body = {
        "model": MODEL_NAME,
        "messages": [{"role": "user", "content": "In which city is the Golden Gate Bridge?"}],
        "temperature": TEMPERATURE,
        "max_tokens": 40,
        **EXTRA_BODY,
    }
    status, headers, text = await asyncio.to_thread(lambda: ask(endpoint, endpoint.api_key, **body))
    assert status == 200
    answer = json.loads(text)
    assert "San Francisco" in answer["choices"][0]["message"]["content"]
    assert answer["usage"]["prompt_tokens"] > 10
    assert not headers.get("Access-Control-Allow-Origin")
    assert (await asyncio.to_thread(lambda: ask(endpoint, "wrong", **body)))[0] == 401
