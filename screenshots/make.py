"""Takes the pictures of the README: ``python -m screenshots.make [--out DIR] [NAME …]``.

Runs the real app, headless, on the real store and runner against the test server, tells the story by keys and
slash commands, and exports what is on the screen. Times and addresses are fixed, so that the same program
gives the same pictures.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Self
from unittest.mock import patch

from textual.pilot import Pilot

from advchat.app import AdvchatApp
from advchat.cli import wiring
from advchat.cli.parser import parse
from advchat.controller import Controller
from advchat.pricing import Pricing
from advchat.screens.compare import CompareScreen
from advchat.screens.fan import FanScreen
from advchat.screens.usage import UsageScreen
from advchat.state import Snapshot
from screenshots import story
from screenshots.story import MODEL, Scene
from tests.server import ModelServer, Seen, Wait, say

WIDE = (160, 48)
NARROW = (60, 34)
PATIENCE = 60.0
STEP = timedelta(milliseconds=600)
BRANCHED = 1_775_000_000
"""In the IDs of branches; those at the same turn get a suffix."""


class Camera:
    """One app on one database, driven by keys, with what it shows exported as SVG."""

    def __init__(self, settings: wiring.Settings, server: ModelServer, out: Path) -> None:
        self.app = AdvchatApp(self._make_actions, theme=settings.config.theme)
        self._settings = settings
        self._server = server
        self._out = out
        self._controllers: list[Controller] = []
        self._pilot: Pilot[int] | None = None

    def _make_actions(self) -> Controller:
        self._controllers.append(wiring.make_controller(self._settings))
        return self._controllers[-1]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the app until the block ends."""
        async with self.app.run_test(size=WIDE) as self._pilot:
            await self.until(lambda: self._controllers and self.shown.model.ready)
            yield
            await self._controllers[-1].close()

    @property
    def pilot(self) -> Pilot[int]:
        """Who presses the keys."""
        if self._pilot is None:
            raise RuntimeError("the app is not running")
        return self._pilot

    @property
    def shown(self) -> Snapshot:
        """What the app shows."""
        return self._controllers[-1].snapshot

    @property
    def live(self) -> str:
        """What has come of the answer that is running on the branch shown."""
        live = self._controllers[-1].live()
        return "".join(item.text for item in live.items) if live is not None else ""

    async def until(self, holds: Callable[[], object]) -> None:
        """Let the app work until a predicate holds."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause()
                await asyncio.sleep(0.01)
        await self.pilot.pause()

    async def line(self, text: str) -> None:
        """Type a line into the composer and send it."""
        self.app.main.composer.focus()
        self.app.main.composer.load(text)
        await self.pilot.press("enter")

    async def tell(self, scene: Scene) -> None:
        """Ask a scene's prompt and wait for all of its answer."""
        self._server.script(say(scene.answer, usage=scene.usage, model=MODEL))
        count = len(self._server.account)
        await self.line(scene.prompt)
        await self.until(lambda: len(self._server.account) > count and not self.shown.runs)

    async def begin(self, beginning: str, scene: Scene) -> None:
        """Ask a scene's prompt whose answer stays at its beginning."""
        rest = scene.answer.removeprefix(beginning)
        self._server.script(say(beginning, Wait("never"), rest, usage=scene.usage, model=MODEL))
        await self.line(scene.prompt)
        await self.until(lambda: self.live == beginning)

    async def fork(self, turn: int, scene: Scene, title: str) -> None:
        """Fork a turn of the branch shown and go on there."""
        branch = self.shown.branch_id
        await self.line(f"/fork {turn} {title}")
        await self.until(lambda: self.shown.branch_id != branch)
        await self.tell(scene)

    async def switch(self, name: str) -> None:
        """Show another branch."""
        await self.line(f"/switch {name}")
        await self.until(lambda: name in (self.shown.branch_id, self.shown.branch_title))

    async def press(self, *keys: str) -> None:
        """Press keys and let the app draw."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(*size)
        await self.pilot.pause()

    async def flip_theme(self) -> None:
        """Change between dark and light."""
        self.app.change_theme()
        await self.pilot.pause()

    async def take_report(self) -> None:
        """Show usage full-screen from its panel, by branch, and write it."""
        await self.press("enter")
        await self.until(lambda: isinstance(self.app.screen, UsageScreen))
        await self.press("left", "left")
        screen = self.app.screen
        await self.until(
            lambda: (
                isinstance(screen, UsageScreen)
                and screen.charts.report is not None
                and screen.charts.report.cut == "branch"
            )
        )
        await self.take("usage-by-branch")
        await self.press("escape")

    async def take_comparison(self, other: str) -> None:
        """Put the branch shown beside another one, and write it."""
        await self.line(f"/compare {other}")
        await self.until(lambda: isinstance(self.app.screen, CompareScreen))
        await self.take("compare")
        await self.press("escape")

    async def take_fan(self, scenes: Mapping[str, Scene]) -> None:
        """Ask several models at once, and write their answers side by side."""
        for model, scene in scenes.items():
            answer = say(scene.answer, usage=scene.usage, model=model)
            self._server.when(partial(_asks, model), answer)
        count = len(self._server.account)
        prompt = next(iter(scenes.values())).prompt
        await self.line(f"/fan {','.join(scenes)} {prompt}")
        await self.until(lambda: len(self._server.account) == count + len(scenes))
        screen = self.app.screen
        await self.until(lambda: isinstance(screen, FanScreen) and len(self.shown.runs) == 1)
        await self.take("fan")
        await self.press("escape")

    async def take(self, name: str) -> None:
        """Write what is on the screen."""
        await self.until(lambda: self.shown.model.ready)
        picture = self.app.export_screenshot(title="advchat")
        await asyncio.to_thread((self._out / f"{name}.svg").write_text, picture, encoding="utf-8")
        print(self._out / f"{name}.svg")


async def tell_story(camera: Camera) -> None:
    """Tell the whole story, taking each picture when the screen shows it."""
    for scene in (story.PLAN, story.TILES, story.SPLIT):
        await camera.tell(scene)
    await camera.press("f3", "up", "f")
    await camera.until(lambda: camera.shown.branch_id != "main")
    await camera.take("fork")
    await camera.tell(story.NO_MUSEUMS)
    await camera.line("/rename Gardens and water")
    await camera.tell(story.RAIN)
    await camera.fork(3, story.CHECKLIST, "Checklist first")
    await camera.switch("main")
    await camera.fork(1, story.PORTO, "Porto instead")
    await camera.tell(story.PORTO_TRAIN)
    await camera.switch("main")
    await camera.press("f5", "end", "f5")
    await camera.take("main")
    await _take_the_panels(camera)


async def _take_the_panels(camera: Camera) -> None:
    await camera.line("/fork 3 A night in Sintra")
    await camera.until(lambda: camera.shown.branch_title == "A night in Sintra")
    await camera.begin(story.SLOW_BEGINNING, story.SLOW)
    await camera.switch("Checklist first")
    await camera.press("f2")
    await camera.take("tree")
    await camera.press("escape", "f4")
    await camera.take("usage")
    await camera.take_report()
    await camera.press("escape")
    await camera.switch("Porto instead")
    await camera.flip_theme()
    await camera.take("light")
    await camera.flip_theme()
    await camera.switch("main")
    await camera.take_comparison("Porto instead")
    await camera.take_fan(story.SIGHTS)
    await camera.switch("main")
    await camera.resize(NARROW)
    await camera.take("narrow")


def _asks(model: str, seen: Seen) -> bool:
    return bool(seen.body["model"] == model)


class _Clock(datetime):
    """Today from noon on, a step further each time it is asked."""

    _asked = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Give the next moment."""
        cls._asked += 1
        noon = super().now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
        return (noon + cls._asked * STEP).astimezone(tz)


