"""Random use of the program, and what it must have cost by the test server's own account.

Owns the server's random answers, the random user, and the oracle's prices, which are the library's by its own
front door. Run as ``python -m tests.flows.truth DB BASE_URL SEED STEPS OPTION…`` it is a user in a process of
its own that ends in the middle of an answer and waits to be killed.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
from collections.abc import Awaitable, Callable
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

from advchat.actions import UserError
from advchat.cli import wiring
from advchat.cli.parser import parse
from tests.flows.desk import Desk
from tests.server import Answer, Call, Cut, Drop, Hold, Reasoning, Seen, Text, Usage, error, rate_limited, say

AGENT = '''
from agents import Agent, function_tool

@function_tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"

second = Agent(name="Second", model="gpt-4.1", tools=[look])
agent = Agent(name="First", tools=[look], handoffs=[second])
'''
SETTINGS = '[prices."my-model"]\ninput = 3\ncached = 0.3\ncache_write = 3.75\noutput = 15\n'
OWN = {"input": Decimal(3), "cached": Decimal("0.3"), "cache_write": Decimal("3.75"), "output": Decimal(15)}
PRICED = ("gpt-4.1-mini", "gpt-4.1", "o4-mini")
MODELS = (*PRICED, "my-model", "nobodys-model")
KINDS = ("plain", "tools", "handoff", "busy", "silent", "refused", "cut", "dropped", "long", "thoughtful")
LAST = "hold until the end"


class Answers:
    """Answers each request by its own words, so that the order in which processes ask changes nothing."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._once: set[str] = set()

    def __call__(self, seen: Seen) -> Answer:
        chance = random.Random(f"{self._seed} {seen.prompt} {len(seen.lines)}")
        kind = seen.prompt.partition(" ")[0]
        since = _since_prompt(seen)
        calls = sum(line.startswith("call ") for line in since)
        model = f"{seen.model}-2025-04-14" if seen.model in PRICED[:2] and chance.random() < 0.5 else None
        usage = None if kind == "silent" else _usage(chance)
        if kind in ("hold", "busy") and self._first(seen):
            return say(f"begin {seen.prompt} ", Hold()) if kind == "hold" else rate_limited(0)
        if kind == "refused":
            return error(400, "refused")
        if kind == "tools" and calls < 2:
            looks = [Call("look", {"at": str(number)}) for number in range(chance.randint(1, 2))]
            return say(*looks, usage=usage, model=model)
        if kind == "handoff" and not calls:
            return say(Call("transfer_to_second"), usage=usage, model=model)
        if kind in ("cut", "dropped"):
            return say("half an answer ", Cut() if kind == "cut" else Drop())
        thought = [Reasoning("Hm", encrypted="z")] if kind == "thoughtful" else []
        words = Text("word " * chance.randint(1, 9), size=7)
        return say(*thought, words, usage=usage, model=model, finish="length" if kind == "long" else "stop")

    def _first(self, seen: Seen) -> bool:
        if seen.prompt in self._once:
            return False
        self._once.add(seen.prompt)
        return True


def _since_prompt(seen: Seen) -> list[str]:
    """What came after the newest prompt."""
    return list(itertools.takewhile(lambda line: not line.startswith("user: "), reversed(seen.lines)))


def _usage(chance: random.Random) -> Usage:
    whole, output = chance.randint(1, 300_000), chance.randint(1, 9_000)
    cached = chance.choice((0, chance.randint(0, whole)))
    return Usage(
        whole,
        output,
        cached=None if chance.random() < 0.1 else cached,
        cache_write=chance.choice((None, 0, chance.randint(0, whole - cached))),
        reasoning=chance.choice((None, 0, chance.randint(0, output))),
    )


def cost(model: str, usage: Usage) -> int | None:
    """What the account's line costs in nano-dollars; None where no price is known."""
    if model == "nobodys-model":
        return None
    cached, written = usage.cached or 0, usage.cache_write or 0
    if model == "my-model":
        rest = usage.input - cached - written
        parts = {"input": rest, "cached": cached, "cache_write": written, "output": usage.output}
        dollars = sum((OWN[name] * tokens for name, tokens in parts.items()), Decimal()) / 1_000_000
    else:
        import genai_prices

        counts = genai_prices.Usage(
            input_tokens=usage.input,
            cache_read_tokens=cached,
            cache_write_tokens=written,
            output_tokens=usage.output,
        )
        dollars = genai_prices.calc_price(counts, model, provider_id="openai").total_price
    return int((dollars * 10**9).to_integral_value(ROUND_HALF_EVEN))


