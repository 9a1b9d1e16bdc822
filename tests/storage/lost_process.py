"""A program that begins a run, journals half an answer, says so, and waits to be killed.

Run as ``python -m tests.storage.lost_process FILE``.
"""

from __future__ import annotations

import asyncio
import sys

from advchat_storage import Store
from tests.storage.scenes import CONVERSATION, user


async def main(path: str) -> None:
    """Begin, tell, wait."""
    async with Store(path) as store:
        await store.begin_run(
            run_id="lost",
            conversation_id=CONVERSATION,
            branch_id="main",
            prompt="Tell me",
            item=user("Tell me"),
        )
        await store.journal("lost", partial="Half an ans", reasoning="thinking")
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
