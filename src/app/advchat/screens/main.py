"""The main screen, whole.

Owns running commands by ID, and the commands on the program itself: panels, palette, help, copying, the
editor, stopping, suspending, quitting.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import BindingType

from advchat.actions import UserError
from advchat.bindings import bindings
from advchat.commands import BY_ID, Command
from advchat.screens.doing import Call
from advchat.screens.exploring import Exploring
from advchat.screens.prompting import Failed
from advchat.widgets.footer import KeyFooter
from advchat.widgets.lines import AskBar

if TYPE_CHECKING:
    from advchat.app import AdvchatApp
    from advchat.widgets.transcript import Transcript


class MainScreen(Exploring):
    """Everything the program can be told to do."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("global")
    """The commands that work everywhere."""

    _leaving = False

    @property
    def program(self) -> AdvchatApp:
        """The app, as what it is."""
        return cast("AdvchatApp", self.app)

    def give_up(self, cause: str) -> None:
        """End the program with the cause, because it could not begin."""
        self.program.give_up(cause)

    # Running

    def action_command(self, command_id: str) -> None:
        """Carry out the command of a key, the footer or the palette; a refusal is said."""
        try:
            self.run(BY_ID[command_id])
        except UserError as error:
            self.complain(str(error))

    def run(self, command: Command, argument: str = "", *, failed: Failed | None = None) -> None:
        """Carry a command out. Raises UserError for what can be refused at once."""
        handler: Callable[[Call], None] = getattr(self, f"do_{command.id.replace('.', '_')}")
        handler(Call(argument, failed))

    def usable(self, command: Command) -> bool:
        """Tell whether a command would do something now."""
        shown = self.shown
        match command.id:
            case "app.suspend":
                return sys.platform != "win32"
            case "composer.unqueue":
                return bool(shown.queue)
            case "branch.previous" | "branch.next" | "branch.parent" | "branch.child":
                return len(shown.branches) > 1
            case "branch.bin":
                return bool(shown.binned)
            case "turn.continue" | "turn.retry" | "turn.discard":
                return command.id.partition(".")[2] in self.offered()
            case _:
                return super().usable(command)

    @on(KeyFooter.Pressed)
    def _press(self, event: KeyFooter.Pressed) -> None:
        event.stop()
        self.action_command(event.command_id)

    @on(AskBar.Answered)
    def _answered(self, event: AskBar.Answered) -> None:
        event.stop()
        command_id, _, branch = event.purpose.partition(" ")
        if branch:
            answer = event.answer
            self.act(Call(), lambda: self.actions.rename_branch(branch, answer))
            return
        try:
            self.run(BY_ID[command_id], event.answer)
        except UserError as error:
            self.complain(str(error))

    # Panels

    def do_panel_branches(self, call: Call) -> None:
        """Unfold, focus or fold the branches."""
        self.toggle_panel("branches")

    def do_panel_turns(self, call: Call) -> None:
        """Unfold, focus or fold the turns."""
        self.toggle_panel("turns")

    def do_panel_usage(self, call: Call) -> None:
        """Unfold, focus or fold the usage; ``full`` shows it full-screen."""
        if call.argument == "full":
            self.do_usage_full(call)
        elif call.argument:
            raise UserError("/usage shows the panel, /usage full the whole screen.")
        else:
            self.toggle_panel("usage")

    def do_usage_full(self, call: Call) -> None:
        """Show usage full-screen."""
        # Late: it brings what draws charts, which the first frame has no use for.
        from advchat.screens.usage import UsageScreen  # noqa: PLC0415

        self.app.push_screen(UsageScreen(self.actions, self.keys))

    def do_panel_transcript(self, call: Call) -> None:
        """Focus the transcript, or return to the composer from it."""
        self.toggle_transcript()

    # The program

    def do_app_palette(self, call: Call) -> None:
        """Pick any command and carry it out."""
        # Late: the first frame does not need it.
        from advchat.screens import pickers  # noqa: PLC0415

        def picked(command_id: str | None) -> None:
            if command_id is not None:
                self.action_command(command_id)

        self.app.push_screen(pickers.PaletteScreen(self.usable, self.keys), picked)

    def do_app_help(self, call: Call) -> None:
        """Show the keys and commands in force."""
        # Late: it is long, and the first frame does not need it.
        from advchat.screens.help import HelpScreen  # noqa: PLC0415

        self.app.push_screen(HelpScreen(self.keys))

    def do_app_theme(self, call: Call) -> None:
        """Change between dark and light."""
        self.program.change_theme()

    def do_app_copy(self, call: Call) -> None:
        """Copy what is selected in the field or on the screen; blanks leave the clipboard alone."""
        in_field = getattr(self.focused, "selected_text", "")
        selected = in_field if isinstance(in_field, str) and in_field else self.get_selected_text()
        if selected and selected.strip():
            self.app.copy_to_clipboard(selected)
        else:
            quit_key = "Ctrl+Q"
            self.notice.say(f"Nothing is selected to copy. {quit_key} quits.")

    def do_app_escape(self, call: Call) -> None:
        """Close the topmost open thing, else stop the run shown, else return to the composer."""
        self._leaving = False
        if self.close_completion() or self.disarm():
            return
        if self.furnished and self.query_one(AskBar).is_open:
            self.query_one(AskBar).action_close()
        elif self.close_panel():
            self.home()
        elif self.shown.run is not None:
            self.run_worker(self._stop(), group="stop", exit_on_error=False)
        else:
            self.notice.clear()
            self.clear_selection()
            self.home()

    async def _stop(self) -> None:
        await self.line.attempt(self.actions.stop)

    def do_app_suspend(self, call: Call) -> None:
        """Return to the shell."""
        self.save_soon()
        self.program.suspend_to_shell()

    def do_app_quit(self, call: Call) -> None:
        """Quit; while an answer is running, only when told twice."""
        if self.shown.runs and not self._leaving:
            self._leaving = True
            self.notice.say("An answer is still running. Ctrl+Q again stops it and quits; Esc stays.")
            return
        self.program.leave()

    def on_transcript_link_requested(self, event: Transcript.LinkRequested) -> None:
        """Open a link that was clicked."""
        event.stop()
        self.program.visit(event.url)

    # The composer

    def do_composer_send(self, call: Call) -> None:
        """Send what is typed."""
        self.composer.submit()

    def do_composer_newline(self, call: Call) -> None:
        """Begin a new line."""
        self.composer.add("\n")

    def do_composer_undo(self, call: Call) -> None:
        """Take the last edit back."""
        self.composer.action_undo()

    def do_composer_unqueue(self, call: Call) -> None:
        """Take the newest waiting prompt back."""
        if self.shown.queue:
            self.unqueue(self.shown.queue[-1].queue_id)

    def do_composer_editor(self, call: Call) -> None:
        """Edit the text in the user's editor; what runs goes on meanwhile."""
        self.run_worker(self._edit(), group="editor", exit_on_error=False)

    async def _edit(self) -> None:
        # Late: most sessions never edit this way.
        from advchat.terminal import editor  # noqa: PLC0415

        text = self.composer.text
        try:
            with self.app.suspend():
                edited = await asyncio.to_thread(editor.edit, text)
        except editor.EditorError as error:
            self.complain(str(error))
        else:
            if edited != text:
                self.composer.put(edited)
        self.refresh(layout=True)
