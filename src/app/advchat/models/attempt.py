"""One request on the wire, as its events come in.

Owns what each event of a stream means for the run: text and reasoning are shown as they come, errors inside
a stream are raised, and at the end a whole response is made or the reason given why there is none. Knows
nothing of retries nor of the ledger. Imports the SDK: import it late.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents import ModelResponse

from advchat.models.faults import BlockedError, CutOffError, NotAStreamError, StreamError
from advchat.models.mending import StreamMender, mend, mend_value
from advchat.models.observation import Observation
from advchat.models.rows import plain_usage, sdk_usage
from advchat.models.scope import RunScope, now, read_tokens
from advchat.models.sdk_types import Sdk

_FAKE_ID = "__fake_id__"
_TERMINAL = frozenset({"response.completed", "response.incomplete"})


@dataclass(slots=True)
class Attempt:
    """One request and what has come of it. ``nested``: a tool's own request, whose text is not shown."""

    scope: RunScope
    nested: bool
    host: str
    seen: Observation = field(default_factory=Observation)
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    started_at: str = field(default_factory=now)
    first_token_at: str | None = None
    characters: int = 0
    """Of everything that came: text, reasoning, arguments."""
    shown: bool = False
    """Whether anything of it is on the screen, so that asking again would show it twice."""
    final: Any = None
    """The client's whole response, once it has come."""
    came: bool = False
    """Whether any event has come."""
    _messages: int = 0
    _mender: StreamMender = field(default_factory=StreamMender)

    def take(self, event: Sdk) -> None:
        """Read one event. Raises StreamError for an error inside the stream."""
        self.came = True
        if self.seen.touched is not None:
            self.seen.touched()
        if event.type in _TERMINAL:
            self.final = event.response
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    def whole(self) -> ModelResponse:
        """Make the response at the stream's end, or raise why there is none."""
        self._say(self._mender.end())
        seen = self.seen
        if seen.finish is None and seen.content_type and "event-stream" not in seen.content_type:
            raise NotAStreamError(self.host, seen.content_type)
        if seen.finish == "content_filter":
            raise BlockedError
        if self.final is None or (seen.watched and seen.finish is None):
            raise CutOffError
        if not self.nested:
            self.scope.cut_short = seen.finish == "length"
        output = [_mended(item) for item in self.final.output]
        return ModelResponse(
            output=output if self.characters else self.show(output),
            usage=sdk_usage(read_tokens(plain_usage(self.final.usage))),
            response_id=None if self.final.id == _FAKE_ID else self.final.id,
        )

    def show(self, output: list[Sdk]) -> list[Sdk]:
        """Show items that came whole; gives them with their texts mended."""
        output = [_mended(item) for item in output]
        for item in output:
            for part in (getattr(item, "content", None) or []) if item.type == "message" else []:
                self._say(getattr(part, "text", None) or getattr(part, "refusal", None) or "")
        return output

    def _said(self, event: Sdk) -> None:
        self._say(self._mender.feed(event.delta))

    def _refused(self, event: Sdk) -> None:
        if self.seen.finish != "content_filter":  # The SDK words a refusal of its own for that.
            self._say(self._mender.feed(event.delta))

    def _thought(self, event: Sdk) -> None:
        self._think(mend(event.delta))

    def _new_thought(self, event: Sdk) -> None:
        if event.summary_index:
            self._think("\n\n")

    def _called(self, event: Sdk) -> None:
        self._count(event.delta)

    def _new_item(self, event: Sdk) -> None:
        if event.item.type == "message":
            self._messages += 1
            if self._messages > 1:
                self._say(self._mender.end() + "\n\n")

    def _failed(self, event: Sdk) -> None:
        problem = event.response.error
        raise StreamError(problem.message if problem else "the response failed", problem and problem.code)

    def _broke(self, event: Sdk) -> None:
        raise StreamError(event.message, event.code)

    def _count(self, text: str) -> None:
        self.characters += len(text)
        self.first_token_at = self.first_token_at or now()

    def _say(self, text: str) -> None:
        self._show(text, self.scope.say)

    def _think(self, text: str) -> None:
        self._show(text, self.scope.think)

    def _show(self, text: str, show: Callable[[str], None]) -> None:
        if not text:
            return
        self._count(text)
        if not self.nested:
            self.shown = True
            show(text)


_HANDLERS: Mapping[str, Callable[[Attempt, Any], None]] = {
    "response.output_text.delta": Attempt._said,
    "response.refusal.delta": Attempt._refused,
    "response.reasoning_summary_text.delta": Attempt._thought,
    "response.reasoning_text.delta": Attempt._thought,
    "response.reasoning_summary_part.added": Attempt._new_thought,
    "response.function_call_arguments.delta": Attempt._called,
    "response.output_item.added": Attempt._new_item,
    "response.failed": Attempt._failed,
    "error": Attempt._broke,
}


def _mended(item: Sdk) -> Sdk:
    """Give the item with its texts mended; the same object where nothing was amiss."""
    plain = item.model_dump(exclude_unset=True, warnings=False)
    mended = mend_value(plain)
    return item if mended is plain else type(item).model_validate(mended)
