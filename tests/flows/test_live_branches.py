"""Many branches at once on the screen: the real app, controller, store and runner against the test server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from advchat.app import AdvchatApp
from advchat.cli import wiring
from advchat.cli.parser import parse
from advchat.screens.compare import CompareScreen
from advchat.screens.fan import FanScreen
from advchat.screens.main import MainScreen
from advchat.widgets.lines import QueueLines
from tests.app.widgets.host import lines
from tests.server import ModelServer, Text, Usage, Wait, say

PATIENCE = 30.0
LONG = "\n\n".join(f"Paragraph {number} of an answer that takes some rows." for number in range(12))


class Window:
    """The running app, with what these tests ask of it."""

    def __init__(self, app: AdvchatApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> MainScreen:
        return self.app.main

    async def until(self, holds: Callable[[], object]) -> None:
        """Let the app work until something holds."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause()

    async def enter(self, text: str) -> None:
        """Put a line into the composer and send it."""
        self.main.composer.put(text)
        await self.pilot.press("enter")

    async def ask(self, text: str) -> None:
        """Send and wait for the answer's end."""
        count = self.main.shown.turn_count
        await self.enter(text)
        await self.until(lambda: self.main.shown.turn_count > count and not self.main.shown.runs)

    async def grid(self) -> FanScreen:
        """Wait for the grid of answers."""
        await self.until(lambda: isinstance(self.app.screen, FanScreen))
        screen = self.app.screen
        assert isinstance(screen, FanScreen)
        return screen

    def row_of_turn(self, turn: int) -> int | None:
        """Tell the row of the transcript at which a turn begins, the line of the fork point included."""
        shown = self.main.transcript.viewport.lines
        return next((y for y, line in enumerate(shown) if line.position == turn - 1), None)

    def sees(self, text: str) -> bool:
        """Tell whether the transcript shows a text."""
        return any(text in row for row in lines(self.main.transcript))

    def tree(self) -> list[str]:
        """The branches as they are drawn."""
        return [row for row in lines(self.main.branches) if row.strip()]


@asynccontextmanager
async def window(db: Path, server: ModelServer, *options: str) -> AsyncIterator[Window]:
    words = ["--db", str(db), "--base-url", server.base_url, "--model", "test-model", *options]
    app = AdvchatApp(lambda: wiring.make_controller(wiring.settings(parse(words))))
    async with app.run_test(size=(160, 48)) as pilot:
        found = Window(app, pilot)
        await found.until(lambda: not app.main.shown.loading)
        yield found
        await app.main.actions.close()


async def test_eight_answers_stream_at_once_while_typing_goes_on(db: Path, model_server: ModelServer) -> None:
    gate = asyncio.Event()
    answer = say("begun ", Wait(gate), "and done", usage=Usage(input=20, output=4))
    model_server.when("Which?", *[answer] * 8)
    async with window(db, model_server) as w:
        await w.ask("One")
        await w.enter("/fan 8 Which?")
        screen = await w.grid()
        await w.until(lambda: all(any("begun" in row for row in lines(pane)) for pane in screen.grid.panes))
        assert len(w.main.shown.runs) == 8
        await w.pilot.press("escape")
        await w.until(lambda: w.app.screen is w.main)
        assert sum("⟳" in row for row in w.tree()) == 8
        await w.pilot.press(*"typing")
        assert w.main.composer.text == "typing"
        await w.pilot.press("enter")
        await w.until(
            lambda: w.main.shown.run is None and any("Echo: typing" in row for row in lines(w.main.transcript))
        )
        assert len(w.main.shown.runs) == 8
        gate.set()
        await w.until(lambda: not w.main.shown.runs)
        await w.until(lambda: sum("●" in row for row in w.tree()) == 8)
        fanned = [request for request in model_server.requests if request.lines[-1] == "user: Which?"]
        assert len(fanned) == 8
        assert {tuple(request.lines) for request in fanned} == {
            ("user: One", "assistant: Echo: One", "user: Which?")
        }
        await w.until(lambda: w.main.shown.usage.everything.requests == 10)
        usage = w.main.shown.usage
        assert usage.everything.total_tokens == model_server.billed.total
        assert usage.branch.own.requests == 2


async def test_each_answer_of_a_fan_has_its_own_model_and_the_kept_one_goes_on(
    db: Path, model_server: ModelServer
) -> None:
    async with window(db, model_server) as w:
        await w.ask("One")
        await w.enter("/fan red,green,blue Which?")
        screen = await w.grid()
        await w.until(lambda: all("✓" in str(pane.border_subtitle) for pane in screen.grid.panes))
        assert sorted(request.model for request in model_server.requests[1:]) == ["blue", "green", "red"]
        await w.pilot.press("right", "enter")
        await w.until(lambda: w.main.shown.branch_title == "2 · green")
        await w.until(lambda: any("‹ 2/3 ›" in row for row in lines(w.main.transcript)))
        assert any("▸2" in row for row in w.tree())
        await w.ask("Go on")
        assert model_server.requests[-1].lines[-3:] == [
            "user: Which?",
            "assistant: Echo: Which?",
            "user: Go on",
        ]


