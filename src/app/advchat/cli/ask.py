"""One prompt answered without a screen.

Owns what `advchat ask` prints and how it ends: the answer on standard output, the rest on standard
error; 0 completed, 1 failed, 2 usage, 130 stopped. Uses the app's controller; imports no Textual.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

from advchat.actions import UserError
from advchat.cli.reports import usage_json
from advchat.cli.tables import print_json_line
from advchat.controller import Controller
from advchat.events import (
    RunEvent,
    RunFinished,
    RunStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Waiting,
)
from advchat.text import clean, one_line

EXITS = {"completed": 0, "stopped": 130}


class _Output:
    """Prints a run's events, as text or as JSON lines, and keeps what the last line needs."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.finished: RunFinished | None = None
        self.text: list[str] = []
        self.broken = False
        self.gone = asyncio.Event()
        """Set when the run is over, or nobody reads what is printed any more."""
        self.done = asyncio.Event()
        self._for_people = sys.stdout.isatty()

    def take(self, event: RunEvent) -> None:
        """Print one event; once the reader has gone, only note how the run ends."""
        if not self.broken:
            try:
                self._tell(event)
            except BrokenPipeError:
                self.broken = True
                self.gone.set()
        if isinstance(event, RunFinished):
            self.finished = event
            self.gone.set()
            self.done.set()

    def _tell(self, event: RunEvent) -> None:
        if isinstance(event, TextDelta):
            self.text.append(event.text)
        if self.as_json:
            line = _json_event(event)
            if line is not None:
                print_json_line(line)
        else:
            self._print(event)

    def _print(self, event: RunEvent) -> None:
        match event:
            case TextDelta(text=text):
                _write(clean(text) if self._for_people else text)
            case ToolStarted(name=name, arguments=arguments):
                sys.stderr.write(f"⚙ {one_line(f'{name} {arguments}', 100)}\n")
            case Waiting(reason=reason) if event.seconds is not None or sys.stderr.isatty():
                sys.stderr.write(f"… {one_line(reason, 100)}\n")
            case RunFinished():
                if self.text and not self.text[-1].endswith("\n"):
                    _write("\n")
                if event.error:
                    sys.stderr.write(f"advchat: {one_line(event.error, 1000)}\n")
            case _:
                pass


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _json_event(event: RunEvent) -> dict[str, Any] | None:
    match event:
        case RunStarted():
            return {
                "type": "started",
                "conversation_id": event.conversation_id,
                "branch_id": event.branch_id,
                "turn": event.turn,
            }
        case TextDelta(text=text):
            return {"type": "delta", "text": text}
        case ToolStarted():
            return {
                "type": "tool", "status": "started", "call_id": event.call_id, "name": event.name,
                "arguments": event.arguments,
            }  # fmt: skip
        case ToolFinished():
            return {
                "type": "tool", "status": "finished", "call_id": event.call_id, "name": event.name,
                "output": event.output, "seconds": round(event.seconds, 3),
            }  # fmt: skip
        case _:
            return None


async def ask(controller: Controller, options: argparse.Namespace, prompt: str) -> int:
    """Send the prompt where the options say and print the answer; gives the exit code."""
    output = _Output(as_json=options.json)
    controller.subscribe(lambda snapshot: None, output.take)
    try:
        await controller.start()
        await _settle_offer(controller, yes=options.yes)
        if options.branch:
            await controller.switch(options.branch)
        if options.fork:
            await controller.fork(options.fork)
        with _stop_on_signals(controller):
            await controller.send(prompt)
            await output.gone.wait()
            if output.broken:
                await controller.stop()
            await output.done.wait()
        if output.broken:
            raise BrokenPipeError
        if output.finished is None:
            return 1
        if options.json:
            await _print_finished(controller, output)
        return EXITS.get(output.finished.outcome, 1)
    finally:
        await controller.close()


async def _settle_offer(controller: Controller, *, yes: bool) -> None:
    """Fetch the embedded model where it is offered and wanted; the tour answers otherwise."""
    offer = controller.snapshot.offer
    if offer is None:
        return
    if not yes:
        sys.stderr.write(
            "advchat: no key, no endpoint, no local model yet: the tour answers. --yes fetches it.\n"
        )
        await controller.answer_offer("offer.refuse")
        return
    shown = -1

    def progress(share: float) -> None:
        nonlocal shown
        if int(share * 20) > shown and sys.stderr.isatty():
            shown = int(share * 20)
            sys.stderr.write(f"\rfetching the local model {share:4.0%}")

    await controller.fetch_embedded(progress)
    if shown >= 0:
        sys.stderr.write("\n")


def read_prompt(given: str | None) -> str:
    """Give the prompt of the command line or of standard input. Raises ``UserError`` for an empty one."""
    if given is None and sys.stdin.isatty():
        raise UserError("There is no prompt. Write `advchat ask 'your question'`, or pipe it in.")
    if given in (None, "-"):
        text = sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\n")
    else:
        text = str(given).encode("utf-8", "replace").decode("utf-8")
    if not text.strip():
        raise UserError("The prompt is empty. Write `advchat ask 'your question'`.")
    return text


@contextlib.contextmanager
def _stop_on_signals(controller: Controller) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        stopping.add(asyncio.ensure_future(controller.stop()))

    # Windows' loops have no signal handlers; Ctrl+C then ends the program as usual.
    absent = (NotImplementedError, RuntimeError)
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        with contextlib.suppress(*absent):
            loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            with contextlib.suppress(*absent):
                loop.remove_signal_handler(number)


async def _print_finished(controller: Controller, output: _Output) -> None:
    event = output.finished
    if event is None:
        return
    usage = await controller.store.usage(run_id=event.run_id)
    print_json_line(
        {
            "type": "finished",
            "status": event.outcome,
            "text": "".join(output.text),
            "conversation_id": event.conversation_id,
            "branch_id": event.branch_id,
            "turn": event.turn,
            "usage": usage_json(usage),
            "error": event.error,
        }
    )
