"""The command line, called in this process as its console script calls it.

Owns standard input and what came out. The program's own process is started only where signals or exit
matter: importing the SDK anew costs seconds.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from advchat.cli import main
from tests.server.threaded import ThreadedServer


@dataclass(frozen=True, slots=True)
class Said:
    """How one call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, as JSON."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output, as a JSON value per line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def complaint(self, code: int) -> str:
        """The one line that a refusal prints; fails when it is not one line, or has a traceback in it."""
        assert self.code == code, self
        assert self.out == "", self
        assert self.err.startswith("advchat"), self
        assert self.err.endswith("\n"), self
        assert self.err.count("\n") == 1, self
        assert "Traceback" not in self.err
        return self.err


class CommandLine:
    """Calls the program with ``--db``; ``ask`` adds the test server."""

    def __init__(
        self,
        db: Path,
        server: ThreadedServer,
        captured: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self.db = db
        self.server = server
        self._captured = captured
        self._monkeypatch = monkeypatch

    def __call__(self, *words: str, stdin: bytes | None = b"", db: Path | None = None) -> Said:
        """Run one command; ``stdin`` is what is piped in."""
        piped = io.TextIOWrapper(io.BytesIO(stdin or b""), encoding="utf-8")
        self._monkeypatch.setattr(sys, "stdin", piped)
        self._captured.readouterr()
        code = main([*words, "--db", str(db or self.db)])
        out, err = self._captured.readouterr()
        return Said(code, out, err)

    def ask(self, *words: str, stdin: bytes = b"", model: str = "test-model") -> Said:
        """Run ``ask`` with the test server as the endpoint."""
        return self("ask", *words, "--base-url", self.server.base_url, "--model", model, stdin=stdin)
