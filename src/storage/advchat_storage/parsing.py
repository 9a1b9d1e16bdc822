"""Stored items read back, as fast as this process can.

Owns the choice of a JSON parser: the one that pydantic brought along where it is loaded already, else the
standard library's. Runs on the connections' threads. Knows no SQL.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from advchat_storage.items import Json, sound
from advchat_storage.wording import storable

_FAULTS = (ValueError, TypeError, RecursionError)
INVALID: Json = object()
"""What a row that is not JSON is read as."""


def parse(data: bytes | str | None) -> Json:
    """Give the stored item, or ``INVALID``."""
    if data is None:
        return INVALID
    fast = _fast_parser()
    if fast is not None:
        try:
            return fast(data)
        except _FAULTS:
            pass  # It refuses lone surrogates and such, which the standard parser can read.
    try:
        return json.loads(sound(_text(data)))
    except _FAULTS:
        return INVALID


def _text(data: bytes | str) -> str:
    if isinstance(data, bytes):
        data = data.decode(json.detect_encoding(data), "surrogatepass")
    return storable(data)


def _fast_parser() -> Callable[[bytes | str], Json] | None:
    parser: Callable[[bytes | str], Json] | None = getattr(sys.modules.get("pydantic_core"), "from_json", None)
    return parser
