"""Conversations: listed, found, made, changed, deleted.

Owns what the store tells of a conversation as a whole. One that only the SDK's class has written is a
conversation like any other: what no row of ours says is read from its messages. Knows no turn's items but
the first prompt, which names what nobody has named.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from advchat_storage.clock import normal, now
from advchat_storage.history import clear
from advchat_storage.models import Conversation, TitleSource
from advchat_storage.ownership import Tables
from advchat_storage.parsing import parse
from advchat_storage.place import MAIN, Scope
from advchat_storage.rows import for_each_of
from advchat_storage.wording import one_line, spoken, storable

TITLE = 60
"""Characters of a title made from a prompt."""

_CHANGEABLE = ("title", "title_source", "model", "instructions", "archived", "budget_nano")


def conversations(
    connection: sqlite3.Connection,
    *,
    tables: Tables,
    limit: int | None = None,
    offset: int = 0,
    archived: bool = False,
) -> list[Conversation]:
    """Give conversations by last activity, newest first; ``archived`` gives the archived ones instead."""
    heads = [head for head in _heads(connection, tables) if bool(head["archived"]) == archived]
    heads.sort(key=lambda head: (head["updated_at"], head["newest"]), reverse=True)
    return _filled(connection, tables, heads[offset : None if limit is None else offset + max(0, limit)])


def conversation(connection: sqlite3.Connection, *, tables: Tables, id_or_title: str) -> Conversation | None:
    """Give the conversation with that ID, else the newest with that title, else the only one that begins so.

    None when there is none, or when several titles begin so.
    """
    wanted = storable(id_or_title)
    heads = _heads(connection, tables, session_id=wanted)
    if not heads and wanted.strip():
        heads = _by_title(connection, tables, wanted.strip())
    found = _filled(connection, tables, heads)
    return found[0] if found else None


def ensure_conversation(connection: sqlite3.Connection, *, session_id: str) -> None:
    """Make our row of a conversation where it is missing."""
    moment = now()
    connection.execute(
        "INSERT INTO advchat_conversations (session_id, created_at, updated_at) "
        "VALUES (?, ?, ?) ON CONFLICT (session_id) DO NOTHING",
        (session_id, moment, moment),
    )


def create_conversation(
    connection: sqlite3.Connection,
    *,
    tables: Tables,
    title: str = "",
    conversation_id: str | None = None,
    model: str | None = None,
    instructions: str | None = None,
) -> Conversation:
    """Make an empty conversation. Raises ``ValueError`` for an ID that is blank or taken."""
    session = uuid.uuid4().hex[:12] if conversation_id is None else storable(conversation_id)
    if not session.strip():
        raise ValueError("Conversation ID cannot be empty")
    if _heads(connection, tables, session_id=session):
        raise ValueError(f"Conversation '{session}' exists already. Choose another ID.")
    ensure_conversation(connection, session_id=session)
    changes: dict[str, Any] = {"model": model, "instructions": instructions}
    if title:
        changes.update(title=title, title_source="manual")
    update_conversation(connection, tables=tables, conversation_id=session, changes=changes)
    return _filled(connection, tables, _heads(connection, tables, session_id=session))[0]


def update_conversation(
    connection: sqlite3.Connection, *, tables: Tables, conversation_id: str, changes: Mapping[str, Any]
) -> bool:
    """Change ``title``, ``title_source``, ``model``, ``instructions``, ``archived`` or ``budget_nano``.

    A title without a source is manual; an automatic one never replaces a manual one, which gives False. Raises
    ``ValueError`` for an unknown conversation or field.
    """
    unknown = set(changes) - set(_CHANGEABLE)
    if unknown:
        raise ValueError(f"No field '{min(unknown)}': choose {', '.join(_CHANGEABLE)}")
    if not _heads(connection, tables, session_id=conversation_id):
        raise ValueError(f"Conversation '{conversation_id}' does not exist")
    ensure_conversation(connection, session_id=conversation_id)
    values = {name: storable(value) if isinstance(value, str) else value for name, value in changes.items()}
    if "archived" in values:
        values["archived"] = int(bool(values["archived"]))
    condition = ""
    if "title" in values:
        values["title"] = " ".join(values["title"].split())
        values.setdefault("title_source", "manual" if values["title"] else "none")
        if values["title_source"] != "manual" and values["title"]:
            condition = " AND title_source <> 'manual'"
    if not values:
        return True
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    changed = connection.execute(
        f"UPDATE advchat_conversations SET {assignments} WHERE session_id = :session{condition}",
        {**values, "session": conversation_id},
    )
    return changed.rowcount == 1


def name_after_first_prompt(connection: sqlite3.Connection, *, tables: Tables, session_id: str) -> None:
    """Keep a title made from the first prompt, for a conversation that has none."""
    unnamed = [head for head in _heads(connection, tables, session_id=session_id) if not head["title"]]
    for title in _titles(connection, tables, unnamed).values():
        connection.execute(
            "UPDATE advchat_conversations SET title = ?, title_source = 'auto' WHERE session_id = ?",
            (title, session_id),
        )


def delete_conversation(connection: sqlite3.Connection, *, tables: Tables, conversation_id: str) -> None:
    """Remove a conversation for good. What it cost stays in the ledger, without its words."""
    clear(connection, Scope(conversation_id, tables))
    for table in ("conversations", "branches", "turns", "journal", "drafts"):
        connection.execute(f"DELETE FROM advchat_{table} WHERE session_id = ?", (conversation_id,))


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
    return _titles(connection, tables, [{"session_id": name, "title": title} for name, title in rows])


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


def _heads(connection: sqlite3.Connection, tables: Tables, *, session_id: str | None = None) -> list[Head]:
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


def _filled(connection: sqlite3.Connection, tables: Tables, heads: Sequence[Head]) -> list[Conversation]:
    names = [head["session_id"] for head in heads]
    titles = _titles(connection, tables, heads)
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


def _by_title(connection: sqlite3.Connection, tables: Tables, wanted: str) -> list[Head]:
    heads = _heads(connection, tables)
    heads.sort(key=lambda head: (head["updated_at"], head["newest"]), reverse=True)
    titles = _titles(connection, tables, heads)
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


def _titles(connection: sqlite3.Connection, tables: Tables, heads: Sequence[Head]) -> dict[str, str]:
    titles = {str(head["session_id"]): str(head["title"]) for head in heads}
    unnamed = [name for name, title in titles.items() if not title]
    rows = for_each_of(
        connection,
        f"""SELECT k.session_id, m.message_data FROM {tables.sessions} AS k
        JOIN {tables.messages} AS m ON m.id = (SELECT s.message_id FROM message_structure AS s
            WHERE s.session_id = k.session_id AND s.message_type = 'user'
            ORDER BY s.sequence_number LIMIT 1)
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
