"""The full-screen view of usage: what can be chosen, and the charts with their table.

Owns scrolling, the drawing of the lines that the ``usage_charts`` modules make, and the line of choices.
The report comes ready-made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as ContentStyle
from textual.widgets._static import Static

from advchat.text import one_line
from advchat.usage_report import CUTS, SPANS, ReportCut, ReportSpan, UsageReport
from advchat.widgets.ink import ink
from advchat.widgets.usage_charts import ReportLine, charts
from advchat.widgets.usage_charts_names import name_charts
from advchat.widgets.usage_charts_table import table

CUT_WORDS: Mapping[ReportCut, str] = {
    "day": "Days",
    "model": "Models",
    "branch": "Branches",
    "conversation": "Conversations",
}
SPAN_WORDS: Mapping[ReportSpan, str] = {"week": "7 days", "month": "30 days", "year": "1 year", "ever": "ever"}

_GROUPS: Mapping[str, Mapping[str, str]] = {
    "cut": {name: CUT_WORDS[name] for name in CUTS},
    "span": {name: SPAN_WORDS[name] for name in SPANS},
    "scope": {"all": "all conversations", "one": "this conversation"},
}
"""What can be chosen: the kinds of choices, each value's word."""

_NOTHING = "Nothing was spent here in that time."


class UsageChoices(Static):
    """What the report is cut by, its span and its scope; each can be clicked."""

    DEFAULT_CSS = """
    UsageChoices { height: auto; padding: 0 1; color: $quiet; background: $background; }
    """

    class Chosen(Message):
        """The user wants another report: ``kind`` is ``cut``, ``span`` or ``scope``."""

        def __init__(self, kind: str, value: str) -> None:
            self.kind = kind
            self.value = value
            super().__init__()

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._chosen: tuple[str, str, str] = ("", "", "")

    def show(self, cut: ReportCut, span: ReportSpan, *, everywhere: bool) -> None:
        """Mark what is chosen."""
        self._chosen = (cut, span, "all" if everywhere else "one")
        self._lay_out()

    def on_resize(self) -> None:
        """Lay out anew for the width."""
        self._lay_out()

    def _lay_out(self) -> None:
        """Put as many groups on a line as fit."""
        width = self.size.width
        lines: list[Content] = []
        for (kind, choices), chosen in zip(_GROUPS.items(), self._chosen, strict=True):
            signs = [self._choice(kind, value, word, value == chosen) for value, word in choices.items()]
            group = Content("  " if width >= 44 else " ").join(signs)
            if lines and lines[-1].cell_length + group.cell_length + 5 <= width:
                lines[-1] = Content("   │ ").join([lines[-1], group])
            else:
                lines.append(group)
        self.update(Content("\n").join(lines))

    @staticmethod
    def _choice(kind: str, value: str, word: str, chosen: bool) -> Content:
        # The mark keeps it recognisable without colour.
        text = Content(("▸" if chosen else " ") + word)
        click = ContentStyle.from_meta({"@click": f"choose({kind!r}, {value!r})"})
        return text.stylize("bold $accent" if chosen else "").stylize(click)

    def action_choose(self, kind: str, value: str) -> None:
        """Pass a click on."""
        self.post_message(self.Chosen(kind, value))


class UsageCharts(ScrollView, can_focus=True):
    """The report: charts, then every number."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown,space", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "First", show=False),
        Binding("end", "scroll_end", "Last", show=False),
    ]
    """Scrolling."""

    DEFAULT_CSS = """
    UsageCharts {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 0 1;
        scrollbar-gutter: stable;
        background: $background;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._report: UsageReport | None = None
        self._said = ""
        self._lines: list[ReportLine] = []

    @property
    def report(self) -> UsageReport | None:
        """What is shown; None before the first report, and where words stand in its place."""
        return self._report

    def show(self, report: UsageReport) -> None:
        """Show a report."""
        self._report, self._said = report, ""
        self._lay_out()

    def say(self, words: str) -> None:
        """Show words in place of a report."""
        self._report, self._said = None, words
        self._lay_out()

    def on_resize(self) -> None:
        """Lay out anew for the size."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Draw anew in the new theme's colours."""
        super().notify_style_update()
        self.refresh()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        self._lines = list(self._laid_out(width)) if width > 0 else []
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _laid_out(self, width: int) -> Iterator[ReportLine]:
        report = self._report
        yield ()
        if report is None or not report.total.requests:
            yield ((" " + one_line(self._said or _NOTHING, width - 1), "quiet", ""),)
            return
        if report.cut == "day":
            yield from charts(report.rows, width, self.size.height)
        else:
            yield from name_charts(report.rows, width)
        yield ()
        yield from table(report, width)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the window."""
        width = self.scrollable_content_region.width
        line = y + round(self.scroll_y)
        base = self.rich_style
        if line >= len(self._lines):
            return Strip.blank(width, base)
        inks = ink(self)
        segments = [Segment(text, self._style(base, inks, *names)) for text, *names in self._lines[line]]
        return Strip(segments).simplify().adjust_cell_length(width, base)

    @staticmethod
    def _style(base: Style, inks: Mapping[str, Style], name: str, ground: str) -> Style:
        style = base + inks[name] if name else base
        return style + Style(bgcolor=inks[ground].color) if ground else style
