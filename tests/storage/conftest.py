"""What the store's tests ask for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.storage.scenes import Scene


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """An open store on a file of its own, with a conversation in it."""
    async with Scene.open(tmp_path / "conversations.db") as made:
        yield made
