"""The styles that line-drawn widgets draw with.

Owns the names, and their reading from the theme. Widgets take them from here rather than from component
classes of their own: each such class is a node for Textual to style, which the first frame would wait for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.color import Color
from textual.theme import Theme
from textual.widget import Widget


def ink(widget: Widget) -> Mapping[str, Style]:
    """Give the styles of the theme in force, by name."""
    few = widget.app.console.color_system in {None, "standard", "windows"}
    return _inks(widget.app.current_theme, few)


@lru_cache(maxsize=8)
def _styles(colours: tuple[tuple[str, str], ...], few: bool) -> Mapping[str, Style]:
    of = dict(colours)

    def front(variable: str, *, bold: bool = False) -> Style:
        return Style(color=Color.parse(of[variable]).rich_color, bold=bold or None)

    def back(variable: str) -> Style:
        return Style(bgcolor=Color.parse(of[variable]).rich_color)

    styles = {
        "quiet": front("quiet"),
        "accent": front("accent"),
        "key": front("accent", bold=True),
        "good": front("success"),
        "warn": front("warning"),
        "bad": front("error"),
        "rule": front("rule"),
        "strong": Style(bold=True),
        "cached": front("bar-cached"),
        "input": front("bar-input"),
        "output": front("bar-output"),
        "cost": front("warning", bold=True),
        "cursor": back("row-cursor"),
        "blurred": back("row-blurred"),
        "hover": back("row-blurred"),
        "selected": back("input-selection-background"),
        "caret": front("background") + back("foreground"),
    }
    if few:
        # Sixteen colours have no two grounds on which every ink can be read.
        for name in ("cursor", "selected", "caret"):
            styles[name] = Style(reverse=True)
        styles["blurred"] = styles["hover"] = Style(underline=True)
    return styles


def _inks(theme: Theme, few: bool) -> Mapping[str, Style]:
    plain = theme.foreground or ("#dddddd" if theme.dark else "#222222")
    ground = theme.background or ("#121212" if theme.dark else "#fafafa")
    # A theme that is not ours lacks our own variables: what is merely quieter is then drawn plainly.
    of = {
        "foreground": plain,
        "background": ground,
        "quiet": plain,
        "rule": plain,
        "accent": theme.accent or theme.primary,
        "success": theme.success or plain,
        "warning": theme.warning or plain,
        "error": theme.error or plain,
        "bar-cached": theme.primary,
        "bar-input": theme.primary,
        "bar-output": theme.accent or theme.primary,
        "row-cursor": theme.panel or ground,
        "row-blurred": theme.surface or ground,
        "input-selection-background": theme.panel or ground,
        **theme.variables,
    }
    names = (
        *("foreground", "background", "quiet", "rule", "accent", "success", "warning", "error", "bar-cached"),
        *("bar-input", "bar-output", "row-cursor", "row-blurred", "input-selection-background"),
    )
    return _styles(tuple((name, of[name]) for name in names), few)
