"""Our class answers as the SDK's does, on files of its own."""

from __future__ import annotations

from tests.storage.oracle.actors import OURS
from tests.storage.oracle.duo import Role
from tests.storage.oracle.machine import SessionMachine, budget


class OneInstance(SessionMachine):
    cast = (Role(OURS),)


class SeveralInstances(SessionMachine):
    """Two instances on one conversation, and one on another with a default limit."""

    cast = (Role(OURS), Role(OURS), Role(OURS, session_id="other", limit=3))


class InMemory(SessionMachine):
    cast = (Role(OURS),)
    in_memory = True


TestInMemory = InMemory.TestCase
TestInMemory.settings = budget(examples=15, steps=25)
TestOneInstance = OneInstance.TestCase
TestOneInstance.settings = budget(examples=30, steps=25)
TestSeveralInstances = SeveralInstances.TestCase
TestSeveralInstances.settings = budget(examples=30, steps=25)
