"""The widths of the tape's columns, chosen by their contents: whole names take precedence over long numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

GAP = 1  # a space between columns
HEADINGS = ("no.", "", "op", "name", "operands", "shape", "value", "gradient", "|g|")
COLUMNS = ("op", "name", "operands", "shape", "value", "gradient", "size")  # those after number and lanes
SHORT = {"no.": "#", "operands": "from", "gradient": "grad"}  # headings of narrow columns
NARROW = 52  # characters: the tape beside a lesson's text
AT_LEAST = {"op": 13, "name": 12, "operands": 7, "shape": 12}  # characters: enough to tell most texts apart
SIZE = range(4, 9)  # characters of the bar of a gradient's size, from the shortest that is useful
AT_MOST = {"op": 20, "name": 24, "operands": 40, "shape": 12}


@dataclass(frozen=True, slots=True)
class ColumnWidths:
    """The width of each column of the tape, in characters."""

    number: int
    lanes: int
    lane_limit: int
    op: int
    name: int
    operands: int
    shape: int
    value: int
    gradient: int
    size: int  # the bar of the gradient's size

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of all columns, from number to size; 0 for a column that is left out."""
        columns = (self.op, self.name, self.operands, self.shape, self.value, self.gradient, self.size)
        return (self.number, self.lanes, *columns)


class Need(NamedTuple):
    """The widths at which a column of numbers is useful at all, is readable, lists small arrays, and cuts nothing."""

    least: int
    short: int
    listed: int
    full: int


def heading(name: str, width: int) -> str:
    """The heading of a column of that width."""
    return name if len(name) <= width else SHORT.get(name, name)


def least_heading(name: str) -> int:
    """The minimal width of a column, that of its short heading."""
    return len(SHORT.get(name, name))


def share_out(room: int, texts: Mapping[str, int], numbers: Mapping[str, Need], *, scalars: bool) -> dict[str, int]:
    """Divide `room` characters among the columns after number and lanes, gaps included.

    First each column gets its least useful width. The rest goes to names, then to operands, then to long lists. If the
    room is too small for the least widths, the least informative column is left out: the shape if all values are
    single numbers (`scalars`); in a narrow tape the bars of sizes; then operands that would be cut, which the lanes,
    the source and the sentence show too. After that, numbers are shortened, and the bars are left out.
    """
    whole = {name: min(need, AT_MOST[name]) for name, need in texts.items()}
    least, short, listed, full = ({name: need[i] for name, need in numbers.items()} for i in range(4))
    given = {name: min(need, AT_LEAST[name]) for name, need in whole.items()} | short
    if room >= NARROW:
        given["size"] = SIZE[0]

    def spare() -> int:
        return room - sum(given.values()) - GAP * (len(given) - 1)

    if scalars and spare() < sum(whole.values()) - sum(given[name] for name in whole):
        del given["shape"]
    if spare() < 0 and (room < NARROW or whole["operands"] > AT_LEAST["operands"]):
        del given["operands"]
    if spare() < 0:
        given |= least
    if spare() < 0:
        given.pop("size", None)
    if spare() < 0 and room < NARROW:
        given.pop("shape", None)
    while spare() < 0:
        given[max(numbers, key=lambda name: given[name])] -= 1
    names = {name: whole.pop(name) for name in ("op", "name")}
    size = {"size": SIZE[-1]}
    for wanted in (short, names, whole, {name: len(name) for name in given}, listed, size, full):
        while growing := [name for name in wanted if name in given and given[name] < wanted[name]]:
            if spare() <= 0:
                break
            given[min(growing, key=lambda name: given[name] - wanted[name])] += 1  # the column that lacks the most
    return given


def wanted(texts: Mapping[str, int], numbers: Mapping[str, Need]) -> int:
    """The width at which every text is whole and small arrays are listed."""
    needed = [
        SIZE[-1],
        *(min(need, AT_MOST[name]) for name, need in texts.items()),
        *(need.listed for need in numbers.values()),
    ]
    return sum(needed) + GAP * (len(needed) - 1)
