"""The lines around the composer.

Owns a notice beside it, the prompts that wait, an offer, a question. Text from outside is neutralised where
it is drawn and never read as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets._static import Static

from advchat.text import clean, one_line

if TYPE_CHECKING:
    from textual.widgets import Input

    from advchat.state import Offer, QueuedPrompt

_MOST_QUEUED = 4
"""Lines that waiting prompts may take."""


class Notice(Static):
    """One line beside the composer: what went wrong and the way out, or what has been done."""

    DEFAULT_CSS = """
    Notice {
        height: auto;
        max-height: 3;
        padding: 0 1;
        display: none;
        color: $foreground;
        &.-shown { display: block; }
        &.-error { color: $error; }
    }
    """

    def say(self, message: str, *, error: bool = False) -> None:
        """Show a message until the next one or until it is cleared."""
        text = clean(message, newlines=False)
        self.set_class(error, "-error")
        self.set_class(bool(text), "-shown")
        # The mark keeps an error recognisable without colour.
        self.update(Content(f"! {text}" if error else text))

    def clear(self) -> None:
        """Take the message away."""
        if self.has_class("-shown"):
            self.say("")


class QueueLines(Static):
    """The prompts that wait for the shown branch to be free."""

    DEFAULT_CSS = """
    QueueLines {
        height: auto;
        max-height: 4;
        padding: 0 1;
        color: $quiet;
        display: none;
        &.-shown { display: block; }
    }
    """

    class TakeBack(Message):
        """The user wants a waiting prompt back in the composer."""

        def __init__(self, queue_id: int) -> None:
            self.queue_id = queue_id
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._queue: tuple[QueuedPrompt, ...] = ()

    def show(self, queue: tuple[QueuedPrompt, ...]) -> None:
        """Show these prompts, oldest first; what does not fit is counted."""
        if queue == self._queue:
            return
        self._queue = queue
        self.set_class(bool(queue), "-shown")
        self._draw()

    def on_resize(self) -> None:
        """Cut the prompts for the new width."""
        self._draw()

    def _draw(self) -> None:
        width = max(20, self.size.width or 80)
        shown = self._queue if len(self._queue) <= _MOST_QUEUED else self._queue[: _MOST_QUEUED - 1]
        lines = [f"◷ waits: {one_line(prompt.text, width - 24)}  ✕ take back" for prompt in shown]
        if len(self._queue) > len(shown):
            lines.append(f"  and {len(self._queue) - len(shown)} more wait")
        self.update(Content("\n".join(lines)))

    def on_click(self, event: events.Click) -> None:
        """Take the clicked prompt back."""
        offset = event.get_content_offset(self)
        most = _MOST_QUEUED if len(self._queue) <= _MOST_QUEUED else _MOST_QUEUED - 1
        if offset is not None and offset.y < min(len(self._queue), most):
            self.post_message(self.TakeBack(self._queue[offset.y].queue_id))


class OfferBar(Static, can_focus=True):
    """A question above the composer: Alt and a letter answers, as does the letter alone once it is focused."""

    DEFAULT_CSS = """
    OfferBar {
        height: auto;
        padding: 0 1;
        background: $panel;
        display: none;
        &.-shown { display: block; }
        &:focus { background: $row-cursor; }
    }
    """

    class Answered(Message):
        """The user chose."""

        def __init__(self, choice: str) -> None:
            self.choice = choice
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._offer: Offer | None = None

    def show(self, offer: Offer | None) -> None:
        """Ask this, or nothing."""
        if offer == self._offer:
            return
        self._offer = offer
        self.can_focus = offer is not None and bool(offer.choices)
        self.set_class(offer is not None, "-shown")
        if offer is not None:
            self.update(self._text(offer))

    def key(self, key: str) -> bool:
        """Answer by a key, pressed with Alt anywhere or alone when focused; tell whether it was an answer."""
        for letter, choice, _ in self._offer.choices if self._offer is not None else ():
            if key == f"alt+{letter}" or (self.has_focus and key == letter):
                self.post_message(self.Answered(choice))
                return True
        return False

    def on_key(self, event: events.Key) -> None:
        """Answer by the letter alone."""
        if self.key(event.key):
            event.stop()

    def action_choose(self, choice: str) -> None:
        """Answer by a click."""
        self.post_message(self.Answered(choice))

    def _text(self, offer: Offer) -> Content:
        parts = [Content(clean(offer.text, newlines=False))]
        if offer.progress is not None:
            filled = round(max(0.0, min(1.0, offer.progress)) * 20)
            parts.append(Content(f"  {'━' * filled}{'─' * (20 - filled)} {offer.progress:.0%}"))
        for place, (letter, choice, label) in enumerate(offer.choices):
            answer = Content(f"Alt+{letter.upper()} {clean(label, newlines=False)}")
            click = Style.from_meta({"@click": f"choose({choice!r})"})
            # On a line of their own, so that no answer is broken in two.
            parts += [Content("   " if place else "\n"), answer.stylize("bold underline").stylize(click)]
        return Content("").join(parts)


class AskBar(Horizontal):
    """A question in one line, answered in place: a new title, a file's name."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", show=False)]
    """Esc leaves without an answer."""

    DEFAULT_CSS = """
    AskBar {
        height: 1;
        padding: 0 1;
        background: $panel;
        display: none;
        &.-shown { display: block; layout: horizontal; }
        & > Static { width: auto; color: $accent; margin-right: 1; }
        & > LineInput { width: 1fr; }
    }
    """

    class Answered(Message):
        """The user answered; ``purpose`` is what the question was asked for."""

        def __init__(self, purpose: str, answer: str) -> None:
            self.purpose = purpose
            self.answer = answer
            super().__init__()

    class Closed(Message):
        """The bar has closed, answered or not."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own parameter name
        super().__init__(id=id)
        self._purpose = ""
        self._field: Input | None = None

    def compose(self) -> ComposeResult:
        """Lay the label out; the field is made when a first question is asked, to spare the first frame."""
        yield Static("", markup=False)

    @property
    def is_open(self) -> bool:
        """Whether a question is being asked."""
        return self.has_class("-shown")

    def ask(self, purpose: str, label: str, value: str = "") -> None:
        """Ask, with an answer to begin from."""
        self._purpose = purpose
        self.query_one(Static).update(label)
        if self._field is None:
            # Late: Textual's field and its CSS cost the first frame some milliseconds.
            from advchat.widgets.line_input import LineInput  # noqa: PLC0415

            self._field = LineInput()
            self.mount(self._field)
        self._field.value = clean(value, newlines=False)
        self._field.cursor_position = len(self._field.value)
        self.add_class("-shown")
        self._field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the answer on and close."""
        event.stop()
        answer = event.value.strip()
        if answer:
            self.post_message(self.Answered(self._purpose, answer))
        self.action_close()

    def action_close(self) -> None:
        """Close without an answer."""
        self.remove_class("-shown")
        self.post_message(self.Closed())
