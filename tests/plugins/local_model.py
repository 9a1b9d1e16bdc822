"""The embedded model's file, for tests that run the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from advchat.config import data_dir
from advchat.models.local import LocalModel


def local_model_file() -> Path:
    """Return the file in the user's data directory; skips where the extra or the file is missing."""
    model = LocalModel(data_dir())
    if (reason := model.unavailable()) is not None:
        pytest.skip(reason)
    if not model.downloaded():
        pytest.skip("the local model is not downloaded; advchat offers to when it starts without a key")
    return model.path
