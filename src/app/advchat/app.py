"""The program as Textual runs it.

Owns starting and leaving, signals, themes, the clipboard, and what happens when something of our own breaks.
What is shown and done is the screens'; who acts is handed in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver

from advchat.actions import Actions
from advchat.screens.main import MainScreen
from advchat.text import clean
from advchat.themes import THEMES, THEMES_16

if TYPE_CHECKING:
    from advchat.config import Config

log = logging.getLogger(__name__)

_PATIENCE = 0.1
"""Seconds that a key waits for those before it."""

_SAVE = 0.5
_CLOSE = 1.5
"""Seconds that saving and closing may take when leaving."""


class AdvchatApp(App[int], inherit_bindings=False):
    """The chat."""

    TITLE = "advchat"
    CSS_PATH = Path(__file__).with_name("advchat.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []
    """None: every key is a command's, and commands are the screens'."""

    def __init__(
        self,
        make_actions: Callable[[], Actions],
        *,
        theme: str | None = None,
        keys: Mapping[str, tuple[str, ...]] | None = None,
        log_file: Path | None = None,
    ) -> None:
        # What a shell exported at some time; Textual would take it for the terminal's size after each resize.
        for stale in ("COLUMNS", "LINES"):
            os.environ.pop(stale, None)
        super().__init__()
        few = self.console.color_system in {None, "standard", "windows"}
        self._looks = THEMES_16 if few else THEMES
        for known in self._looks.values():
            self.register_theme(known)
        self.theme = self._looks.get(theme or "", self._looks["dark"]).name
        self._make_actions = make_actions
        self._keys = dict(keys or {})
        self._log_file = log_file
        self._left = False
        self._early: list[events.Event] | None = []
        """Keys and pastes from before the first frame; None once they are handed over."""
        self.fault = ""
        """One line about a fault of our own that ended the program."""
        self.set_keymap({command: ",".join(chosen) for command, chosen in self._keys.items()})

    def get_default_screen(self) -> MainScreen:
        """Make the main screen the first one, so that the first frame is the real one."""
        return MainScreen(self._make_actions, self._keys, self._log_file)

    def get_driver_class(self) -> type[Driver]:
        """Use our driver for Unix terminals and Textual's for all else."""
        chosen = super().get_driver_class()
        if sys.platform != "win32" and chosen.__name__ == "LinuxDriver":
            # Late: it imports what only Unix has.
            from advchat.terminal.driver import TerminalDriver  # noqa: PLC0415

            return TerminalDriver
        return chosen

    @property
    def main(self) -> MainScreen:
        """The screen under all others."""
        return cast("MainScreen", self.screen_stack[0])

    def on_mount(self) -> None:
        """Leave in good order when told to by a signal."""
        if sys.platform == "win32" or self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled, number)
        self.app_resume_signal.subscribe(self, lambda _: self._repaint())

    async def on_event(self, event: events.Event) -> None:
        """Take keys strictly one after the other.

        Textual hands a key to the focused widget's queue and goes on to the next one, and runs the key's
        binding only once it has come back through the queues of all widgets between; a key that moves the
        focus, or the next letter, would then overtake what was pressed before it.
        """
        if self._early is not None and isinstance(event, events.Key | events.Paste):
            self._early.append(event)
            return
        pressed = isinstance(event, events.Key) and not event.is_forwarded
        if pressed:
            await self._settled()
        await super().on_event(event)
        if isinstance(event, events.Key) and pressed and event.is_forwarded and await self._settled():
            await self._run_binding(event)

    async def on_ready(self) -> None:
        """Hand over what was typed before there was a composer."""
        early, self._early = self._early or [], None
        for event in early:
            await self.on_event(event)

    async def _settled(self) -> bool:
        """Wait, within bounds, until the focused widget is done with all that it was handed."""
        done = asyncio.Event()
        if self.focused is not None and self.focused.call_later(done.set):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), _PATIENCE)
        return done.is_set()

    async def _run_binding(self, event: events.Key) -> None:
        """Run the binding of a key that the widget left alone, before the key comes back by itself."""
        if not event._stop_propagation and await self._check_bindings(event.key):
            event.stop()
            event.prevent_default()

    # Leaving

    def leave(self, code: int = 0) -> None:
        """Save, close and go."""
        if not self._left:
            self._left = True
            self.run_worker(self._leave(code), group="leave", exit_on_error=False)

    def action_leave(self) -> None:
        """Quit from any screen, as the main screen does."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.main.action_command("app.quit")

    def give_up(self, cause: str) -> None:
        """Leave with one line to say on the way out."""
        self.fault = cause
        self.leave(1)

    def _signalled(self, number: int) -> None:
        self.leave(128 + number)

    def terminal_gone(self) -> None:
        """Leave, because nobody can see the screen any more."""
        self.leave(128 + signal.SIGHUP)

    async def _leave(self, code: int) -> None:
        main = self.main
        if main.started:
            await self._within(_SAVE, main.line.done)
            await self._within(_SAVE, main.drafts.save)
            main.line.close()
            await self._within(_CLOSE, main.actions.close)
        self.exit(code, return_code=code)

    async def _within(self, seconds: float, step: Callable[[], Awaitable[None]]) -> None:
        """Do a step of leaving; neither its failure nor its slowness keeps the user here."""
        try:
            await asyncio.wait_for(step(), seconds)
        except Exception:
            log.exception("a step of leaving failed")

    # The terminal

    def suspend_to_shell(self) -> None:
        """Stop the process as Ctrl+Z does, where a shell is there to go on from."""
        if sys.platform == "win32" or os.getsid(0) == os.getpid():
            self.main.complain("There is no shell to return to: this terminal runs advchat alone.")
            return
        self.action_suspend_process()

    def _repaint(self) -> None:
        self.screen.refresh(layout=True)

    def copy_to_clipboard(self, text: str) -> None:
        """Put text on the clipboard by every means there is, and tell what is known of it."""
        super().copy_to_clipboard(text)
        self.run_worker(self._copy(text), group="copy", exit_on_error=False)

    async def _copy(self, text: str) -> None:
        # Late: copying starts processes, which the first frame has no use for.
        from advchat.terminal import clipboard  # noqa: PLC0415

        self.main.notice.say(await clipboard.copy(text))

    def visit(self, url: str) -> None:
        """Open a link in the desktop's browser; where there is none, copy it."""
        desktop = (
            sys.platform in {"darwin", "win32"}
            or os.environ.get("DISPLAY")
            or os.environ.get("WAYLAND_DISPLAY")
        )
        if desktop:
            self.open_url(url)
            self.main.notice.say(f"Opened {url}")
        else:
            # Without a desktop a browser would draw over the screen.
            self.copy_to_clipboard(url)

    def change_theme(self) -> None:
        """Change between dark and light."""
        self.theme = self._looks["light" if self.current_theme.dark else "dark"].name

    # Faults

    def _fatal_error(self) -> None:
        """End after a fault of our own: one line for the user, the traceback into the log.

        Textual would print the traceback with every local variable, among them keys and prompts.
        """
        error = sys.exc_info()[1]
        log.critical("advchat ended by a fault of its own", exc_info=error)
        where = f" The details are in {self._log_file}." if self._log_file is not None else ""
        self.fault = f"ended by a fault of its own ({type(error).__name__}).{where}"
        self._close_messages_no_wait()


def log_to(path: Path) -> None:
    """Send the program's log to a file, or nowhere if that cannot be: the terminal is the screen's."""
    handler: logging.Handler
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    except OSError:
        handler = logging.NullHandler()
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)


def run_app(make_actions: Callable[[], Actions], config: Config) -> int:
    """Run the program until it is left and return its exit status."""
    from advchat.config import log_file  # noqa: PLC0415 - its module is the caller's to load

    path = log_file()
    log_to(path)
    app = AdvchatApp(make_actions, theme=config.theme, keys=config.keys, log_file=path)
    code = app.run()
    if app.fault:
        sys.stderr.write(f"advchat: {clean(app.fault, newlines=False)}\n")
    return app.return_code or code or 0
