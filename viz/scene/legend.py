"""The legend: a line for every sign that occurs in the picture, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from viz.basics.graph import Arrow, ArrowKind, Box, BoxKind, BoxState, LegendItem
from viz.basics.theme import RECORDED_LOOKS

_BOXES: dict[BoxKind, str] = {
    "leaf": "leaf: yours, collects .grad",
    "operation": "operation",
    "constant": "needs no gradient",
    "border": "history ends: no gradient",
    "again": "drawn above, used again",
    "fold": "folded: several operations",
    "folded leaves": "several leaves",
    "folded constants": "several that need no gradient",
    "enter": "a call begins: its arguments",
    "unpack": "unpacked from ctx",
    "return": "the call ends: what it returned",
}
_STATES: dict[BoxState, str] = {
    "current": "evaluated in this step",
    "receiving": "received a gradient in this step",
    "ready": "ready: all gradients have arrived",
    "partly": "partly evaluated",
    "done": "evaluated",
    "failed": "failed here",
    "outside": "not part of this pass",
}
_ARROWS: dict[ArrowKind, str] = {
    "future": "value; no gradient yet",
    "done": "gradient delivered",
    "now": "gradient in this step",
    "undefined": "None delivered: adds nothing",
    "value": "value; never a gradient",
    "border": "history is cut here",
    "overwrote": "overwrote a saved tensor",
    "next": "then",
}
_INSIDE: dict[str, str] = {
    "constant": "comes from outside",
    "current": "this step",
    "done": "has run",
    "future": "value",
    "value": "saved, and unpacked later",
    "next": "then ran",
}


def legend(boxes: Iterable[Box], arrows: Iterable[Arrow], *, watched: bool = True) -> tuple[LegendItem, ...]:
    """The meanings of the signs in these boxes and arrows. `watched`: whether gradients were recorded."""
    return _legend(tuple(boxes), arrows, {} if watched else {"future": "value"})


def inside_legend(boxes: Iterable[Box], arrows: Iterable[Arrow]) -> tuple[LegendItem, ...]:
    """The same for a picture of what ran inside of a node, where some signs have another meaning."""
    return _legend(tuple(boxes), arrows, _INSIDE)


def _legend(boxes: Sequence[Box], arrows: Iterable[Arrow], other: Mapping[str, str]) -> tuple[LegendItem, ...]:
    kinds, states, ways = {box.kind for box in boxes}, {box.state for box in boxes}, {arrow.kind for arrow in arrows}
    recorded = sorted({box.recorded_in for box in boxes if box.recorded_in is not None})
    heat = any(row.heat for box in boxes for row in (*box.rows, *(row for port in box.ports for row in port.rows)))
    ends = any(
        "⊣" in row.text for box in boxes for row in (*box.rows, *(row for port in box.ports for row in port.rows))
    )
    bars = any(row.key.startswith("|") for box in boxes for row in box.rows)
    return (
        *(LegendItem("box", name, other.get(name, text)) for name, text in _BOXES.items() if name in kinds),
        *(LegendItem("recorded", str(number), _recorded(number)) for number in recorded),
        *([LegendItem("end", "", "non-differentiable: a path ends")] if ends else []),
        *([LegendItem("bars", "", "size of each, first to last (log)")] if bars else []),
        *([LegendItem("heat", "", "heat map: - negative, × NaN or Inf")] if heat else []),
        *(LegendItem("state", name, other.get(name, text)) for name, text in _STATES.items() if name in states),
        *(LegendItem("arrow", name, other.get(name, text)) for name, text in _ARROWS.items() if name in ways),
    )


def _recorded(number: int) -> str:
    """The legend's line for operations that a pass recorded. Pass numbers cycle through `RECORDED_LOOKS`."""
    *_, look = RECORDED_LOOKS[number % len(RECORDED_LOOKS)]
    return f"recorded by backward, pass {number + 1}{f' ({look})' if look else ''}"
