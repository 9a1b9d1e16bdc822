"""The themes' colours are readable."""

from __future__ import annotations

import pytest
from rich._palettes import STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from advchat.themes import DARK, DARK_16, LIGHT, LIGHT_16

GROUNDS = ("background", "surface", "panel", "row-cursor", "row-blurred")
INKS = ("foreground", "quiet", "accent", "success", "warning", "error")


def luminance(of: Color) -> float:
    """Relative luminance, as the accessibility guidelines (WCAG 2) define it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in of.normalized]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Color, other: Color) -> float:
    """Contrast ratio, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def colour(theme: Theme, name: str) -> Color:
    found = getattr(theme, name, None) or theme.variables[name]
    return Color.parse(found)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_case_80_every_text_has_a_contrast_of_four_and_a_half(theme: Theme, ground: str, ink: str) -> None:
    assert contrast(colour(theme, ink), colour(theme, ground)) >= 4.5


@pytest.mark.parametrize("theme", [DARK_16, LIGHT_16], ids=lambda theme: theme.name)
def test_case_80_sixteen_colours_are_meant_ones_and_readable(theme: Theme) -> None:
    for name in (*GROUNDS, *INKS, "bar-cached", "bar-input", "bar-output"):
        wanted = RichColor.parse(colour(theme, name).hex.lower())
        number = wanted.downgrade(ColorSystem.STANDARD).number
        assert number is not None
        assert tuple(STANDARD_PALETTE._colors[number]) == wanted.get_truecolor()
    for ink in INKS:
        assert contrast(colour(theme, ink), colour(theme, "background")) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_the_parts_of_a_bar_are_told_apart_by_lightness(theme: Theme) -> None:
    parts = [colour(theme, name).brightness for name in ("bar-cached", "bar-input", "bar-output")]
    assert parts in (sorted(parts), sorted(parts, reverse=True))
    assert min(abs(parts[0] - parts[1]), abs(parts[1] - parts[2])) > 0.1
