"""The command line: reads the options and calls what they ask for.

Owns exit codes and how a refusal is told: one line on standard error, a traceback only in the log file.
Imports late, so that ``--help`` and the app's first frame wait for nothing they do not need.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Sequence

from advchat.cli.parser import parse

FAILED, USAGE, STOPPED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and give its exit code."""
    try:
        options = parse(argv)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    try:
        return _run(options)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # The reader has gone; whatever Python still wants to flush must not complain about it.
        sys.stderr.close()
        return FAILED
    except Exception as error:
        return _fail(error)


def _run(options: argparse.Namespace) -> int:
    from advchat.cli import wiring  # noqa: PLC0415 - not needed for --help

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A pipe on Windows, or an old locale: better a question mark than no result.
        sys.stdout.reconfigure(errors="replace")
    settings = wiring.settings(options)
    if options.command is None:
        return wiring.run_app(settings)
    if options.command == "ask":
        return asyncio.run(wiring.run_ask(settings))
    return asyncio.run(wiring.run_report(settings))


def _fail(error: Exception) -> int:
    from advchat.cli import failures  # noqa: PLC0415 - only needed when something went wrong

    return failures.tell(error)