def _environment(home: Path) -> dict[str, str]:
    """Give what the app sees: a terminal of many colours, and no settings but the script's."""
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    return {**places, "HOME": str(home), "PATH": os.defpath, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


@contextmanager
def fixed() -> Iterator[Path]:
    """Give a home of its own, and a clock that goes the same way each time."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="advchat-")))
        stack.enter_context(patch.dict(os.environ, _environment(home), clear=True))
        stack.enter_context(patch("advchat.models.scope.datetime", _Clock))
        stack.enter_context(patch("advchat_storage.branches.time", SimpleNamespace(time=lambda: BRANCHED)))
        # The test server stands for the vendor, whose models' sizes and prices are known.
        stack.enter_context(patch.object(Pricing, "provider_id", lambda self, base_url: "openai"))
        yield home


async def make(out: Path) -> None:
    """Take every picture into ``out``."""
    with fixed() as home:
        async with ModelServer() as server:
            config = home / "config.toml"
            config.write_text(
                f'model = "{MODEL}"\n[providers.OpenAI]\nbase_url = "{server.base_url}"\n'
                f'api = "responses"\napi_key = "none"\nmodels = {[MODEL, *story.SIGHTS]}\n'
            )
            options = parse(["--db", str(home / "trips.db"), "--config", str(config)])
            settings = wiring.settings(options)
            camera = Camera(settings, server, out)
            async with camera.running():
                await tell_story(camera)


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="python -m screenshots.make", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="where the pictures go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    asyncio.run(make(options.out))


if __name__ == "__main__":
    main()
