"""Which lane each value gets: a linear scan over the rows of a tape. All around the scan is done by numpy.

A tape may have a million rows, and a fold that hides thousands of nodes may be listed again at every other step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from microtape.recording.moments.uses import Uses
from microtape.recording.tables.fields import each
from microtape.recording.tables.ids import between, small

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a listing, from top to bottom: the nodes that they stand for, and the row of each of these nodes."""

    node: Integers
    row: Integers
    count: int

    @classmethod
    def of(cls, groups: Sequence[Collection[int]]) -> Rows:
        """Rows of which each stands for some nodes; none for the heading of an open group."""
        nodes = np.fromiter(chain.from_iterable(groups), np.int64)
        return cls(nodes, np.repeat(np.arange(len(groups)), [len(group) for group in groups]), len(groups))

    @classmethod
    def single(cls, nodes: Sequence[int]) -> Rows:
        """One row for each of these nodes."""
        return cls(small(np.array(nodes, np.int64)), small(np.arange(len(nodes))), len(nodes))

    @cached_property
    def last_node(self) -> Integers:
        """The last node of each row; -1 where it stands for none."""
        last = np.full(self.count, -1)
        last[self.row] = self.node
        return small(last)


class _Read(NamedTuple):
    """What rows use from rows above: each value once per row, from top to bottom."""

    row: Integers
    value: Integers


@dataclass(frozen=True, eq=False)
class Allocation:
    """The values that a row uses from a row above, numbered by node and output, and their lanes."""

    made: Integers  # for each value, the row that computes it,
    last: Integers  # the row of its last use,
    lane: Integers  # and its lane
    own: Integers  # for each row, the lane of its node; -1 if it stands for none
    read: _Read
    outputs: Integers  # the values, in order of the rows that compute them

    @cached_property
    def lanes(self) -> int:
        """The number of lanes."""
        return int(max(self.own.max(initial=-1), self.lane.max(initial=-1))) + 1

    def operands_of(self, row: int) -> Integers:
        """The values that a row uses from rows above."""
        return self.read.value[between(self.read.row, row, row + 1)]

    def outputs_of(self, row: int) -> Integers:
        """The values that a row computes for rows below."""
        return self.outputs[between(self._made_in_order, row, row + 1)]

    @cached_property
    def _made_in_order(self) -> Integers:
        return self.made[self.outputs]


def allocated(rows: Rows, uses: Uses) -> Allocation:
    """Allocate the lanes of these rows."""
    size = max(uses.user.max(initial=-1), uses.node.max(initial=-1), rows.node.max(initial=-1)) + 1
    place = np.full(size, len(rows.node))  # the position of a node in the rows from top to bottom
    place[rows.node] = np.arange(len(rows.node))
    row_at = np.append(rows.row, -1)
    user_row, made_row = row_at[place[uses.user]], row_at[place[uses.node]]
    seen = np.flatnonzero((made_row >= 0) & (made_row < user_row) & ~uses.of_leaf)
    seen = seen[np.argsort(place[uses.user[seen]], kind="stable")]

    numbers = uses.node[seen] * (np.int64(uses.output.max(initial=0)) + 1) + uses.output[seen]
    numbers, value = np.unique(numbers, return_inverse=True)
    _, once = np.unique(value * rows.count + user_row[seen], return_index=True)
    once.sort()
    seen, value = seen[once], value[once]

    made, last = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    made[value] = made_row[seen]
    last[value] = user_row[seen]  # of several uses, the last one counts
    outputs = np.argsort(made, kind="stable")
    lane, own = _scan(made, last, outputs, rows.count)
    own[rows.last_node < 0] = -1
    read = _Read(small(user_row[seen]), small(value))
    return Allocation(small(made), small(last), small(lane), small(own), read, small(outputs))


def _scan(made: Integers, last: Integers, outputs: Integers, count: int) -> tuple[Integers, Integers]:
    """The lanes of the values, and those of the rows' nodes.

    A row that neither begins nor ends a value's lane shows its node in the lowest free lane, and leaves it free; so the
    scan visits only the others.
    """
    starting, ending = np.bincount(made, minlength=count), np.bincount(last, minlength=count)
    visited = np.flatnonzero(starting + ending)
    started, ended = each(outputs), each(np.argsort(last, kind="stable"))
    lane, free, fresh = [0] * len(made), list[int](), 0  # `fresh` is the first lane that was never used
    own, lowest = [], [0]  # of visited rows; and the lowest free lane before the first and after each of them

    for starts, ends in zip(each(starting[visited]), each(ending[visited]), strict=True):
        # The node takes over the lane of an operand if it can: a chain of operations is one straight line.
        others: list[int] = []
        if ends == 1:
            here = lane[next(ended)]
        elif ends:
            here, *others = sorted([lane[next(ended)] for _ in range(ends)])
        elif free:
            here = heappop(free)
        else:
            here, fresh = fresh, fresh + 1
        if starts:
            lane[next(started)] = here
        else:
            heappush(free, here)
        for _ in range(starts - 1):
            if free:
                lane[next(started)] = heappop(free)
            else:
                lane[next(started)], fresh = fresh, fresh + 1
        for one in others:
            heappush(free, one)
        own.append(here)
        lowest.append(free[0] if free else fresh)
    lanes = np.repeat(np.array(lowest, np.int64), np.diff(visited, prepend=-1, append=count))[:count]
    lanes[visited] = own
    return np.array(lane, np.int64), lanes
