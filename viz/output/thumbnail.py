"""A heat map in a box: an array as a small matrix of coloured cells, in Graphviz's HTML-like markup.

The colour shows an element's size relative to the largest. Negative elements also have a minus, NaN and Inf a cross.
"""

from __future__ import annotations

from viz.basics.heat import Cell, Heat
from viz.basics.theme import Theme
from viz.output import graphviz_api

CELL, SIGN_SIZE = 9, 6  # points


def thumbnail(heat: Heat, theme: Theme) -> str:
    """The heat map as a table."""
    rows = "".join(f"<TR>{''.join(_cell(cell, heat.largest, theme) for cell in row)}</TR>" for row in heat.cells)
    width = max((len(row) for row in heat.cells), default=0) * (CELL + 1) + 1
    size = f'FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{len(heat.cells) * (CELL + 1) + 1}"'
    return f'<TABLE ALIGN="LEFT" BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="0" {size}>{rows}</TABLE>'


def _cell(cell: Cell, largest: float, theme: Theme) -> str:
    if not isinstance(cell, float):
        return _marked("×", theme.failed, theme.alarm)
    part = abs(cell) / largest if largest else 0.0
    to = theme.current_line if cell < 0 else theme.gradient
    fill = _mixed(theme.operation, to, 0.12 + 0.88 * part) if cell else theme.background
    return _marked("-" if cell < 0 else "", fill, theme.background if part > 0.4 else theme.text)


def _marked(sign: str, fill: str, colour: str) -> str:
    text = f'<FONT POINT-SIZE="{SIGN_SIZE}" COLOR="{colour}">{graphviz_api.markup_text(sign)}</FONT>' if sign else ""
    return f'<TD WIDTH="{CELL}" HEIGHT="{CELL}" BGCOLOR="{fill}">{text}</TD>'


def _mixed(one: str, other: str, part: float) -> str:
    """A colour between two, given as `#rrggbb`."""
    pairs = ((int(one[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)
