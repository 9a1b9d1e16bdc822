"""The real embedded model, where the extra and its file are at hand."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from advchat.models.local import LocalModel
from tests.plugins.local_model import local_model_file


@pytest.fixture
async def local_model() -> AsyncIterator[LocalModel]:
    """The real model; skips where it is missing."""
    model = LocalModel(local_model_file().parents[1])
    yield model
    await model.close()
