"""The real embedded model, where the extra and its file are at hand."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest

from advchat.config import data_dir
from advchat.models.local import LocalModel


@pytest.fixture
async def local_model() -> AsyncIterator[LocalModel]:
    """The real model; ``ADVCHAT_TEST_LOCAL_MODEL=download`` lets the test fetch its file."""
    model = LocalModel(data_dir())
    if (reason := model.unavailable()) is not None:
        pytest.skip(reason)
    if os.environ.get("ADVCHAT_TEST_LOCAL_MODEL") == "download":
        await model.download()
    if not model.downloaded():
        pytest.skip("the local model is not downloaded; ADVCHAT_TEST_LOCAL_MODEL=download fetches it")
    yield model
    await model.close()