class User:
    """Somebody who does anything at any time."""

    def __init__(self, desk: Desk, seed: str) -> None:
        self._desk = desk
        self._chance = random.Random(seed)
        self._name = seed.replace(" ", "-")
        self._numbers = itertools.count(1)

    async def use(self, steps: int) -> None:
        """Do that many things."""
        doings: list[tuple[int, Callable[[], Awaitable[object]]]] = [
            (45, self._ask),
            (10, self._stop),
            (8, self._together),
            (12, self._fork),
            (8, self._regenerate),
            (7, self._delete),
            (4, self._undo),
            (8, self._switch),
            (4, self._desk.controller.new_conversation),
            (20, self._change_model),
            (6, self._go_on),
        ]
        weights = [weight for weight, _ in doings]
        for _ in range(steps):
            doing = self._chance.choices(doings, weights)[0][1]
            try:
                await doing()
            except UserError:
                continue  # Not every thing can be done at every time.
            await self._quiet()

    async def begin_and_wait(self) -> None:
        """Ask what is never answered to its end."""
        await self._desk.controller.send(f"{LAST} {self._name}")
        await self._desk.streamed("begin hold until the end")

    def _prompt(self, kind: str | None = None) -> str:
        return f"{kind or self._chance.choice(KINDS)} {self._name} {next(self._numbers)}"

    async def _quiet(self) -> None:
        """Wait until nothing runs; what waits behind a failed answer is taken back."""
        runs = self._desk.controller.runs
        await self._desk.until(lambda: not runs.infos())
        for prompt in runs.queued():
            self._desk.controller.unqueue(prompt.queue_id)

    async def _ask(self) -> None:
        await self._desk.controller.send(self._prompt())

    async def _stop(self) -> None:
        prompt = self._prompt("hold")
        await self._desk.controller.send(prompt)
        await self._desk.streamed(f"begin {prompt} ")
        await self._desk.controller.stop()

    async def _together(self) -> None:
        """Let two branches answer at once."""
        turn = self._turn()
        for _ in range(2):
            await self._desk.controller.fork(turn, after=True)
            await self._desk.controller.send(self._prompt())

    async def _fork(self) -> None:
        await self._desk.controller.fork(self._turn(), after=self._chance.random() < 0.5)

    async def _regenerate(self) -> None:
        await self._desk.controller.regenerate(self._turn())

    async def _delete(self) -> None:
        await self._desk.controller.delete_branch(self._branch())

    async def _undo(self) -> None:
        await self._desk.controller.undo()

    async def _switch(self) -> None:
        await self._desk.controller.switch(self._branch())

    async def _change_model(self) -> None:
        await self._desk.controller.set_model(self._chance.choice(MODELS))

    async def _go_on(self) -> None:
        offered = {action: turn.turn for turn in await self._desk.views() for action in turn.actions}
        if "continue" in offered:
            await self._desk.controller.continue_turn(offered["continue"])
        elif "retry" in offered:
            await self._desk.controller.retry_turn(offered["retry"])

    def _turn(self) -> int:
        count = self._desk.shown.turn_count
        if not count:
            raise UserError("There is no turn yet.")
        return self._chance.randint(1, count)

    def _branch(self) -> str:
        rows = self._desk.shown.branches
        if not rows:
            raise UserError("There is no branch yet.")
        return self._chance.choice(rows).branch.branch_id


def options(folder: Path) -> list[str]:
    """Write agent and settings into a folder; gives the command line that uses them."""
    (folder / "random_agent.py").write_text(AGENT)
    (folder / "settings.toml").write_text(SETTINGS)
    return ["--agent", f"{folder / 'random_agent.py'}:agent", "--config", str(folder / "settings.toml")]


def open_desk(db: str, base_url: str, *more: str) -> Desk:
    """Put the program together as the command line does."""
    words = ["--db", db, "--base-url", base_url, "--model", "gpt-4.1-mini", *more]
    return Desk(wiring.make_controller(wiring.settings(parse(words))))


async def _main(db: str, base_url: str, seed: str, steps: str, *more: str) -> None:
    desk = open_desk(db, base_url, *more)
    await desk.start()
    user = User(desk, seed)
    await user.use(int(steps))
    await user.begin_and_wait()
    sys.stdout.write("waiting\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
