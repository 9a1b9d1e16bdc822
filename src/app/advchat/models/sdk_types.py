"""A name for what the SDK hands us and we pass on or read by attribute.

Owns that one name: the SDK's unions of some fifty types each would have to be imported to be written down,
and importing the SDK costs seconds.
"""

from __future__ import annotations

from typing import Any

Sdk = Any
"""A value of one of the SDK's or the client's own types."""
