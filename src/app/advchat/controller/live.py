"""A turn while it is being answered.

Owns the answer so far, put together from run events, so that whoever looks at the branch later sees
all of it at once. Knows no store, no runner and no widget.
"""

from __future__ import annotations

from dataclasses import replace

from advchat.events import ReasoningDelta, RunEvent, TextDelta, ToolFinished, ToolStarted
from advchat.state import ItemView, TurnView


class LiveTurn:
    """The growing answer of one run."""

    def __init__(self, view: TurnView) -> None:
        self._view = view
        self._items: list[ItemView] = list(view.items)
        self._growing: list[str] = []
        self._growing_kind: str | None = None
        self._places: dict[str, int] = {}

    @property
    def view(self) -> TurnView:
        """The turn as it stands now."""
        items = [*self._items, *self._tail()]
        return replace(self._view, items=tuple(items))

    @property
    def text(self) -> str:
        """The answer's text so far, without reasoning and tools."""
        pieces = [item.text for item in self._items if item.kind == "text"]
        if self._growing_kind == "text":
            pieces.append("".join(self._growing))
        return "\n\n".join(pieces)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        pieces = [item.text for item in self._items if item.kind == "reasoning"]
        if self._growing_kind == "reasoning":
            pieces.append("".join(self._growing))
        return "\n\n".join(pieces)

    def feed(self, event: RunEvent) -> None:
        """Take in one event of the run; those without content change nothing."""
        match event:
            case TextDelta(text=text):
                self._grow("text", text)
            case ReasoningDelta(text=text):
                self._grow("reasoning", text)
            case ToolStarted():
                self._settle()
                self._places[event.call_id] = len(self._items)
                self._items.append(
                    ItemView(
                        "tool", name=event.name, arguments=event.arguments, running=True, call_id=event.call_id
                    )
                )
            case ToolFinished():
                self._finish_tool(event)
            case _:
                pass

    def _grow(self, kind: str, text: str) -> None:
        if self._growing_kind != kind:
            self._settle()
            self._growing_kind = kind
        self._growing.append(text)

    def _settle(self) -> None:
        self._items.extend(self._tail())
        self._growing = []
        self._growing_kind = None

    def _tail(self) -> list[ItemView]:
        text = "".join(self._growing)
        if not text or self._growing_kind is None:
            return []
        return [ItemView("text" if self._growing_kind == "text" else "reasoning", text=text)]

    def _finish_tool(self, event: ToolFinished) -> None:
        place = self._places.get(event.call_id)
        if place is None:
            return
        self._items[place] = replace(
            self._items[place], text=event.output, seconds=event.seconds, running=False
        )
