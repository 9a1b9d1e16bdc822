"""Inline Markdown as styled runs that know their source.

Owns the Markdown parser's set-up, the way from its inline tokens to runs, and the alignment of those with the
source. Markup that is not Markdown (HTML, console markup) is text here. Knows no rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.style import Style

from advchat.text import clean, safe_link
from advchat.widgets.transcript.palette import Palette
from advchat.widgets.transcript.rows import NOWHERE, Run, Target, outside

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LIKE_URL = re.compile(r"\s*(?:https?://|www\.)|\s*[\w-]+(?:\.[\w-]+)+/?\s*$")
_LONG_LINE = 60
_REACH = 2048
"""How much markup may stand between two pieces of text before a find counts as a false one."""


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """Return the one parser: CommonMark with tables, strikethrough and bare http links, without HTML."""
    # Imported late: it costs a tenth of a first frame, and an empty transcript needs none of it.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    found = MarkdownIt("commonmark", {"html": False, "linkify": True})
    found.enable(["table", "strikethrough", "linkify"]).disable("text_join")
    if found.linkify is not None:
        found.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    # Every link is parsed as one, so that what is refused later is shown and not hidden.
    found.validateLink = _any_link  # type: ignore[method-assign,assignment]  # the library's own way to set it
    return found


def _any_link(_url: str) -> bool:
    return True


def inline_runs(source: str, palette: Palette, style: Style, env: dict[str, Any], start: int = 0) -> list[Run]:
    """Parse one paragraph's ``source``; offsets of the runs count from ``start``.

    Breaks after short lines and margins are kept, because people and small models write verse and code so.
    """
    tokens = parser().parseInline(source, env)
    runs: list[Run] = []
    for token in tokens:
        runs += token_runs(token.children or (), Aligner(source, start, keeps_margins=True), palette, style)
    return runs


class Aligner:
    """Finds the places of parsed text in its source, going forward only."""

    def __init__(self, source: str, start: int = 0, *, keeps_margins: bool = False) -> None:
        self._source = source.replace("\0", "\ufffd") if "\0" in source else source
        self._position = 0
        self._start = start
        self._keeps_margins = keeps_margins

    def find(self, content: str) -> int:
        """Return where ``content`` stands, or NOWHERE, and go behind it."""
        if not content:
            return NOWHERE
        place = self._source.find(content, self._position, self._position + len(content) + _REACH)
        if place < 0:
            return NOWHERE
        self._position = place + len(content)
        return place + self._start

    def find_break(self, *, hard: bool) -> tuple[int, str]:
        """Return where the next line break stands, or NOWHERE, and what it is shown as.

        A break after a long line is taken for one that only kept lines short, and is shown as a blank.
        """
        place = self.find("\n")
        if place == NOWHERE:
            return place, "\n"
        at = self._position - 1
        margin = self._margin() if self._keeps_margins else ""
        if not hard and not margin and at - self._source.rfind("\n", 0, at) > _LONG_LINE:
            return place, " "
        return place, f"\n{margin}"

    def _margin(self) -> str:
        stop = self._position
        while self._source[stop : stop + 1] == " ":
            stop += 1
        return self._source[self._position : stop]

    def skip_destination(self) -> None:
        """Go behind the ``](…)`` or ``][…]`` that ends a link."""
        source, index = self._source, self._position
        opening = source[index + 1 : index + 2] if source[index : index + 1] == "]" else ""
        if opening == "[":
            stop = source.find("]", index + 1)
            self._position = stop + 1 if stop >= 0 else index
        if opening != "(":
            return
        depth = 0
        for at in range(index + 1, min(len(source), index + _REACH * 4)):
            depth += (source[at] == "(") - (source[at] == ")")
            if depth == 0:
                self._position = at + 1
                return


class _Builder:
    """Turns one inline token's children into runs."""

    def __init__(self, aligner: Aligner, palette: Palette, style: Style) -> None:
        self.runs: list[Run] = []
        self._aligner = aligner
        self._palette = palette
        self._styles = [style]
        self._links: list[tuple[Target | None, str, int]] = []
        """Of each open link: its target, its URL, and how many runs came before it."""

    def add(self, token: Token) -> None:
        kind = token.type
        if kind == "text":
            self._text(token.content, token.content, self._styles[-1])
        elif kind == "text_special":
            self._special(token)
        elif kind == "code_inline":
            self._text(token.content, token.content, self._styles[-1] + self._palette.inline_code)
        elif kind in ("softbreak", "hardbreak"):
            self._line_break(hard=kind == "hardbreak")
        elif kind == "image":
            self._image(token)
        elif kind == "link_open":
            self._open_link(str(token.attrGet("href") or ""))
        elif kind == "link_close":
            self._close_link(hidden=token.markup not in ("linkify", "autolink"))
        elif kind.endswith("_open"):
            self._styles.append(self._styles[-1] + self._emphasis(kind))
        elif kind.endswith("_close"):
            self._styles.pop()
        else:
            self._text(token.content, token.content, self._styles[-1])

    def _emphasis(self, kind: str) -> Style:
        palette = self._palette
        return {"strong_open": palette.strong, "em_open": palette.emphasis, "s_open": palette.strike}.get(
            kind, Style()
        )

    @property
    def _target(self) -> Target | None:
        return self._links[-1][0] if self._links else None

    def _text(self, content: str, source: str, style: Style) -> None:
        self.runs += outside(content, style, self._aligner.find(source), self._target)

    def _special(self, token: Token) -> None:
        """Show an escaped letter or an entity, which the source writes otherwise."""
        place = self._aligner.find(token.markup)
        stop = place + len(token.markup) if place != NOWHERE else NOWHERE
        self.runs.append(Run(clean(token.content), self._styles[-1], place, stop, self._target))

    def _line_break(self, *, hard: bool) -> None:
        place, shown = self._aligner.find_break(hard=hard)
        stop = place if place == NOWHERE else place + len(shown)
        self.runs.append(Run(shown, self._styles[-1], place, stop))

    def _image(self, token: Token) -> None:
        url = str(token.attrGet("src") or "")
        link = safe_link(url)
        target = Target("link", link) if link else None
        style = self._styles[-1] + (self._palette.link if link else self._palette.muted)
        self.runs.append(Run("image: ", style, target=target))
        self.runs += outside(token.content or url, style, self._aligner.find(token.content), target)
        self._aligner.skip_destination()

    def _open_link(self, url: str) -> None:
        link = safe_link(url)
        self._links.append((Target("link", link) if link else None, url, len(self.runs)))
        self._styles.append(self._styles[-1] + self._palette.link if link else self._styles[-1])

    def _close_link(self, *, hidden: bool) -> None:
        target, url, first = self._links.pop()
        self._styles.pop()
        if hidden:
            self._aligner.skip_destination()
        text = "".join(run.text for run in self.runs[first:])
        if hidden and (target is None or (_LIKE_URL.match(text) and text.strip() != url)):
            # A link that cannot be followed, or one whose text names another place, says where it leads.
            self.runs += outside(f" ({url})", self._palette.muted)


def token_runs(children: Sequence[Token], aligner: Aligner, palette: Palette, style: Style) -> list[Run]:
    """Turn one inline token's children into runs; a newline in a run's text is a line break."""
    builder = _Builder(aligner, palette, style)
    for child in children:
        builder.add(child)
    return builder.runs
