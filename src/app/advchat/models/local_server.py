"""The child process that serves the embedded model.

Owns the settings of the model's server. It speaks to its parent by one JSON line on standard output, either
``{"base_url", "api_key"}`` or ``{"error"}``, and lives until its standard input ends, which happens at the
latest when the parent is gone. Knows nothing of the rest of the program; run it with ``python -m``.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import sys
import threading
from pathlib import Path
from typing import IO, Any

MODEL_NAME = "smollm2-135m"
CONTEXT_TOKENS = 8192

_NICENESS = 5
"""The screen comes first: on two cores a model at full speed would slow the typing."""


def main() -> None:
    """Serve the GGUF file named by the one argument until standard input ends."""
    answers = _take_stdout()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    key = secrets.token_urlsafe(32)
    try:
        server = _serve(Path(sys.argv[1]), key)
    except Exception as error:
        _say(answers, {"error": f"{error}" or type(error).__name__})
        raise SystemExit(1) from None
    _say(answers, {"base_url": f"{server.listening_address}/v1", "api_key": key})
    threading.Event().wait()


def threads(cores: int) -> int:
    """Tell how many threads to compute on: two that contend for two cores are ten times slower than one."""
    return max(1, min(4, cores // 2))


def _take_stdout() -> IO[str]:
    """Keep standard output for our line; what the library prints goes to standard error."""
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return kept


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _serve(model: Path, key: str) -> Any:  # noqa: ANN401 - the library brings no types
    """Load the model and listen on a free port of the loopback interface."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {MODEL_NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    params.verbosity = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cache_ram_mib = 64
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads(_cores())
    return xllamacpp.Server(params)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _say(answers: IO[str], message: dict[str, str]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