async def test_flipping_siblings_keeps_the_fork_point_on_its_row_and_each_draft(
    db: Path, model_server: ModelServer
) -> None:
    model_server.when("Long", *[say(LONG)] * 3)
    async with window(db, model_server) as w:
        for _ in range(3):
            await w.ask("Long")
        await w.enter("/fork 3 other")
        await w.until(lambda: w.main.shown.branch_title == "other")
        await w.ask("Another")
        w.main.transcript.move(-2)
        await w.pilot.pause()
        row = w.row_of_turn(3)
        assert row is not None
        assert row > 0
        w.main.composer.put("a draft on other")
        await w.pilot.press("alt+down")
        await w.until(lambda: w.main.shown.branch_id == "main")
        await w.until(lambda: not w.sees("Another"))
        assert w.row_of_turn(3) == row
        assert w.main.composer.text == ""
        w.main.composer.put("a draft on main")
        await w.pilot.press("alt+up")
        await w.until(lambda: w.main.shown.branch_title == "other" and w.row_of_turn(3) is not None)
        await w.until(lambda: w.sees("Another"))
        assert w.row_of_turn(3) == row
        await w.until(lambda: w.main.composer.text == "a draft on other")
        await w.pilot.press("alt+down")
        await w.until(lambda: w.main.composer.text == "a draft on main")


async def test_a_prompt_on_an_answering_branch_waits_in_sight_and_can_be_taken_back(
    db: Path, model_server: ModelServer
) -> None:
    gate = asyncio.Event()
    model_server.when("Slow", say("slow ", Wait(gate), "answer"))
    async with window(db, model_server) as w:
        await w.enter("Slow")
        await w.until(lambda: bool(w.main.shown.runs))
        await w.enter("First in line")
        await w.enter("Second in line")
        queue = w.main.query_one(QueueLines)
        await w.until(lambda: "Second in line" in str(queue.render()))
        await w.pilot.click(queue, offset=(4, 1))
        await w.until(lambda: w.main.composer.text == "Second in line")
        assert "Second" not in str(queue.render())
        w.main.composer.put("")
        gate.set()
        await w.until(lambda: w.main.shown.turn_count == 2 and not w.main.shown.runs)
        assert [request.lines[-1] for request in model_server.requests] == ["user: Slow", "user: First in line"]


async def test_two_branches_are_compared_and_turns_carried_with_their_origin(
    db: Path, model_server: ModelServer
) -> None:
    async with window(db, model_server) as w:
        await w.ask("One")
        await w.ask("The quick brown fox")
        await w.enter("/fork 2 red")
        await w.until(lambda: w.main.shown.branch_title == "red")
        await w.ask("The quick red fox")
        await w.enter("/compare main")
        await w.until(lambda: isinstance(w.app.screen, CompareScreen))
        screen = w.app.screen
        assert isinstance(screen, CompareScreen)
        await w.until(
            lambda: any("quick red fox" in row and "quick brown fox" in row for row in lines(screen.view))
        )
        await w.pilot.press("2")
        await w.until(lambda: w.main.shown.branch_id == "main")
        await w.enter("/carry 2 red")
        await w.until(lambda: "Carried turn 2" in str(w.main.notice.render()))
        await w.enter("/switch red")
        await w.until(lambda: any("from turn 2 of main" in row for row in lines(w.main.transcript)))
        await w.ask("And now?")
        prompts = ("One", "The quick red fox", "The quick brown fox")
        told = [line for prompt in prompts for line in (f"user: {prompt}", f"assistant: Echo: {prompt}")]
        assert model_server.requests[-1].lines == [*told, "user: And now?"]


async def test_the_edge_tells_about_tokens_from_the_providers_own_counts(
    db: Path, model_server: ModelServer
) -> None:
    model_server.when("One", say(Text("An answer."), usage=Usage(input=1_000, output=200, cached=0)))
    async with window(db, model_server) as w:
        frame = w.main.query_one("#compose")
        w.main.composer.put("not yet known")
        await w.pilot.pause()
        assert frame._border_title is None
        w.main.composer.put("")
        await w.ask("One")
        w.main.composer.put("And another question?")
        await w.until(lambda: frame._border_title is not None)
        assert str(frame._border_title).startswith("about 1.")
