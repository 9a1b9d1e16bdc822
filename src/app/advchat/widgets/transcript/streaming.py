"""A live answer, gathered from events.

Owns how a run's events become items of a turn, and how many letters wait to be shown. Deltas are only joined
here; drawing happens when the widget asks, so that a thousand tokens a second cost few frames. Knows no widget.
"""

from __future__ import annotations

from dataclasses import replace

from advchat.events import (
    AgentChanged,
    ReasoningDelta,
    RunEvent,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Waiting,
)
from advchat.state import ItemView, TurnView


class LiveRun:
    """The items of a turn that is being answered."""

    def __init__(self, view: TurnView) -> None:
        self.key = view.key
        self.turn = view.turn
        self.wait = ""
        """What the run waits for; empty once something came."""
        self._items = list(view.items)
        self._kind = ""
        self._pending: list[str] = []

    def feed(self, event: RunEvent) -> bool:
        """Take an event; say whether it changes what is shown."""
        match event:
            case TextDelta():
                self._delta("text", event.text)
            case ReasoningDelta():
                self._delta("reasoning", event.text)
            case ToolStarted():
                self._flush()
                self._items.append(
                    ItemView(
                        "tool", name=event.name, arguments=event.arguments, running=True, call_id=event.call_id
                    )
                )
            case ToolFinished():
                self._finish_tool(event)
            case AgentChanged():
                self._flush()
                self._items.append(ItemView("notice", f"{event.agent} goes on from here"))
            case Waiting():
                left = "" if event.seconds is None else f", {event.seconds:.0f} s"
                self.wait = f"{event.reason}{left}"
                return True
            case _:
                return False
        self.wait = ""
        return True

    def items(self) -> list[ItemView]:
        """Return the items so far, with everything that came."""
        if self._pending:
            text = "".join(self._pending)
            last = self._items[-1] if self._items else None
            if last is not None and last.kind == self._kind and last.running:
                self._items[-1] = replace(last, text=last.text + text)
            elif self._kind == "text":
                self._items.append(ItemView("text", text, running=True))
            else:
                self._items.append(ItemView("reasoning", text, running=True))
            self._pending.clear()
        return self._items

    def _delta(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._flush()
            self._kind = kind
            self._resume()
        if text:
            self._pending.append(text)

    def _resume(self) -> None:
        """Go on with the item that was last when the view was made, if it is of the same kind."""
        last = self._items[-1] if self._items else None
        if last is not None and last.kind == self._kind:
            self._items[-1] = replace(last, running=True)

    def _flush(self) -> None:
        items = self.items()
        if items and items[-1].kind in ("text", "reasoning") and items[-1].running:
            items[-1] = replace(items[-1], running=False)
        self._kind = ""

    def _finish_tool(self, event: ToolFinished) -> None:
        self._flush()
        for index, item in enumerate(self._items):
            if item.kind == "tool" and item.call_id == event.call_id and item.running:
                self._items[index] = replace(item, text=event.output, seconds=event.seconds, running=False)
                return
        self._items.append(
            ItemView("tool", event.output, name=event.name, seconds=event.seconds, call_id=event.call_id)
        )
