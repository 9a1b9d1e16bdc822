"""The driver for Unix terminals.

Owns reading the terminal so that no byte can end the input thread, and noticing that the terminal is gone.
Knows no widget. Imports what only Unix has.
"""

from __future__ import annotations

import os
import selectors
import sys
from codecs import getincrementaldecoder
from typing import IO, Any, ClassVar, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from advchat.terminal.keys import InputReader

_READ = 65536
_FULL = 2048
"""A read of this size or more may be one of several that a single paste was cut into."""


class _Outlet:
    """A text file for the writer thread that goes quiet when its terminal is gone.

    Without it the thread dies at the first failing write, its queue fills, and the program hangs.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.gone = False

    def write(self, text: str) -> None:
        """Write, or drop the text when nobody can see it."""
        if not self.gone:
            try:
                self._file.write(text)
            except (OSError, ValueError):
                self.gone = True

    def flush(self) -> None:
        """Flush, or note that the terminal is gone."""
        if not self.gone:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self.gone = True

    def fileno(self) -> int:
        """Tell the terminal's file number."""
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Textual's driver with an input thread of our own."""

    GONE: ClassVar[str] = "terminal_gone"
    """Method of the app that is called on its loop when the terminal is gone."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._outlet = _Outlet(cast("IO[str]", sys.__stderr__))
        self._file = cast("Any", self._outlet)

    @property
    def gone(self) -> bool:
        """Whether nobody can see the screen any more."""
        return self._outlet.gone

    def _get_terminal_size(self) -> tuple[int, int]:
        """Ask the terminal itself; COLUMNS and LINES are what a shell exported before the last resize."""
        for fileno in (self._outlet.fileno(), self.fileno):
            try:
                columns, lines = os.get_terminal_size(fileno)
            except (OSError, ValueError):
                continue
            if columns > 0 and lines > 0:
                return columns, lines
        return super()._get_terminal_size()

    def write(self, data: str) -> None:
        """Write, unless the screen is suspended or gone: a stopped writer would never take the text."""
        writer = self._writer_thread
        if writer is not None and writer.is_alive():
            super().write(data)

    def run_input_thread(self) -> None:
        """Read until told to stop or the terminal is gone; undecodable bytes become U+FFFD."""
        reader = InputReader()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = self._read(selector)
                    if not data:
                        self._hang_up()
                        return
                    for message in reader.feed(decode(data)):
                        self.process_message(message)
                for message in reader.tick():
                    self.process_message(message)

    def _read(self, selector: selectors.BaseSelector) -> bytes:
        """Read what there is; a paste that the kernel hands over in pieces is put together again."""
        data = part = self._read_once()
        while len(part) >= _FULL and selector.select(0):
            part = self._read_once()
            data += part
        return data

    def _read_once(self) -> bytes:
        try:
            return os.read(self.fileno, _READ)
        except OSError:
            return b""

    def _hang_up(self) -> None:
        if not os.isatty(self.fileno) and self._is_open():
            return
        self._outlet.gone = True
        self._loop.call_soon_threadsafe(getattr(self._app, self.GONE, self._app.exit))

    def _is_open(self) -> bool:
        """Tell an input that merely ended (a pipe) while the screen is still there."""
        try:
            return os.isatty(self._outlet.fileno())
        except (OSError, ValueError):
            return False
