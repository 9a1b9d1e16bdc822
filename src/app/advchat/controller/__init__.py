"""The controller: the only caller of the store and the runner."""

from __future__ import annotations

from advchat.controller.controller import Controller
from advchat.controller.core import StartAt

__all__ = ["Controller", "StartAt"]
