"""The program's themes: dark and light, each for many colours and for sixteen.

Owns every colour: widgets name theme variables only. All text colours have a contrast of at least 4.5:1
on every background they are drawn on, the row under the cursor included.
"""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="advchat-dark",
    dark=True,
    primary="#8ab4f8",
    secondary="#8ab4f8",
    accent="#8ab4f8",
    foreground="#dde1ea",
    background="#14161b",
    surface="#191c22",
    panel="#21252e",
    success="#9bcf7a",
    warning="#e6bd6a",
    error="#f58f8f",
    variables={
        "quiet": "#9aa2b3",
        "rule": "#353b48",
        "row-cursor": "#2b3446",
        "row-blurred": "#232833",
        "bar-cached": "#3d4e6b",
        "bar-input": "#6288c4",
        "bar-output": "#b9d2fb",
        "input-selection-background": "#3a5a91",
        "scrollbar": "#353b48",
        "scrollbar-hover": "#4b5465",
        "scrollbar-active": "#8ab4f8",
        "scrollbar-background": "#191c22",
        "scrollbar-background-hover": "#191c22",
        "scrollbar-background-active": "#191c22",
        "scrollbar-corner-color": "#191c22",
    },
)

LIGHT = Theme(
    name="advchat-light",
    dark=False,
    primary="#1c5cb8",
    secondary="#1c5cb8",
    accent="#1c5cb8",
    foreground="#22252b",
    background="#fcfbf9",
    surface="#f5f3ef",
    panel="#ebe8e2",
    success="#2f6d18",
    warning="#7d5200",
    error="#ad2119",
    variables={
        "quiet": "#5a5f69",
        "rule": "#cfcac0",
        "row-cursor": "#d9e4f5",
        "row-blurred": "#eae6df",
        "bar-cached": "#b9c9e2",
        "bar-input": "#6f95cf",
        "bar-output": "#1c5cb8",
        "input-selection-background": "#a9c6f0",
        "scrollbar": "#cfcac0",
        "scrollbar-hover": "#b3ada2",
        "scrollbar-active": "#1c5cb8",
        "scrollbar-background": "#f5f3ef",
        "scrollbar-background-hover": "#f5f3ef",
        "scrollbar-background-active": "#f5f3ef",
        "scrollbar-corner-color": "#f5f3ef",
    },
)

DARK_16 = Theme(
    name="advchat-dark-16",
    dark=True,
    primary="#55ffff",
    secondary="#55ffff",
    accent="#55ffff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#000000",
    success="#55ff55",
    warning="#ffff55",
    error="#ff5555",
    variables={
        "quiet": "#aaaaaa",
        "rule": "#555555",
        "row-cursor": "#000000",
        "row-blurred": "#000000",
        "bar-cached": "#555555",
        "bar-input": "#5555ff",
        "bar-output": "#55ffff",
        "input-selection-background": "#0000aa",
    },
)

LIGHT_16 = Theme(
    name="advchat-light-16",
    dark=False,
    primary="#0000aa",
    secondary="#0000aa",
    accent="#0000aa",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#ffffff",
    success="#0000aa",
    warning="#aa00aa",
    error="#aa0000",
    variables={
        "quiet": "#000000",
        "rule": "#aaaaaa",
        "row-cursor": "#ffffff",
        "row-blurred": "#ffffff",
        "bar-cached": "#aaaaaa",
        "bar-input": "#5555ff",
        "bar-output": "#0000aa",
        "input-selection-background": "#aaaaaa",
    },
)

THEMES = {"dark": DARK, "light": LIGHT}
"""By the name that the config uses."""

THEMES_16 = {"dark": DARK_16, "light": LIGHT_16}
"""The same for terminals of 16 colours: each colour is one of theirs, so that none is rounded into another."""
