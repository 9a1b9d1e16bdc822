"""A conversation that forks, kept by ``advchat_storage`` alone: the SDK runs it, and no screen shows it.

Run it with OPENAI_API_KEY set: ``python examples/library.py``.
"""

import asyncio

from agents import Agent, Runner

from advchat_storage import AdvancedSQLiteSession  # instead of: from agents.extensions.memory import …


async def main() -> None:
    """Ask two questions, go back before the second, and ask another one there."""
    agent = Agent(name="Assistant", instructions="Reply very concisely.")
    async with AdvancedSQLiteSession(session_id="trip", db_path="library.db", create_tables=True) as session:
        for prompt in (
            "What is the capital of France?",
            "How warm is it there in May?",
            "And what is there to see?",
        ):
            if prompt.startswith("And"):
                await session.create_branch_from_turn(2)
            result = await Runner.run(agent, prompt, session=session)
            await session.store_run_usage(result)
            print(f"{prompt} {result.final_output}")
        for branch in await session.branch_tree():
            print(f"{branch.branch_id}: {branch.user_turns} turns, from {branch.parent} at {branch.fork_turn}")
        print(await session.get_session_usage())


if __name__ == "__main__":
    asyncio.run(main())
