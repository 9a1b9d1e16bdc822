"""The model that runs on this machine: whether it can, its file, and its process.

Owns the child process's life: it is started on demand, once, and ends with the program. Knows neither the
SDK nor the screen; ``local_download`` owns the file's fetching, ``local_server`` what the child does.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import platform
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from advchat.models.local_download import SMOLLM2, LocalModelError, ModelFile, Progress, download, present
from advchat.models.local_server import CONTEXT_TOKENS, MODEL_NAME
from advchat.runner import ModelInfo

__all__ = [
    "EXTRA_BODY", "MAX_TOKENS", "MODEL_NAME", "TEMPERATURE",
    "LocalEndpoint", "LocalModel", "LocalModelError", "model_info",
]  # fmt: skip

TEMPERATURE = 0.0
MAX_TOKENS = 300
"""It loops on longer texts."""
EXTRA_BODY: Mapping[str, float] = MappingProxyType({"dry_multiplier": 0.8})
"""Sent with each request: the sampler's remedy against repetition."""

_START_SECONDS = 60.0
_STOP_SECONDS = 3.0
_KILLED = -9
_ILLEGAL_INSTRUCTION = {-4, 0xC000001D, 0xC000001D - (1 << 32)}
"""Exit codes: SIGILL, and Windows' status in its two readings."""


@dataclass(frozen=True, slots=True)
class LocalEndpoint:
    """Where the running model is asked."""

    base_url: str
    api_key: str = field(repr=False)


def model_info() -> ModelInfo:
    """Tell what the screen says of the embedded model."""
    return ModelInfo(
        name=MODEL_NAME,
        label="local · SmolLM2 135M",
        provider="local",
        context_window=CONTEXT_TOKENS,
        free=True,
        can_use_tools=False,
    )


class LocalModel:
    """The embedded model. ``data_dir`` is the program's data directory.

    Usable on one event loop. Leaving the process in whatever way ends the child; ``close`` does so at once.
    """

    def __init__(self, data_dir: Path, *, file: ModelFile = SMOLLM2) -> None:
        self._directory = data_dir / "models"
        self._file = file
        self._lock = asyncio.Lock()
        self._downloading = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint: LocalEndpoint | None = None
        self._draining: tuple[asyncio.Task[None], ...] = ()
        self._said: deque[str] = deque(maxlen=20)

    @property
    def path(self) -> Path:
        """Where the model's file is, or would be."""
        return self._directory / self._file.file_name

    @property
    def running(self) -> bool:
        """Whether ``start`` would return at once."""
        return self._endpoint is not None and self._process is not None and self._process.returncode is None

    def unavailable(self) -> str | None:
        """Return what keeps the model from running here, in one line with the way out; None if nothing does."""
        if importlib.util.find_spec("xllamacpp") is not None:
            return None
        if not _built_for(sys.platform, platform.machine().lower()):
            return f"the local model has no build for this machine ({sys.platform}, {platform.machine()})"
        return "the local model needs the extra: pip install 'advchat[local]'"

    def downloaded(self) -> bool:
        """Whether the model's file is there, whole."""
        return present(self._file, self._directory)

    async def download(self, progress: Progress | None = None) -> None:
        """Fetch the model's file; ``progress`` takes a fraction from 0 to 1. Cancelling leaves nothing behind.

        Raises LocalModelError with one line. Does nothing when the file is there.
        """
        async with self._downloading:
            if not self.downloaded():
                await download(self._file, self._directory, progress)

    async def start(self) -> LocalEndpoint:
        """Run the model unless it runs, and return where it is asked; takes 1 to 3 seconds.

        Raises LocalModelError saying why it cannot run.
        """
        async with self._lock:
            if self.running and self._endpoint is not None:
                return self._endpoint
            if (reason := self.unavailable()) is not None:
                raise LocalModelError(reason)
            if not self.downloaded():
                raise LocalModelError("the local model is not downloaded yet")
            await self._end()
            try:
                self._endpoint = await asyncio.wait_for(self._launch(), _START_SECONDS)
            except TimeoutError:
                raise LocalModelError(f"the local model did not start within {_START_SECONDS:.0f} s") from None
            finally:
                if self._endpoint is None:
                    await self._end()
            return self._endpoint

    async def ended(self) -> None:
        """Wait until no child process runs, for whatever reason it ends."""
        if self._process is not None:
            await self._process.wait()

    async def close(self) -> None:
        """End the child process."""
        async with self._lock:
            await self._end()

    async def _launch(self) -> LocalEndpoint:
        self._said.clear()
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "advchat.models.local_server", str(self.path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        if process.stdout is None or process.stderr is None:
            raise LocalModelError("the local model's process has no pipes")
        errors = asyncio.create_task(self._drain(process.stderr))
        self._draining = (errors,)
        line = await process.stdout.readline()
        answer = json.loads(line) if line.strip() else {}
        if "base_url" not in answer:
            code = await process.wait()
            await asyncio.wait([errors])
            raise LocalModelError(_why(code, answer.get("error") or " ".join(self._said)))
        return LocalEndpoint(answer["base_url"], answer["api_key"])

    async def _drain(self, stream: asyncio.StreamReader) -> None:
        """Keep the newest lines of what the child says, and its pipe empty."""
        while chunk := await stream.read(4096):
            self._said.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())

    async def _end(self) -> None:
        process, self._process, self._endpoint = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await asyncio.gather(*self._draining, return_exceptions=True)
        self._draining = ()


def _built_for(system: str, machine: str) -> bool:
    """Whether the extra's library has wheels for this system and machine."""
    machines = {"linux": {"x86_64", "aarch64"}, "darwin": {"x86_64", "arm64"}, "win32": {"amd64"}}
    return machine in machines.get(system, set())


def _why(code: int, said: str) -> str:
    """Say in one line why the child has ended."""
    if "libgomp" in said:
        return "the local model needs the system's libgomp.so.1: apt install libgomp1 (dnf install libgomp)"
    if code in _ILLEGAL_INSTRUCTION:
        return (
            "this processor cannot run the local model: it lacks AVX2; connect a model with --base-url or a key"
        )
    if code == _KILLED:
        return "the local model was killed, most likely for want of memory (it takes about 300 MB)"
    reason = " ".join(said.split())[-200:] or f"exit code {code}"
    return f"the local model ended before it was ready: {reason}"
