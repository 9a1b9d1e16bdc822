"""Where prompts are typed.

Owns typing, pasting, drawing and growing of the text, and nothing of what becomes of it: Enter posts
``Submitted`` with the text; whoever cannot use it puts it back. Text is neutralised as it comes in, so that
what is seen is what is sent.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import Selection
from textual.expand_tabs import expand_tabs_inline
from textual.geometry import Region
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets._text_area import TextArea

from advchat.bindings import bindings
from advchat.commands import BY_ID
from advchat.text import clean, one_line
from advchat.widgets.ink import ink


def typed(text: str) -> str:
    """Make text fit for the composer: line ends as newlines, tabs kept, all else neutralised."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\t".join(clean(part) for part in text.split("\t"))


class Composer(TextArea, inherit_css=False):
    """A text field of several lines in which Enter sends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("composer", skip=("composer.send", "composer.newline")),
        Binding("up", "up", "Up", show=False),
        Binding("down", "down", "Down", show=False),
        Binding("tab", "screen.complete", "Complete", show=False),
        Binding("ctrl+y", "redo", "Redo", show=False),
    ]
    """Sending, new lines, the editor, undo; Tab completes. Ctrl+Z is left to suspending."""

    DEFAULT_CSS = """
    Composer {
        width: 1fr;
        height: auto;
        min-height: 1;
        padding: 0 1;
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
    }
    """

    hint: str = "Write a prompt. Enter sends, Ctrl+J begins a new line, / lists commands."
    """Said while it is empty."""

    class Submitted(Message):
        """The user wants the text sent, or run as a slash command; the composer is empty already."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Stepped(Message):
        """Up or down was pressed where the cursor cannot go further."""

        def __init__(self, step: int) -> None:
            self.step = step
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False)
        self.send_keys = BY_ID["composer.send"].keys
        """Keys that hand the text over; the config may name others."""
        self.newline_keys = BY_ID["composer.newline"].keys
        """Keys that begin a new line; the config may name others."""
        self.cursor_blink = False
        self.match_cursor_bracket = False

    def put(self, text: str) -> None:
        """Replace the whole text and put the cursor at its end; undo brings the old text back."""
        self.replace(typed(text), (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def load(self, text: str) -> None:
        """Replace the whole text for another place's; what was typed before is not part of its undoing."""
        self.load_text(typed(text))
        self.move_cursor(self.document.end)

    def add(self, text: str) -> None:
        """Insert text at the cursor."""
        result = self.replace(typed(text), *self.selection)
        self.move_cursor(result.end_location)

    async def _on_key(self, event: events.Key) -> None:
        # In the order of typing: as bindings, these two would come after what is typed next.
        if event.key in self.send_keys:
            event.prevent_default()
            event.stop()
            self.submit()
        elif event.key in self.newline_keys:
            event.prevent_default()
            event.stop()
            self.add("\n")
        elif event.key == "enter":
            # TextArea takes Enter for a new line whatever it is bound to.
            event.prevent_default()
        elif event.key.startswith("alt+"):
            # TextArea types the letter that terminals send with Alt; it may answer a question above.
            event.prevent_default()

    def submit(self) -> None:
        """Hand the text over and empty the composer."""
        text = self.text
        self.load("")
        self.post_message(self.Submitted(text))

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.history.checkpoint()
        self.add(event.text)
        self.history.checkpoint()

    def action_up(self) -> None:
        """Move up, or tell that there is nothing above."""
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            self.post_message(self.Stepped(-1))
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        """Move down, or tell that there is nothing below."""
        if self.navigator.is_last_wrapped_line(self.cursor_location):
            self.post_message(self.Stepped(1))
        else:
            self.action_cursor_down()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows, without the themes of TextArea's own that this class does not draw with."""
        return ScrollView.render_lines(self, crop)

    def render_line(self, y: int) -> Strip:
        """Draw one row. TextArea's own drawing styles a whole line per row, which a huge paste makes slow."""
        width = self.scrollable_content_region.width
        base = self.rich_style
        row = y + round(self.scroll_y)
        rows = self.wrapped_document._offset_to_line_info
        if not self.text:
            return self._hint(y, width, base)
        if row >= len(rows):
            return Strip.blank(width, base)
        line_index, section = rows[row]
        line = self.document.get_line(line_index)
        breaks = self.wrapped_document.get_offsets(line_index)
        start = breaks[section - 1] if section else 0
        last = section >= len(breaks)
        end = len(line) if last else breaks[section]
        segments = self._styled(line_index, line[start:end], start, last=last, base=base)
        return Strip(segments).adjust_cell_length(width, base)

    def _hint(self, y: int, width: int, base: Style) -> Strip:
        if y:
            return Strip.blank(width, base)
        inks = ink(self)
        quiet = base + inks["quiet"]
        text = one_line(self.hint, width)
        cursor = base + inks["caret"] if self._draw_cursor else quiet
        return Strip([Segment(text[:1] or " ", cursor), Segment(text[1:], quiet)]).adjust_cell_length(
            width, base
        )

    def _styled(self, row: int, text: str, start: int, *, last: bool, base: Style) -> list[Segment]:
        """Cut a row's text at the selection and the cursor, and style the pieces."""
        marks = _marks(self.selection, row, start, len(text))
        at = self.selection.end[1] - start if self.selection.end[0] == row else -1
        shown = self._draw_cursor and (0 <= at < len(text) or (last and at == len(text)))
        if shown and at == len(text):
            text += " "
        edges = sorted({0, len(text), *marks, *((at, at + 1) if shown else ())})
        inks = ink(self)
        selected, caret = base + inks["selected"], base + inks["caret"]
        segments: list[Segment] = []
        column = 0
        for left, right in pairwise(edges):
            inside = bool(marks) and marks[0] <= left < marks[1]
            style = caret if shown and left == at else selected if inside else base
            piece = _expanded(text[left:right], column, self.indent_width)
            column += cell_len(piece)
            segments.append(Segment(piece, style))
        return segments


def _marks(selection: Selection, row: int, start: int, length: int) -> tuple[int, ...]:
    """Tell from where to where the row's text is selected; empty if it is not."""
    top, bottom = sorted(selection)
    if top == bottom or not top[0] <= row <= bottom[0]:
        return ()
    left = max(0, top[1] - start) if row == top[0] else 0
    right = min(length, bottom[1] - start) if row == bottom[0] else length
    return (left, right) if left < right else ()


def _expanded(text: str, column: int, tab: int) -> str:
    """Expand tabs as if the text began at that column."""
    if "\t" not in text:
        return text
    return expand_tabs_inline(" " * (column % tab) + text, tab)[column % tab :]
