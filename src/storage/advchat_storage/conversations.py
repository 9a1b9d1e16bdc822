"""Conversations: listed, found, made, changed, deleted.

Owns the changes of a conversation as a whole. What is told of it is put together by ``conversation_rows``.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from advchat_storage.clock import now
from advchat_storage.conversation_rows import activity, by_title, filled, heads_of, titles_of
from advchat_storage.history import clear
from advchat_storage.models import Conversation
from advchat_storage.ownership import Tables
from advchat_storage.place import Scope
from advchat_storage.wording import storable

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
    heads = [head for head in heads_of(connection, tables) if bool(head["archived"]) == archived]
    heads.sort(key=activity, reverse=True)
    return filled(connection, tables, heads[offset : None if limit is None else offset + max(0, limit)])


def conversation(connection: sqlite3.Connection, *, tables: Tables, id_or_title: str) -> Conversation | None:
    """Give the conversation with that ID, else the newest with that title, else the only one that begins so.

    None when there is none, or when several titles begin so.
    """
    wanted = storable(id_or_title)
    heads = heads_of(connection, tables, session_id=wanted)
    if not heads and wanted.strip():
        heads = by_title(connection, tables, wanted.strip())
    found = filled(connection, tables, heads)
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
    if heads_of(connection, tables, session_id=session):
        raise ValueError(f"Conversation '{session}' exists already. Choose another ID.")
    ensure_conversation(connection, session_id=session)
    changes: dict[str, Any] = {"model": model, "instructions": instructions}
    if title:
        changes.update(title=title, title_source="manual")
    update_conversation(connection, tables=tables, conversation_id=session, changes=changes)
    return filled(connection, tables, heads_of(connection, tables, session_id=session))[0]


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
    if not heads_of(connection, tables, session_id=conversation_id):
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
    unnamed = [head for head in heads_of(connection, tables, session_id=session_id) if not head["title"]]
    for title in titles_of(connection, tables, unnamed).values():
        connection.execute(
            "UPDATE advchat_conversations SET title = ?, title_source = 'auto' WHERE session_id = ?",
            (title, session_id),
        )


def delete_conversation(connection: sqlite3.Connection, *, tables: Tables, conversation_id: str) -> None:
    """Remove a conversation for good. What it cost stays in the ledger, without its words."""
    clear(connection, Scope(conversation_id, tables))
    for table in ("conversations", "branches", "turns", "journal", "drafts"):
        connection.execute(f"DELETE FROM advchat_{table} WHERE session_id = ?", (conversation_id,))
