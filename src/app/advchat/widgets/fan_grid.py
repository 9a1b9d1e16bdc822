"""Several answers to one prompt, side by side.

Owns how many stand beside and below each other at a size, which one is chosen, and moving between them; where
they do not fit, one is shown under a line of tabs. What an answer is worth is the screen's to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from advchat.text import one_line
from advchat.widgets.answer_pane import AnswerPane
from advchat.widgets.ink import ink

_NARROWEST = 38
_LOWEST = 9


@dataclass(frozen=True, slots=True)
class Shape:
    """How answers are laid out: with ``tabs``, one at a time."""

    columns: int
    rows: int
    tabs: bool = False


def shape(count: int, width: int, height: int) -> Shape:
    """Lay out that many answers, as evenly as the size allows."""
    most = max(1, min(count, width // _NARROWEST))
    rows = math.ceil(count / most)
    if rows * _LOWEST > height:
        return Shape(1, 1, tabs=True)
    return Shape(math.ceil(count / rows), rows)


class Tabs(Widget):
    """A line that names every answer with its state."""

    DEFAULT_CSS = """
    Tabs { height: 1; background: $surface; display: none; }
    """

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, index: int) -> None:
            self.index = index
            super().__init__()

    def __init__(self) -> None:
        super().__init__()
        self._labels: tuple[str, ...] = ()
        self._chosen = 0

    def show(self, labels: Sequence[str], chosen: int) -> None:
        """Name these answers, one of them chosen."""
        if (tuple(labels), chosen) != (self._labels, self._chosen):
            self._labels, self._chosen = tuple(labels), chosen
            self.refresh()

    def _places(self) -> list[tuple[int, str]]:
        """Tell each tab's width and text."""
        room = max(3, self.size.width // max(1, len(self._labels)) - 1)
        texts = [one_line(label, room - 2) for label in self._labels]
        return [(cell_len(text) + 2, text) for text in texts]

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        base, inks = self.rich_style, ink(self)
        segments: list[Segment] = []
        for index, (_, text) in enumerate(self._places()):
            if index == self._chosen:
                segments.append(Segment(f"[{text}]", base + inks["key"] + inks["cursor"]))
            else:
                segments.append(Segment(f" {text} ", base + inks["quiet"]))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_click(self, event: events.Click) -> None:
        """Choose the answer whose tab was hit."""
        end = 0
        for index, (cells, _) in enumerate(self._places()):
            end += cells
            if event.x < end:
                self.post_message(self.Picked(index))
                return


class FanGrid(Widget):
    """Two to eight panes."""

    DEFAULT_CSS = """
    FanGrid {
        height: 1fr;
        layout: vertical;
        & > Container { layout: grid; height: 1fr; grid-gutter: 0; }
    }
    """

    class Moved(Message):
        """Another answer is chosen."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self.panes = [AnswerPane(number, title) for number, title in enumerate(titles, start=1)]
        """In order."""
        self._tabs = Tabs()
        self._cells = Container(*self.panes)
        self._chosen = 0
        self._shape = Shape(1, 1)

    def compose(self) -> ComposeResult:
        """Lay the panes out under the tabs."""
        yield self._tabs
        yield self._cells

    @property
    def chosen(self) -> int:
        """Place of the chosen answer, from 0."""
        return self._chosen

    @property
    def tabbed(self) -> bool:
        """Whether only the chosen answer is shown."""
        return self._shape.tabs

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        self._shape = shape(len(self.panes), event.size.width, event.size.height)
        self._cells.styles.grid_size_columns = self._shape.columns
        self._cells.styles.grid_size_rows = self._shape.rows
        self._tabs.display = self._shape.tabs
        self._show_panes()

    def _show_panes(self) -> None:
        for index, pane in enumerate(self.panes):
            pane.display = not self._shape.tabs or index == self._chosen

    def name_tabs(self, labels: Sequence[str]) -> None:
        """Write the line of tabs anew."""
        self._tabs.show(labels, self._chosen)

    def choose(self, index: int) -> None:
        """Choose an answer; places beyond the last one mean none."""
        if 0 <= index < len(self.panes):
            self._chosen = index
            self._show_panes()
            self.panes[index].focus()
            self.post_message(self.Moved())

    def step(self, across: int, down: int) -> None:
        """Move the choice by columns and rows, where there is an answer."""
        if self._shape.tabs or not down:
            self.choose((self._chosen + across + down) % len(self.panes))
            return
        target = self._chosen + down * self._shape.columns
        if target >= len(self.panes) and self._chosen // self._shape.columns < self._shape.rows - 1:
            target = len(self.panes) - 1
        self.choose(target)

    def on_answer_pane_chosen(self, event: AnswerPane.Chosen) -> None:
        """Follow the focus, wherever it came from."""
        event.stop()
        self._chosen = event.pane.number - 1
        self.post_message(self.Moved())

    def on_tabs_picked(self, event: Tabs.Picked) -> None:
        """Choose by a click on a tab."""
        event.stop()
        self.choose(event.index)
