"""What is told of conversations, put together from our rows and from what the SDK's class wrote.

Owns the reading of a conversation as a whole. One that only the SDK's class has written is a conversation
like any other: what no row of ours says is read from its messages. Knows no items but the first prompt,
which names what nobody has named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from advchat_storage.clock import normal
from advchat_storage.models import Conversation, TitleSource
from advchat_storage.ownership import Tables
from advchat_storage.parsing import parse
from advchat_storage.place import MAIN
from advchat_storage.rows import for_each_of
from advchat_storage.wording import one_line, spoken

TITLE = 60
"""Characters of a title made from a prompt."""
_TITLE_WITHIN = 50
"""Items from the beginning among which a first prompt is looked for."""

Head = dict[str, Any]

_HEAD_COLUMNS = (
    "session_id",
    "created",
    "updated",
    "own_created",
    "own_updated",
    "title",
    "title_source",
    "current_branch",
    "model",
    "instructions",
    "archived",
    "budget_nano",
    "newest",
)


def conversation_titles(
    connection: sqlite3.Connection, *, tables: Tables, session_ids: Sequence[str]
) -> dict[str, str]:
    """Give the titles of those conversations that still exist."""
    rows = for_each_of(
        connection,
        f"""SELECT k.session_id, COALESCE(c.title, '') FROM (
            SELECT session_id FROM {tables.sessions} WHERE session_id IN ({{wanted}})
            UNION SELECT session_id FROM advchat_conversations WHERE session_id IN ({{wanted}})) AS k
        LEFT JOIN advchat_conversations AS c ON c.session_id = k.session_id""",
        session_ids,
    )
    return titles_of(connection, tables, [{"session_id": name, "title": title} for name, title in rows])


def heads_of(connection: sqlite3.Connection, tables: Tables, *, session_id: str | None = None) -> list[Head]:
    """Read what costs one look per conversation."""
    one = "" if session_id is None else "WHERE k.session_id = :session"
    rows = connection.execute(
        f"""SELECT k.session_id, s.created_at, s.updated_at, c.created_at, c.updated_at,
            COALESCE(c.title, ''), COALESCE(c.title_source, 'none'), COALESCE(c.current_branch, '{MAIN}'),
            c.model, c.instructions, COALESCE(c.archived, 0), c.budget_nano,
            COALESCE((SELECT MAX(m.id) FROM {tables.messages} AS m WHERE m.session_id = k.session_id), 0)
        FROM (SELECT session_id FROM {tables.sessions} UNION SELECT session_id FROM advchat_conversations) AS k
        LEFT JOIN {tables.sessions} AS s ON s.session_id = k.session_id
        LEFT JOIN advchat_conversations AS c ON c.session_id = k.session_id {one}""",
        {"session": session_id},
    )
    heads = [dict(zip(_HEAD_COLUMNS, row, strict=True)) for row in rows]
    for head in heads:
        times = [normal(head[name]) for name in ("created", "own_created") if head[name]]
        head["created_at"] = min(times, default="")
        times = [normal(head[name]) for name in ("updated", "own_updated") if head[name]]
        head["updated_at"] = max(times, default="")
    return heads


def activity(head: Head) -> tuple[str, int]:
    """Order conversations by last activity; where clocks are equal, by the newest message."""
    return head["updated_at"], head["newest"]


def filled(connection: sqlite3.Connection, tables: Tables, heads: Sequence[Head]) -> list[Conversation]:
    """Give the conversations of ``heads``, with what costs more than one look each."""
    names = [head["session_id"] for head in heads]
    titles = titles_of(connection, tables, heads)
    branches = _branches(connection, tables, names)
    costs = _costs(connection, names)
    return [
        Conversation(
            conversation_id=head["session_id"],
            title=titles[head["session_id"]],
            title_source=_title_source(head, titles[head["session_id"]]),
            created_at=head["created_at"],
            updated_at=head["updated_at"],
            current_branch=_current(head, branches),
            model=head["model"],
            instructions=head["instructions"],
            archived=bool(head["archived"]),
            budget_nano=head["budget_nano"],
            branches=len(branches.get(head["session_id"], {}).keys() | {MAIN}),
            user_turns=branches.get(head["session_id"], {}).get(_current(head, branches), 0),
            cost_nano=costs.get(head["session_id"], (None, False))[0],
            cost_at_least=costs.get(head["session_id"], (None, False))[1],
        )
        for head in heads
    ]


def _title_source(head: Head, title: str) -> TitleSource:
    """Tell a derived title from a kept one."""
    if not head["title"]:
        return "auto" if title else "none"
    return "manual" if head["title_source"] == "manual" else "auto"


def _current(head: Head, branches: Mapping[str, Mapping[str, int]]) -> str:
    """Give the kept branch while it is there and not in the bin."""
    kept = str(head["current_branch"])
    return kept if kept in branches.get(head["session_id"], {}) else MAIN


def by_title(connection: sqlite3.Connection, tables: Tables, wanted: str) -> list[Head]:
    """Give the newest conversation of that title, else the only one whose title or ID begins so."""
    heads = heads_of(connection, tables)
    heads.sort(key=activity, reverse=True)
    titles = titles_of(connection, tables, heads)
    exact = [head for head in heads if titles[head["session_id"]] == wanted]
    if exact:
        return exact[:1]
    folded = wanted.casefold()
    begun = [
        head
        for head in heads
        if titles[head["session_id"]].casefold().startswith(folded)
        or str(head["session_id"]).casefold().startswith(folded)
    ]
    return begun if len(begun) == 1 else []


def titles_of(connection: sqlite3.Connection, tables: Tables, heads: Sequence[Head]) -> dict[str, str]:
    """Give the titles, those of the unnamed made from their first prompts; empty where there is none."""
    titles = {str(head["session_id"]): str(head["title"]) for head in heads}
    unnamed = [name for name, title in titles.items() if not title]
    rows = for_each_of(
        connection,
        f"""SELECT k.session_id, m.message_data FROM {tables.sessions} AS k
        JOIN {tables.messages} AS m ON m.id = (SELECT f.message_id FROM (
            SELECT message_id, message_type, sequence_number FROM message_structure AS s
            WHERE s.session_id = k.session_id ORDER BY s.sequence_number LIMIT {_TITLE_WITHIN}) AS f
            WHERE f.message_type = 'user' ORDER BY f.sequence_number LIMIT 1)
        WHERE k.session_id IN ({{wanted}})""",
        unnamed,
    )
    for name, data in rows:
        said = spoken(parse(data))
        titles[name] = one_line(said[1], TITLE) if said is not None else ""
    return titles


def _branches(
    connection: sqlite3.Connection, tables: Tables, names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Give the user turns of every branch outside the bin, by conversation; one look per branch."""
    found: dict[str, dict[str, int]] = {}
    rows = for_each_of(
        connection,
        f"""WITH RECURSIVE branch (session_id, branch_id) AS (
            SELECT k.session_id, (SELECT MIN(s.branch_id) FROM message_structure AS s
                WHERE s.session_id = k.session_id)
            FROM {tables.sessions} AS k WHERE k.session_id IN ({{wanted}})
            UNION ALL
            SELECT session_id, (SELECT MIN(s.branch_id) FROM message_structure AS s
                WHERE s.session_id = branch.session_id AND s.branch_id > branch.branch_id)
            FROM branch WHERE branch_id IS NOT NULL
        )
        SELECT b.session_id, b.branch_id, (SELECT MAX(s.user_turn_number) FROM message_structure AS s
            WHERE s.session_id = b.session_id AND s.branch_id = b.branch_id)
        FROM branch AS b WHERE b.branch_id IS NOT NULL
        UNION ALL
        SELECT a.session_id, a.branch_id, -1 FROM advchat_branches AS a
        WHERE a.session_id IN ({{wanted}}) AND a.gone = 0""",
        names,
    )
    for name, branch, turns in rows:
        known = found.setdefault(name, {})
        known[branch] = max(known.get(branch, 0), turns or 0)
    binned = for_each_of(
        connection,
        "SELECT session_id, branch_id FROM advchat_branches "
        "WHERE session_id IN ({wanted}) AND binned_at IS NOT NULL",
        names,
    )
    for name, branch in binned:
        if branch != MAIN:
            found.get(name, {}).pop(branch, None)
    return found


def _costs(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, tuple[int | None, bool]]:
    rows = for_each_of(
        connection,
        "SELECT session_id, SUM(cost_nano), COUNT(*) - COUNT(cost_nano) FROM advchat_requests "
        "WHERE session_id IN ({wanted}) GROUP BY session_id",
        names,
    )
    return {name: (cost, unknown > 0) for name, cost, unknown in rows}
