"""The harness itself: the SDK's class agrees with itself, and a wrong answer is noticed."""

from __future__ import annotations

from tests.storage.oracle.actors import SDK
from tests.storage.oracle.duo import Role
from tests.storage.oracle.machine import SessionMachine, budget


class SdkAgainstItself(SessionMachine):
    cast = (Role(SDK), Role(SDK), Role(SDK, session_id="other", limit=3))


TestSdkAgainstItself = SdkAgainstItself.TestCase
TestSdkAgainstItself.settings = budget(examples=5, steps=20)
