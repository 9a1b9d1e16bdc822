"""Usage, full-screen: over time, by model, by branch, by conversation.

Owns what is chosen, asking for the report, and asking again when something was spent meanwhile. What is drawn
is the widgets'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from advchat.actions import Actions, UserError
from advchat.bindings import bindings
from advchat.commands import Scope
from advchat.screens.over import OverScreen
from advchat.usage_report import CUTS, SPANS, ReportCut, ReportSpan, UsageReport
from advchat.widgets.footer import KeyFooter
from advchat.widgets.heading import Heading
from advchat.widgets.numbers import count, money
from advchat.widgets.usage_charts_view import CUT_WORDS, SPAN_WORDS, UsageCharts, UsageChoices
from advchat_storage.errors import StorageError
from advchat_storage.models import UsageSum

_LOOK = 1.0
"""Seconds between looks whether something was spent."""


class UsageScreen(OverScreen[None]):
    """The report with its choices; left and right change what it is cut by."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("report")
    """Changing what is shown."""

    scope: ClassVar[Scope] = "report"

    def __init__(self, actions: Actions, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(keys)
        self._actions = actions
        self._cut: ReportCut = "day"
        self._span: ReportSpan = "month"
        self._everywhere = True
        self._seen: UsageSum | None = None

    def compose(self) -> ComposeResult:
        """Lay choices and charts out between heading and footer."""
        yield Heading()
        yield UsageChoices()
        yield UsageCharts()
        yield KeyFooter()

    @property
    def charts(self) -> UsageCharts:
        """The report."""
        return self.query_one(UsageCharts)

    def on_mount(self) -> None:
        """Ask for the first report."""
        self.show_keys()
        self.charts.focus()
        self._choose()
        self.set_interval(_LOOK, self._look)

    def _look(self) -> None:
        if self._actions.snapshot.usage.everything != self._seen:
            self._read()

    def _choose(self, *, cut: ReportCut | None = None, span: ReportSpan | None = None) -> None:
        """Show what is chosen now, from its top."""
        self._cut, self._span = cut or self._cut, span or self._span
        if not self.query(UsageCharts):
            return  # A key was quicker than the layout, which begins with what is chosen.
        self.query_one(UsageChoices).show(self._cut, self._span, everywhere=self._everywhere)
        self.charts.scroll_home(animate=False)
        self._read()

    def _read(self) -> None:
        self._seen = self._actions.snapshot.usage.everything
        self.run_worker(self._put(), group="report", exclusive=True, exit_on_error=False)

    async def _put(self) -> None:
        try:
            report = await self._actions.usage_report(self._cut, self._span, everywhere=self._everywhere)
        except (UserError, StorageError) as error:
            self.charts.say(str(error))
            return
        self.charts.show(report)
        self.query_one(Heading).show("Usage", _about(report), _known(report.total))

    @on(UsageChoices.Chosen)
    def _clicked(self, event: UsageChoices.Chosen) -> None:
        event.stop()
        if event.kind == "scope":
            self._everywhere = event.value == "all"
        self._choose(
            cut=next((cut for cut in CUTS if cut == event.value), None),
            span=next((span for span in SPANS if span == event.value), None),
        )

    # Commands

    def do_report_next(self) -> None:
        """Cut by the next."""
        self._choose(cut=CUTS[(CUTS.index(self._cut) + 1) % len(CUTS)])

    def do_report_previous(self) -> None:
        """Cut by the one before."""
        self._choose(cut=CUTS[CUTS.index(self._cut) - 1])

    def do_report_span(self) -> None:
        """Look at another span of time."""
        self._choose(span=SPANS[(SPANS.index(self._span) + 1) % len(SPANS)])

    def do_report_scope(self) -> None:
        """Change between this conversation and all."""
        self._everywhere = not self._everywhere
        self._choose()


def _about(report: UsageReport) -> str:
    where = "all conversations" if report.everywhere else report.title or "this conversation"
    span = SPAN_WORDS[report.span]
    return f"{CUT_WORDS[report.cut]} · {span if report.span == 'ever' else f'last {span}'} · {where}"


def _known(total: UsageSum) -> str:
    if not total.requests:
        return ""
    tokens = count(total.total_tokens, 14, at_least="total_tokens" in total.unknown)
    cost = money(total.cost_nano, 11, at_least="cost_nano" in total.unknown)
    parts = [f"{total.requests:,} request{'' if total.requests == 1 else 's'}", f"{tokens} tokens", cost]
    if total.seconds and total.output_tokens:
        parts.append(f"{total.output_tokens / total.seconds:.1f} tokens/s")
    return " · ".join(parts)
