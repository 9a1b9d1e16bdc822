"""The commands that read: conversations, branches, turns, usage, search, check, backup.

Owns what each reports and its JSON shape, which others rely on: keys may be added, never renamed.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from advchat.actions import UserError
from advchat.cli.tables import print_csv, print_json, print_table
from advchat.controller.item_views import text_of
from advchat.controller.tree_views import resolve_branch
from advchat.controller.usage_views import utc
from advchat.state import dollars
from advchat.usage_report import add_up
from advchat_storage import Branch, Conversation, Store, UsageSum

Report = Callable[[Store, argparse.Namespace], Awaitable[int]]

USAGE_COLUMNS = (
    "requests", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "total_tokens", "cost_usd", "at_least",
)  # fmt: skip


def usd(nano: int | None) -> float | None:
    """Nano-dollars as US dollars."""
    return None if nano is None else nano / 1_000_000_000


def usage_json(usage: UsageSum) -> dict[str, Any]:
    """Give the shape ``U`` of every report."""
    values = asdict(usage)
    values["cost_usd"] = usd(usage.cost_nano)
    return {key: values[key] for key in USAGE_COLUMNS}


async def wanted_conversation(store: Store, options: argparse.Namespace) -> Conversation:
    """Give the conversation that the options name, else the latest."""
    if options.conversation is not None:
        found = await store.conversation(options.conversation)
        if found is None:
            raise UserError(
                f"No conversation is called “{options.conversation}”. `advchat conversations` lists them."
            )
        return found
    latest = await store.conversations(limit=1)
    if not latest:
        raise UserError("There is no conversation in this file yet. `advchat ask` or `advchat` begins one.")
    return latest[0]


async def wanted_branch(store: Store, conversation: Conversation, name: str | None) -> str:
    """Give the ID of the branch that is named, else of the current one."""
    if name is None:
        return conversation.current_branch
    found = resolve_branch(await _tree(store, conversation), name)
    if found is None:
        raise UserError(f"There is no branch “{name}” in it. `advchat branches` lists them.")
    return found


async def _tree(store: Store, conversation: Conversation) -> list[Branch]:
    async with store.session(conversation.conversation_id) as session:
        return await session.branch_tree()


async def conversations(store: Store, options: argparse.Namespace) -> int:
    """List the conversations, the latest first."""
    found = await store.conversations(archived=options.archived)
    if options.json:
        print_json(
            [
                {
                    "conversation_id": one.conversation_id,
                    "title": one.title,
                    "branches": one.branches,
                    "user_turns": one.user_turns,
                    "updated_at": one.updated_at,
                    "cost_usd": usd(one.cost_nano),
                    "at_least": one.cost_at_least,
                }
                for one in found
            ]
        )
        return 0
    rows = [
        [
            one.title or "(untitled)",
            str(one.branches),
            str(one.user_turns),
            _spent(one.cost_nano, at_least=one.cost_at_least),
            one.updated_at[:16],
            one.conversation_id,
        ]
        for one in found
    ]
    print_table(rows, ("TITLE", "BRANCHES", "TURNS", "COST", "UPDATED (UTC)", "ID"), right=(1, 2, 3))
    return 0


async def branches(store: Store, options: argparse.Namespace) -> int:
    """List a conversation's branches, parents before children."""
    conversation = await wanted_conversation(store, options)
    tree = await _tree(store, conversation)
    if options.json:
        print_json(
            [
                {
                    "branch_id": branch.branch_id,
                    "title": branch.title,
                    "parent": branch.parent,
                    "fork_turn": branch.fork_turn,
                    "user_turns": branch.user_turns,
                    "message_count": branch.message_count,
                    "is_current": branch.branch_id == conversation.current_branch,
                    "cost_usd": usd(branch.own_cost_nano),
                    "at_least": branch.own_cost_at_least,
                }
                for branch in tree
            ]
        )
        return 0
    rows = [
        [
            "●" if branch.branch_id == conversation.current_branch else " ",
            branch.title or branch.branch_id,
            branch.parent or "",
            "" if branch.fork_turn is None else str(branch.fork_turn),
            str(branch.user_turns),
            _spent(branch.own_cost_nano, at_least=branch.own_cost_at_least),
            branch.branch_id,
        ]
        for branch in tree
    ]
    print_table(rows, ("", "BRANCH", "PARENT", "FROM TURN", "TURNS", "OWN COST", "ID"), right=(3, 4, 5))
    return 0


def _spent(nano: int | None, *, at_least: bool) -> str:
    """Tell nothing asked yet from an unknown cost."""
    return "–" if nano is None and not at_least else dollars(nano, at_least=at_least)


async def turns(store: Store, options: argparse.Namespace) -> int:
    """List a branch's turns."""
    conversation = await wanted_conversation(store, options)
    branch = await wanted_branch(store, conversation, options.branch)
    place = (conversation.conversation_id, branch)
    count = await store.turn_count(*place)
    headers = await store.turn_headers(*place, 0, count)
    if options.json:
        stored = await store.turns(*place, 0, count)
        usages = {header.message_id: header.usage for header in headers}
        print_json(
            [
                {
                    "turn": turn.turn,
                    "content": text_of(turn.items[0].get("content")) if turn.items else "",
                    "branch_id": turn.origin_branch,
                    "status": turn.status,
                    "usage": usage_json(usages[turn.message_id]),
                    "created_at": turn.created_at,
                }
                for turn in stored
            ]
        )
        return 0
    rows = [
        [
            str(header.turn),
            header.preview,
            header.status,
            "unknown" if header.usage.total_tokens is None else f"{header.usage.total_tokens:,}",
            dollars(header.usage.cost_nano, at_least=header.usage.at_least),
        ]
        for header in headers
    ]
    print_table(rows, ("TURN", "PROMPT", "STATUS", "TOKENS", "COST"), right=(0, 3, 4))
    return 0


