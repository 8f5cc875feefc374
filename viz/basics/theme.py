"""Colours and fonts. No meaning rests on colour alone: there is also a glyph, a line style, a width or a word."""

from __future__ import annotations

from dataclasses import dataclass

from viz.basics.characters import visible
from viz.basics.errors import DrawError

# Fonts of nearly the same widths, so that the sizes Graphviz measures on one machine fit on another.
CODE_FONT = "DejaVu Sans Mono,Menlo,Consolas,monospace"
TEXT_FONT = "DejaVu Sans,Verdana,Segoe UI,sans-serif"


RECORDED_LOOKS = (
    ("box", "", ""),
    ("box", ",diagonals", "cut corners"),
    ("folder", "", "a tab on top"),
    ("component", "", "lugs on the left"),
)
"""How a box shows which pass recorded it: a Graphviz shape, a Graphviz style, and a description in words."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette."""

    name: str
    background: str
    text: str
    muted: str
    line: str  # of arrows and operations
    gradient: str
    alarm: str
    operation: str  # the fills of boxes
    leaf: str
    leaf_line: str
    constant: str
    recorded: str  # recorded by backward (create_graph)
    recorded_line: str
    current: str
    current_line: str
    failed: str


LIGHT = Theme(
    name="light",
    background="#ffffff",
    text="#1b1f24",
    muted="#59636e",
    line="#818b98",
    gradient="#005fa3",
    alarm="#b3261e",
    operation="#f6f8fa",
    leaf="#e6f4ee",
    leaf_line="#00795b",
    constant="#ffffff",
    recorded="#f7eef4",
    recorded_line="#a3477b",
    current="#fff1d6",
    current_line="#b25a00",
    failed="#fdeceb",
)

DARK = Theme(
    name="dark",
    background="#15181d",
    text="#e9ecf0",
    muted="#9aa5b3",
    line="#6d7887",
    gradient="#6cbcf5",
    alarm="#ff9086",
    operation="#20252d",
    leaf="#14312a",
    leaf_line="#35c69c",
    constant="#15181d",
    recorded="#33222f",
    recorded_line="#dd8fbd",
    current="#3d2c10",
    current_line="#f5a742",
    failed="#421d1c",
)

COLOURBLIND = Theme(  # hues that also differ in brightness, so that every kind of colour vision can tell them apart
    name="colourblind",
    background="#ffffff",
    text="#1b1f24",
    muted="#59636e",
    line="#818b98",
    gradient="#0a2a7d",
    alarm="#7a0c02",
    operation="#f6f8fa",
    leaf="#e3f3f2",
    leaf_line="#0b8f8a",
    constant="#ffffff",
    recorded="#f4ebfd",
    recorded_line="#a14be6",
    current="#fff0d9",
    current_line="#b86200",
    failed="#f7e4e2",
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK, COLOURBLIND)}


def theme_called(name: str) -> Theme:
    """The theme of that name. Raises DrawError if there is none."""
    if name not in THEMES:
        raise DrawError(f"there is no theme {visible(str(name), 20)!r}: theme= takes {', '.join(THEMES)}")
    return THEMES[name]
