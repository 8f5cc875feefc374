"""What a picture contains, before anybody says how it looks: boxes, arrows, words. Plain data and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from viz.basics.heat import Heat

BoxKind: TypeAlias = Literal[
    "leaf", "operation", "constant", "border", "again", "seed", "error", "fold", "folded leaves", "folded constants"
]
"""`border`: computed from what has a history, and has none itself. `again` stands for a box drawn elsewhere: a value
used in many places is not dragged across the whole picture."""

BoxState: TypeAlias = Literal[
    "", "future", "ready", "receiving", "current", "partly", "done", "failed", "outside", "absent"
]
"""Where backward is with it; empty where the program never called backward. `absent`: in a film, not there yet."""

ArrowKind: TypeAlias = Literal["future", "done", "now", "undefined", "value", "border", "overwrote", "note", "absent"]
"""future: no gradient yet; now: in the step just taken; undefined: a None travelled; value: no gradient ever will;
border: nor will one, though there is something that could have had it."""

SPACE = "\u00a0"  # one that does not break, and is not dropped at an end
WIDE_SPACE = "\u2007"  # as wide as a digit, in fonts where letters differ
LINE_WIDTH = 110  # of a subtitle

Tone: TypeAlias = Literal["plain", "muted", "gradient", "alarm"]


class Frame(NamedTuple):
    """A line around boxes: what they are in has been unfolded."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a box: a short key on the left, what it is on the right."""

    key: str
    text: str
    tone: Tone = "plain"
    heat: Heat | None = None  # the value as a heat map, which stands below


@dataclass(frozen=True, slots=True)
class Port:
    """One of several outputs of an operation."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A leaf, an operation, a constant, the first gradient, or an error's message."""

    id: str  # unique in the picture, the same in every picture of a recording
    kind: BoxKind
    state: BoxState
    title: str
    note: str  # small, after the title: a shape, or what the box is
    rows: tuple[Row, ...]
    ports: tuple[Port, ...]  # empty where there is one output only
    tooltip: tuple[str, ...]  # lines
    rank: int  # 0 is the top
    node: int | None  # of the recording
    recorded_in: int | None = None  # create_graph: it computes a gradient, and this is the pass that recorded it
    in_the_middle: bool = False  # the picture is the neighbourhood of this one
    frames: tuple[Frame, ...] = ()  # from outside


@dataclass(frozen=True, slots=True)
class Arrow:
    """From where a value comes (the tail, above) to where it is used (the head, below); gradients go the other way."""

    tail: str
    port: int | None  # which of the tail's ports
    head: str
    kind: ArrowKind
    text: str  # the gradient that travelled, or what was overwritten
    written: bool  # whether the picture has the text beside the arrow
    tooltip: str
    aside: bool = False  # it does not say which box stands above the other
    upwards: bool = False  # a border whose head stands above: a fold uses what it detached from itself


@dataclass(frozen=True, slots=True)
class LegendItem:
    """A sign that occurs in this picture, and what it means."""

    about: Literal["box", "state", "arrow", "recorded", "bars", "heat"]
    name: str  # a BoxKind, BoxState or ArrowKind
    text: str


@dataclass(frozen=True, slots=True)
class VisualGraph:
    """A whole picture: boxes in tape order, arrows in the order of their heads."""

    title: str
    subtitle: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    legend: tuple[LegendItem, ...]
    notes: tuple[str, ...]  # what was left out, and how to see it


STATE_GLYPHS: dict[BoxState, str] = {
    "": "",
    "future": "",
    "ready": "○",
    "receiving": "+",
    "current": "▶",
    "partly": "◐",
    "done": "✓",
    "failed": "✗",
    "outside": "–",
    "absent": "",
}
