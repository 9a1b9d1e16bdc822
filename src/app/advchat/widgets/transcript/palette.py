"""The transcript's styles, taken from the theme.

Owns the names of its component classes, their CSS, and one resolved set of Rich styles for renderers to use.
A new theme makes a new palette; nothing here is a colour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from rich.style import Style
from textual.color import Color

PREFIX = "transcript--"
_CONTRAST = 4.5

PALETTE_CSS = """
TranscriptView {
    & > .transcript--text { color: $foreground; }
    & > .transcript--muted { color: $foreground 72%; }
    & > .transcript--accent { color: $text-accent; text-style: bold; }
    & > .transcript--prompt { color: $foreground; background: $surface; }
    & > .transcript--number { color: $foreground 72%; background: $surface; }
    & > .transcript--bar { color: $accent; background: $surface; }
    & > .transcript--button { color: $text-accent; background: $surface; }
    & > .transcript--heading { color: $foreground; text-style: bold; }
    & > .transcript--strong { text-style: bold; }
    & > .transcript--emphasis { text-style: italic; }
    & > .transcript--strike { text-style: strike; }
    & > .transcript--inline-code { color: $foreground; background: $panel; }
    & > .transcript--link { color: $text-accent; text-style: underline; }
    & > .transcript--quote { color: $foreground 85%; text-style: italic; }
    & > .transcript--rule { color: $foreground 40%; }
    & > .transcript--code { color: $foreground; background: $panel; }
    & > .transcript--code-label { color: $foreground 75%; background: $panel; }
    & > .transcript--code-button { color: $text-accent; background: $panel; }
    & > .transcript--code-keyword { color: $text-accent; background: $panel; text-style: bold; }
    & > .transcript--code-string { color: $text-success; background: $panel; }
    & > .transcript--code-number { color: $text-warning; background: $panel; }
    & > .transcript--code-comment { color: $foreground 75%; background: $panel; text-style: italic; }
    & > .transcript--code-name { color: $text-primary; background: $panel; }
    & > .transcript--code-type { color: $text-secondary; background: $panel; }
    & > .transcript--code-error { color: $text-error; background: $panel; }
    & > .transcript--warning { color: $text-warning; text-style: bold; }
    & > .transcript--error { color: $text-error; text-style: bold; }
    & > .transcript--target { text-style: reverse bold; }
    & > .transcript--selection { background: $screen-selection-background; color: $foreground; }
}
"""


@dataclass(frozen=True, slots=True)
class Palette:
    """One style per role, as set over the widget's own colours."""

    text: Style
    muted: Style
    accent: Style
    prompt: Style
    number: Style
    bar: Style
    button: Style
    heading: Style
    strong: Style
    emphasis: Style
    strike: Style
    inline_code: Style
    link: Style
    quote: Style
    rule: Style
    code: Style
    code_label: Style
    code_button: Style
    code_keyword: Style
    code_string: Style
    code_number: Style
    code_comment: Style
    code_name: Style
    code_type: Style
    code_error: Style
    warning: Style
    error: Style
    target: Style
    selection: Style


ROLES = tuple(field.name for field in fields(Palette))
FAINT = frozenset({f"{PREFIX}rule", f"{PREFIX}bar"})
"""What is no text, and may be fainter."""
COMPONENTS = frozenset(PREFIX + role.replace("_", "-") for role in ROLES)


def make_palette(resolve: Callable[[str], Style]) -> Palette:
    """Build a palette from what ``resolve`` says of each component class."""
    return Palette(**{role: resolve(PREFIX + role.replace("_", "-")) for role in ROLES})


def plain_palette() -> Palette:
    """Return a palette without any styling, for measuring."""
    return make_palette(lambda _name: Style())


def legible(color: Color, background: Color) -> Color:
    """Return the colour, moved away from its background until its contrast is 4.5:1."""
    if color.ansi is not None or background.ansi is not None:
        return color
    away = background.get_contrast_text(1.0)
    away = background + away
    for _ in range(20):
        if contrast(color, background) >= _CONTRAST:
            break
        color = color.blend(away, 0.1)
    return color


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two colours, as web accessibility defines it."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    parts = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized)
    red, green, blue = parts
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
