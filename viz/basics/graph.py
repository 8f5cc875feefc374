"""The contents of a picture, without its looks: boxes, arrows and texts as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from viz.basics.heat import Heat

BoxKind: TypeAlias = Literal[
    "leaf", "operation", "constant", "border", "again", "seed", "error", "fold", "folded leaves", "folded constants",
    "enter", "unpack", "return",
]  # fmt: skip
"""`border`: a tensor without history, computed from one that has a history. `again`: a small copy of a box drawn
elsewhere, so that a value used in many places needs no arrows across the whole picture. `enter`, `unpack`, `return`:
inside of a call of the user's function, where it begins, reads `ctx.saved_tensors`, and ends."""

BoxState: TypeAlias = Literal[
    "", "future", "ready", "receiving", "current", "partly", "done", "failed", "outside", "absent"
]
"""How far backward has come with a box; empty if the program never called backward. `absent`: in a film, the box
does not exist yet."""

ArrowKind: TypeAlias = Literal[
    "future", "done", "now", "undefined", "value", "border", "overwrote", "note", "next", "absent"
]
"""What travelled along the arrow. future: no gradient yet; now: a gradient, in the current step; undefined: a None;
value: never a gradient; border: never a gradient, because the history was cut here; next: nothing, it leads to the call
that ran next."""

SPACE = "\u00a0"  # no-break space: not dropped at the end of a line
WIDE_SPACE = "\u2007"  # figure space: as wide as a digit in proportional fonts
LINE_WIDTH = 110  # characters of a subtitle

Tone: TypeAlias = Literal["plain", "muted", "gradient", "alarm"]


class Cluster(NamedTuple):
    """A frame around boxes (a cluster, in Graphviz's terms): an open fold, or a column, whose frame is invisible."""

    id: str
    name: str

    @property
    def is_column(self) -> bool:
        """Whether it is one of the columns into which the picture is wrapped."""
        return self.id.startswith("column")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a box: a short key on the left, a text on the right."""

    key: str
    text: str
    tone: Tone = "plain"
    heat: Heat | None = None  # the value as a heat map, drawn below the rows


@dataclass(frozen=True, slots=True)
class Port:
    """One of several outputs of an operation, or of several values that a function returned."""

    title: str
    rows: tuple[Row, ...]
    ends: bool = False  # no gradient ever comes here


@dataclass(frozen=True, slots=True)
class Box:
    """A leaf, an operation, a constant, the first gradient, or an error's message."""

    id: str  # unique in the picture, the same in every picture of a recording
    kind: BoxKind
    state: BoxState
    title: str
    note: str  # in small print after the title: a shape, or what the box is
    rows: tuple[Row, ...]
    ports: tuple[Port, ...]  # empty where there is one output only
    tooltip: tuple[str, ...]  # lines
    rank: int  # 0 is the top
    node: int | None  # its number in the recording
    recorded_in: int | None = None  # the pass that recorded it (create_graph); None: the program did
    in_the_middle: bool = False  # the picture is the neighbourhood of this box
    clusters: tuple[Cluster, ...] = ()  # from the outermost to the innermost

    @property
    def ports_on_top(self) -> bool:
        """Whether arrows lead into the ports rather than away from them."""
        return self.kind == "return"


@dataclass(frozen=True, slots=True)
class Arrow:
    """From the box that computed a value (tail, above) to the one that uses it (head, below); gradients go upwards."""

    tail: str
    port: int | None  # which of the tail's ports
    head: str
    kind: ArrowKind
    text: str  # the gradient that travelled, or what was overwritten
    written: bool  # whether the picture shows the text beside the arrow
    tooltip: str
    aside: bool = False  # it does not influence the ranks of its boxes
    head_port: int | None = None  # which of the head's ports
    upwards: bool = False  # a border whose head is above its tail: the fold uses a value that it detached itself
    wrong: bool = False  # a finding's NaN, zeros or lack of a gradient came along it

    @property
    def look(self) -> str:
        """The names of how it looks, for the page's style sheet."""
        return f"{self.kind} wrong" if self.wrong else self.kind


@dataclass(frozen=True, slots=True)
class LegendItem:
    """A sign in the picture, and its meaning."""

    about: Literal["box", "state", "arrow", "recorded", "bars", "heat", "end"]
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
    notes: tuple[str, ...]  # what is not drawn
    finding: str = ""  # what is wrong in the program, in a line
    advice: tuple[str, ...] = ()  # how to see more; for the user who made the picture, not for those who look at it


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
