"""How a failure of the command line is told.

Owns which errors are a person's to read as they are, and the log file that gets the rest.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys

from advchat.actions import UserError
from advchat.config import ConfigError, log_file
from advchat.text import clean
from advchat_storage.errors import StorageError

LOG_BYTES = 1_000_000


def log_to_file() -> None:
    """Send the program's log to its file; without a place for it, nowhere."""
    root = logging.getLogger("advchat")
    if root.handlers:
        return
    root.setLevel(logging.INFO)
    root.propagate = False
    path = log_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)


def tell(error: Exception) -> int:
    """Write one line for a person and give the exit code."""
    if isinstance(error, ConfigError):
        for line in str(error).splitlines():
            sys.stderr.write(f"advchat: {clean(line)}\n")
        return 2
    if isinstance(error, UserError | StorageError):
        sys.stderr.write(f"advchat: {clean(str(error), newlines=False)}\n")
        return 2 if isinstance(error, UserError) else 1
    log_to_file()
    logging.getLogger("advchat").error("unexpected", exc_info=error)
    sys.stderr.write(
        f"advchat: something unexpected went wrong ({type(error).__name__}: "
        f"{clean(str(error), newlines=False)[:200]}). The traceback is in {log_file()}\n"
    )
    return 1
