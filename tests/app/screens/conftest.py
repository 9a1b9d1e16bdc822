"""The main screen on actions in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from advchat.app import AdvchatApp
from advchat.screens.main import MainScreen
from tests.app.fakes import FakeActions, snapshot, until


class Desk:
    """A running app, with what tests ask of it."""

    def __init__(self, app: AdvchatApp, pilot: Pilot[Any], actions: FakeActions) -> None:
        self.app = app
        self.pilot = pilot
        self.actions = actions

    @property
    def main(self) -> MainScreen:
        return self.app.main

    @property
    def text(self) -> str:
        return self.main.composer.text

    @property
    def notice(self) -> str:
        return str(self.main.notice.render())

    async def until(self, true: Callable[[], bool]) -> None:
        await until(self.pilot.pause, true)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def called(self, name: str, *arguments: object) -> None:
        """Wait until the action has been called so."""
        await self.until(lambda: arguments in self.actions.called(name))


Open = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def desk() -> Open:
    """Open the app; ``wait`` until its conversation is shown."""

    @asynccontextmanager
    async def opened(
        actions: FakeActions | None = None,
        *,
        size: tuple[int, int] = (160, 48),
        keys: Mapping[str, tuple[str, ...]] | None = None,
        wait: bool = True,
        **shown: Any,
    ) -> AsyncIterator[Desk]:
        acting = actions if actions is not None else FakeActions(snapshot(**shown))
        app = AdvchatApp(lambda: acting, keys=keys)
        async with app.run_test(size=size) as pilot:
            found = Desk(app, pilot, acting)
            if wait:
                await found.until(lambda: not app.main.shown.loading)
                await pilot.pause()
            yield found

    return opened
