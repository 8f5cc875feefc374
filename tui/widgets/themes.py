"""The colour themes of the terminal screens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="microtape-dark",
    primary="#6cb6ff",
    secondary="#4fb8c4",
    warning="#e3b866",
    error="#ff7b72",
    success="#7ecb8f",
    accent="#f58fc6",
    foreground="#d6dbe3",
    background="#14171c",
    surface="#191d23",
    panel="#303845",
    dark=True,
    variables={"text-muted": "#8b95a5", "text-disabled": "#5c6675", "foreground-muted": "#8b95a5"},
)
LIGHT = Theme(
    name="microtape-light",
    primary="#0b5cad",
    secondary="#0b6b78",
    warning="#7d4e00",
    error="#b3201b",
    success="#1a6b34",
    accent="#a3156f",
    foreground="#1f242b",
    background="#fcfcfd",
    surface="#f4f5f8",
    panel="#dfe3ea",
    dark=False,
    variables={"text-muted": "#5f6876", "text-disabled": "#8d96a3", "foreground-muted": "#5f6876"},
)
# After Okabe and Ito: hues that also differ in brightness. No meaning depends on a colour alone.
COLOURBLIND = Theme(
    name="microtape-colourblind",
    primary="#56b4e9",
    secondary="#35c4a2",
    warning="#f0e442",
    error="#ff8a50",
    success="#e69f00",
    accent="#e7a6cf",
    foreground="#e6e6e6",
    background="#101216",
    surface="#181b21",
    panel="#3a4250",
    dark=True,
    variables={"text-muted": "#9aa3b0", "text-disabled": "#6b7482", "foreground-muted": "#9aa3b0"},
)


def _ansi(like: str, muted: str, current: str, delivered: str, failed: str, **colours: Any) -> Theme:
    """A theme in the terminal's own sixteen colours, derived from one of Textual's themes."""
    variables = {
        "text-muted": muted, "text-disabled": muted, "foreground-muted": muted, "text": "ansi_default",
        "accent-muted": current, "primary-muted": delivered, "error-muted": failed,
        **{f"text-{role}": colour for role, colour in colours.items()},
    }  # fmt: skip
    theme = BUILTIN_THEMES[like]
    return replace(theme, name=f"microtape-{like}", **colours, variables={**theme.variables, **variables})


ANSI_DARK = _ansi(
    "ansi-dark", muted="ansi_white", current="ansi_bright_black", delivered="ansi_default", failed="ansi_default",
    primary="ansi_bright_blue", secondary="ansi_cyan", warning="ansi_yellow", error="ansi_bright_red",
    success="ansi_bright_green", accent="ansi_bright_magenta", panel="ansi_bright_black",
)  # fmt: skip
ANSI_LIGHT = _ansi(
    "ansi-light", muted="ansi_bright_black", current="ansi_white", delivered="ansi_default",
    failed="ansi_default", primary="ansi_blue", secondary="ansi_cyan", warning="ansi_default", error="ansi_red",
    success="ansi_green", accent="ansi_magenta", panel="ansi_white",
)  # fmt: skip
THEMES = {"dark": DARK, "light": LIGHT, "colourblind": COLOURBLIND, "ansi": ANSI_DARK, "ansi-light": ANSI_LIGHT}
