"""The full view of usage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.widget import Widget

from advchat.screens.usage import UsageScreen
from advchat.widgets.heading import Heading
from advchat.widgets.usage_charts_view import UsageCharts, UsageChoices
from advchat_storage.errors import LockedError
from tests.app.fakes import FakeActions, snapshot, usage
from tests.app.screens.conftest import Desk, Open


def screen(desk: Desk) -> UsageScreen:
    assert isinstance(desk.app.screen, UsageScreen)
    return desk.app.screen


def drawn(widget: Widget) -> str:
    return "\n".join(widget.render_line(y).text for y in range(widget.size.height))


def report(desk: Desk) -> str:
    """What the report shows; nothing before it is there."""
    return "".join(drawn(charts) for charts in desk.app.screen.query(UsageCharts))


async def opened(desk: Desk) -> None:
    await desk.pilot.press("f4", "enter")
    await desk.called("usage_report", "day", "month", True)
    await desk.until(lambda: "Tokens a day" in report(desk))


async def test_enter_in_the_panel_opens_it_and_esc_closes_it(desk: Open) -> None:
    async with desk() as it:
        await opened(it)
        heading = drawn(it.app.screen.query_one(Heading))
        assert "Usage" in heading
        assert "Days · last 30 days · all conversations" in heading
        assert "requests" in heading
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.main)
        assert it.main.usage.has_focus


@pytest.mark.parametrize("line", ["/usage full", "/usage"])
async def test_the_slash_command(desk: Open, line: str) -> None:
    async with desk() as it:
        await it.type(line)
        await it.pilot.press("enter")
        if line == "/usage":
            await it.until(lambda: it.main.usage.has_focus)
        else:
            await it.until(lambda: isinstance(it.app.screen, UsageScreen))


async def test_another_argument_is_refused_and_kept(desk: Open) -> None:
    async with desk() as it:
        await it.type("/usage all")
        await it.pilot.press("enter")
        await it.until(lambda: "/usage full" in it.notice)
        assert it.text == "/usage all"


async def test_keys_change_what_is_asked_for(desk: Open) -> None:
    async with desk() as it:
        await opened(it)
        for key, cut in (("right", "model"), ("tab", "branch"), ("right", "conversation"), ("right", "day")):
            await it.pilot.press(key)
            await it.called("usage_report", cut, "month", True)
        await it.pilot.press("left")
        await it.called("usage_report", "conversation", "month", True)
        await it.pilot.press("t")
        await it.called("usage_report", "conversation", "year", True)
        await it.pilot.press("c")
        await it.called("usage_report", "conversation", "year", False)
        choices = str(screen(it).query_one(UsageChoices).render())
        assert all(f"▸{word}" in choices for word in ("Conversations", "1 year", "this conversation"))


async def test_keys_may_be_quicker_than_the_layout(desk: Open) -> None:
    async with desk() as it:
        it.main.action_command("usage.full")
        screen(it).action_command("report.next")
        await it.called("usage_report", "model", "month", True)
        assert ("day", "month", True) not in it.actions.called("usage_report")


async def test_choices_can_be_clicked(desk: Open) -> None:
    async with desk() as it:
        await opened(it)
        words = str(screen(it).query_one(UsageChoices).render())
        for word, arguments in (
            ("Models", ("model", "month", True)),
            ("7 days", ("model", "week", True)),
            ("this conversation", ("model", "week", False)),
        ):
            # One cell for the padding, one for the mark.
            await it.pilot.click(UsageChoices, offset=(words.index(word) + 2, 0))
            await it.called("usage_report", *arguments)


@pytest.mark.parametrize("size", [(160, 48), (100, 30), (80, 24), (60, 20), (40, 12)])
async def test_it_fits_the_terminal(desk: Open, size: tuple[int, int]) -> None:
    async with desk(size=size) as it:
        it.main.action_command("usage.full")
        await it.until(lambda: "Tokens a" in report(it))
        for cut in ("day", "model", "branch", "conversation"):
            await it.called("usage_report", cut, "month", True)
            await it.pilot.pause()
            charts = screen(it).charts
            assert charts.size.height >= 4
            assert charts.virtual_size.width <= charts.size.width
            assert "\x1b" not in drawn(charts)
            await it.pilot.press("right")


async def test_what_is_spent_meanwhile_is_shown(desk: Open) -> None:
    async with desk() as it:
        await opened(it)
        asked = len(it.actions.called("usage_report"))
        it.actions.publish(usage=replace(it.main.shown.usage, everything=usage(999)))
        screen(it)._look()
        await it.until(lambda: len(it.actions.called("usage_report")) == asked + 1)
        screen(it)._look()
        await it.pilot.pause()
        assert len(it.actions.called("usage_report")) == asked + 1, "nothing new, nothing asked"


async def test_a_file_that_cannot_be_read_is_said_in_place(desk: Open) -> None:
    actions = FakeActions(snapshot())
    actions.fail["usage_report"] = LockedError("chat.db", "another program holds it", "Try again")
    async with desk(actions) as it:
        it.main.action_command("usage.full")
        await it.until(lambda: "another program holds it" in report(it))


async def test_the_theme_changes_under_it(desk: Open) -> None:
    async with desk() as it:
        await opened(it)

        def bar() -> object:
            charts = screen(it).charts
            row = next(y for y in range(charts.size.height) if "█" in charts.render_line(y).text)
            return next(part.style for part in charts.render_line(row) if "█" in part.text)

        dark = bar()
        it.app.change_theme()
        await it.until(lambda: bar() != dark)
