"""How wide the columns of the tape are: what stands in them decides, and names come before the length of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

GAP = 1  # a space between columns
HEADINGS = ("no.", "", "op", "name", "operands", "shape", "value", "gradient")
SHORT = {"no.": "#", "operands": "from", "gradient": "grad"}  # where the whole word has no room
NARROW = 52  # characters: a tape beside a text
AT_LEAST = {"op": 6, "name": 6, "operands": 7, "shape": 12}  # characters that are enough to tell most texts apart
AT_MOST = {"op": 20, "name": 24, "operands": 40, "shape": 12}


@dataclass(frozen=True, slots=True)
class Columns:
    """How many characters each column of the tape has."""

    number: int
    lanes: int
    lane_limit: int
    op: int
    name: int
    operands: int
    shape: int
    value: int
    gradient: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Of all columns, from number to gradient; 0 of one that is left out."""
        return (self.number, self.lanes, self.op, self.name, self.operands, self.shape, self.value, self.gradient)


class Need(NamedTuple):
    """What a column of numbers needs to say anything of each, to say it well, to list small arrays, to say it all."""

    least: int
    short: int
    listed: int
    full: int


def heading(name: str, width: int) -> str:
    """What stands above a column of that width."""
    return name if len(name) <= width else SHORT.get(name, name)


def least_heading(name: str) -> int:
    """The characters that a column has at least, for its heading."""
    return len(SHORT.get(name, name))


def share_out(room: int, texts: Mapping[str, int], numbers: Mapping[str, Need], *, scalars: bool) -> dict[str, int]:
    """Share out `room` characters among the columns after number and lanes, gaps included.

    First each gets what it must have to be of use. Then names are shown whole, then operands, then long lists. Where
    there is no room for that, the column that says least is left out: of single numbers (`scalars`) the shape, beside a
    text the operands, which the lanes, the source and the sentence tell as well; then numbers are written shorter.
    """
    whole = {name: min(need, AT_MOST[name]) for name, need in texts.items()}
    least, short, listed, full = ({name: need[i] for name, need in numbers.items()} for i in range(4))
    given = {name: min(need, AT_LEAST[name]) for name, need in whole.items()} | short

    def spare() -> int:
        return room - sum(given.values()) - GAP * (len(given) - 1)

    if scalars and spare() < sum(whole.values()) - sum(given[name] for name in whole):
        del given["shape"]
    if spare() < 0 and room < NARROW:
        del given["operands"]
    if spare() < 0:
        given |= least
    if spare() < 0 and room < NARROW:
        given.pop("shape", None)
    while spare() < 0:
        given[max(numbers, key=lambda name: given[name])] -= 1
    names = {name: whole.pop(name) for name in ("op", "name")}
    for wanted in (short, names, whole, {name: len(name) for name in given}, listed, full):
        while growing := [name for name in wanted if name in given and given[name] < wanted[name]]:
            if spare() <= 0:
                break
            given[min(growing, key=lambda name: given[name] - wanted[name])] += 1  # what lacks most
    return given


def wanted(texts: Mapping[str, int], numbers: Mapping[str, Need]) -> int:
    """The characters with which every text is whole, and small arrays are listed."""
    needed = [*(min(need, AT_MOST[name]) for name, need in texts.items()), *(need.listed for need in numbers.values())]
    return sum(needed) + GAP * (len(needed) - 1)
