"""Both classes at work on one file: every answer is what the SDK's class alone would give.

Turns are taken operation by operation, within one process and across two; the reference is the same cast,
all of it the SDK's, on a file of its own.
"""

from __future__ import annotations

from tests.storage.oracle.actors import OURS, SDK, RemoteActor
from tests.storage.oracle.duo import Role
from tests.storage.oracle.machine import SessionMachine, budget


class TakingTurns(SessionMachine):
    cast = (Role(SDK), Role(OURS))


class SeveralOfEach(SessionMachine):
    cast = (Role(OURS), Role(SDK), Role(OURS, session_id="other"), Role(SDK, session_id="other"), Role(OURS))


class InTwoProcesses(SessionMachine):
    """Ours here, the SDK's class in a process of its own."""

    cast = (Role(OURS), Role(SDK, make=RemoteActor))


TestTakingTurns = TakingTurns.TestCase
TestTakingTurns.settings = budget(examples=30, steps=25)
TestSeveralOfEach = SeveralOfEach.TestCase
TestSeveralOfEach.settings = budget(examples=20, steps=25)
TestInTwoProcesses = InTwoProcesses.TestCase
TestInTwoProcesses.settings = budget(examples=15, steps=25)
