"""The server's remote control, for tests of the whole program in a process of its own.

Owns the paths below ``/_/``: the requests seen, the account, gates, and more script. The script's JSON
is read here too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.server.script import (
    AUTO,
    Answer,
    Call,
    Cut,
    Drop,
    Fail,
    Hold,
    HttpReply,
    Part,
    Reasoning,
    Refusal,
    Reply,
    Text,
    Usage,
    Wait,
    error,
    say,
)

if TYPE_CHECKING:
    from tests.server.server import ModelServer

ROOT = "/_/"


class Controls:
    """Answers the control paths of one server."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> HttpReply | None:
        """Do what a control path says; None for any other path."""
        if not path.startswith(ROOT):
            return None
        name, _, rest = path.removeprefix(ROOT).partition("/")
        if method == "GET" and name == "requests":
            return _json([_shown(seen) for seen in self._server.requests])
        if method == "GET" and name == "account":
            return _json([asdict(served) for served in self._server.account])
        if method == "POST" and name == "gates":
            self._server.gate(rest).set()
            return _json({"opened": rest})
        if method == "POST" and name == "script":
            load(self._server, body)
            return _json({"loaded": True})
        return error(404, f"No control {method} {path}")


def load(server: ModelServer, script: Mapping[str, Any]) -> None:
    """Add a script: ``{"rules": [{"contains": TEXT, "replies": [R]}], "replies": [R], "default": R}``.

    A reply is a string, ``{"parts": [P], "usage": {…}|null, "model": M, "finish": F}`` or
    ``{"status": N, "body": …, "headers": {…}}``; a part is a string or one of ``{"text", "size", "rate"}``,
    ``{"reasoning"}``, ``{"call", "arguments", "call_id"}``, ``{"refusal"}``, ``{"wait": GATE}``, ``{"fail"}``,
    ``{"hold": true}``, ``{"cut": true}``, ``{"drop": true}``.
    """
    for rule in script.get("rules", ()):
        server.when(rule["contains"], *(reply(given) for given in rule["replies"]))
    server.script(*(reply(given) for given in script.get("replies", ())))
    default = script.get("default", "echo")
    if default != "echo":
        server.default = lambda _seen: reply(default)


def reply(given: str | Mapping[str, Any]) -> Answer:
    """Read one reply of a script."""
    if isinstance(given, str):
        return say(given)
    if "status" in given:
        body = given.get("body", {})
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/html" if isinstance(body, str) else "application/json"
        return HttpReply(int(given["status"]), raw, dict(given.get("headers", {})), kind)
    usage = given.get("usage", AUTO)
    return Reply(
        tuple(_part(part) for part in given.get("parts", ())),
        usage=Usage(**usage) if isinstance(usage, dict) else usage,
        model=given.get("model"),
        finish=given.get("finish", "stop"),
    )


def _part(given: str | Mapping[str, Any]) -> Part:
    if isinstance(given, str):
        return Text(given)
    kind = next(name for name in given if name in _PARTS)
    return _PARTS[kind](dict(given))


_PARTS: Mapping[str, Callable[[dict[str, Any]], Part]] = {
    "text": lambda given: Text(**given),
    "reasoning": lambda given: Reasoning(given.pop("reasoning"), **given),
    "call": lambda given: Call(given.pop("call"), **given),
    "refusal": lambda given: Refusal(given["refusal"]),
    "wait": lambda given: Wait(given["wait"]),
    "fail": lambda given: Fail(given["fail"]),
    "hold": lambda _given: Hold(),
    "cut": lambda _given: Cut(),
    "drop": lambda _given: Drop(),
}


def _shown(seen: Any) -> dict[str, Any]:
    return {
        "number": seen.number,
        "path": seen.path,
        "api": seen.api,
        "headers": dict(seen.headers),
        "body": seen.body,
        "lines": seen.lines,
        "gone": seen.gone.is_set(),
    }


def _json(value: Any) -> HttpReply:
    return HttpReply(200, json.dumps(value).encode())