async def usage(store: Store, options: argparse.Namespace) -> int:
    """Report usage of the whole file, or of one conversation; the sums of any cut equal the total."""
    ident = (await wanted_conversation(store, options)).conversation_id if options.conversation else None
    since = None if options.since is None else utc(since_moment(options.since))
    cuts = await store.usage_by(options.by, conversation_id=ident, since=since) if options.by else []
    # Added up from the rows: a request that ends meanwhile is in both or in neither.
    whole = (
        [cut.usage for cut in cuts] if options.by else [await store.usage(conversation_id=ident, since=since)]
    )
    total = add_up(whole)
    rows = [{**dict(cut.keys), **usage_json(cut.usage)} for cut in cuts]
    if options.json:
        print_json({"total": usage_json(total), "by": rows})
        return 0
    keys = list(cuts[0].keys) if cuts else []
    if options.csv:
        print_csv(rows if options.by else [usage_json(total)], [*keys, *USAGE_COLUMNS])
        return 0
    table = [[*(str(cut.keys[key] or "") for key in keys), *_usage_cells(cut.usage)] for cut in cuts]
    table.append([*("total" if place == 0 else "" for place in range(len(keys))), *_usage_cells(total)])
    heads = ("REQUESTS", "INPUT", "CACHED", "CACHE WR", "OUTPUT", "REASONING", "TOTAL", "COST")
    right = tuple(range(len(keys), len(keys) + len(heads)))
    print_table(table, (*(key.upper() for key in keys), *heads), right=right)
    return 0


def _usage_cells(usage: UsageSum) -> list[str]:
    names = (
        "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
        "total_tokens",
    )  # fmt: skip
    return [
        f"{usage.requests:,}",
        *(_count(getattr(usage, name), at_least=name in usage.unknown) for name in names),
        dollars(usage.cost_nano, at_least="cost_nano" in usage.unknown),
    ]


def _count(count: int | None, *, at_least: bool) -> str:
    return "unknown" if count is None else f"{'≥ ' if at_least else ''}{count:,}"


def since_moment(text: str) -> datetime:
    """Read ``2026-11-30``, ``7d``, ``24h``, ``today`` or ``month`` as a local moment. Raises ``UserError``."""
    now = datetime.now().astimezone()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "month"):
        return midnight if text == "today" else midnight.replace(day=1)
    span = re.fullmatch(r"(\d{1,5})([dh])", text)
    if span:
        amount = int(span[1])
        return now - (timedelta(days=amount) if span[2] == "d" else timedelta(hours=amount))
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise UserError(f"“{text}” is no date. Write 2026-11-30, 7d, 24h, today or month.") from None


async def search(store: Store, options: argparse.Namespace) -> int:
    """Find a text; exits with 1 when nothing holds it."""
    ident: str | None = None
    branch: str | None = None
    if options.conversation or options.branch:
        conversation = await wanted_conversation(store, options)
        ident = conversation.conversation_id
        branch = await wanted_branch(store, conversation, options.branch) if options.branch else None
    hits = await store.search(options.term, conversation_id=ident, branch_id=branch, limit=options.limit)
    if options.json:
        print_json([asdict(hit) for hit in hits])
    elif hits:
        rows = [
            [hit.conversation_title or hit.conversation_id, hit.branch_id, str(hit.turn), hit.role, hit.excerpt]
            for hit in hits
        ]
        print_table(rows, ("CONVERSATION", "BRANCH", "TURN", "WHO", "TEXT"), right=(2,))
    else:
        sys.stderr.write(f"advchat: nothing holds “{options.term}”.\n")
    return 0 if hits else 1


async def check(store: Store, options: argparse.Namespace) -> int:
    """Verify the file; exits with 1 when something is wrong and was not repaired."""
    report = await store.check(repair=options.repair)
    if options.json:
        print_json(asdict(report))
    else:
        for line in report.findings:
            sys.stdout.write(f"found: {line}\n")
        for line in report.repaired:
            sys.stdout.write(f"repaired: {line}\n")
        sys.stdout.write(f"{report.path}: {'in order' if report.ok else 'not in order'}\n")
        if not report.ok and not options.repair:
            sys.stderr.write("advchat: `advchat check --repair` repairs what it can, after a backup.\n")
    return 0 if report.ok else 1


async def backup(store: Store, options: argparse.Namespace) -> int:
    """Copy the database into a new file."""
    target = _expanded(options.target)
    if await asyncio.to_thread(target.exists):
        raise UserError(f"{target} exists already. Choose another name.")
    await store.backup(target)
    if options.json:
        print_json({"backup": str(target)})
    else:
        sys.stdout.write(f"{target}\n")
    return 0


def _expanded(path: str) -> Path:
    return Path(path).expanduser().absolute()


REPORTS: dict[str, Report] = {
    "conversations": conversations,
    "branches": branches,
    "turns": turns,
    "usage": usage,
    "search": search,
    "check": check,
    "backup": backup,
}
