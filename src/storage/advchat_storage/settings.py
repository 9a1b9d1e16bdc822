"""What a session takes from the SDK where the SDK is loaded, without loading it.

Owns the type of ``session_settings`` and the policy on logging what users said. Imports no SDK: it only
looks among the modules that are there.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any

Settings = Any
"""The SDK's ``SessionSettings``, a dict of the same, a ``PlainSettings``, or None."""


@dataclass
class PlainSettings:
    """Stands in for the SDK's ``SessionSettings`` where the SDK is not loaded, or only loaded later."""

    limit: int | None = None

    def resolve(self, override: Settings) -> PlainSettings:
        """Give these settings under those of ``override``, as the Runner asks for those of one run."""
        limit = None if override is None else limit_of(settings_from(override))
        return self if limit is None else replace(self, limit=limit)

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as a dict."""
        return asdict(self)


def settings_from(given: Settings) -> Settings:
    """Give a settings object for what a caller passed: None, a dict, or a settings object.

    Raises ``TypeError`` for unknown keys and other types.
    """
    kind = getattr(sys.modules.get("agents.memory.session_settings"), "SessionSettings", PlainSettings)
    if given is None:
        return kind()
    if isinstance(given, dict):
        unknown = sorted(set(given) - set(kind.__dataclass_fields__))
        if unknown:
            raise TypeError(f"Unknown session settings: {', '.join(map(str, unknown))}")
        return kind(**given)
    if not hasattr(given, "limit"):
        raise TypeError(f"session_settings is a SessionSettings or a dict, not {type(given).__name__}")
    return given


def limit_of(settings: Settings) -> int | None:
    """Give the default limit of a settings object or dict; None for no limit."""
    limit = settings.get("limit") if isinstance(settings, dict) else getattr(settings, "limit", None)
    return limit if isinstance(limit, int) else None


def may_log_model_data() -> bool:
    """Tell whether what users and models said may appear in logs, by the SDK's policy."""
    debug = sys.modules.get("agents._debug")
    if debug is not None:
        return not getattr(debug, "DONT_LOG_MODEL_DATA", True)
    return os.environ.get("OPENAI_AGENTS_DONT_LOG_MODEL_DATA", "1").lower() in ("0", "false")
