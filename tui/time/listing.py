"""The rows of the tape view: every node, only the nodes that a search found, or the tape with repetitions folded.

Repetitions are found and named as for pictures, by `viz.planning.folds`. A group is a range of a fold's repetitions,
`cell[3:7]`, shown as one row until it is opened. The repetition that contains the node in focus is open; all
repetitions before it are one row, and all after it another, so a loop of five thousand repetitions takes few rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from microtape.recording.model.model import BorderRecord
from tui.time.event_rows import EndRow, EventRow, WriteRow, event_rows
from tui.time.lane_allocation import Rows
from tui.time.lanes import Lanes
from tui.time.row_texts import RowTexts
from tui.time.timeline import Timeline
from viz.planning.fold import Fold, Item, operations
from viz.planning.fold_tree import FoldTree, Group
from viz.planning.folds import STRATEGIES, folded

if TYPE_CHECKING:
    import numpy.typing as npt

FEW = 40  # rows: the first strategy that leaves at most this many is chosen, since the first ones say most
SINGLY = 24  # a group of at most this many repetitions opens into single repetitions
SUBGROUPS = 8  # a longer group opens into this many


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The row of a group. `nodes` are the nodes inside, and the leaves that only these use."""

    group: Group
    nodes: tuple[int, ...]
    depth: int
    is_open: bool


Entry: TypeAlias = int | GroupRow | EventRow


@dataclass(frozen=True, eq=False)
class Listing:
    """The rows shown, from top to bottom."""

    timeline: Timeline
    entries: Sequence[Entry]

    @cached_property
    def events(self) -> tuple[WriteRow | EndRow, ...]:
        """The rows of writes in place and of ends of paths."""
        if self.entries is self.timeline.rows:
            return ()
        return tuple(one for one in self.entries if isinstance(one, WriteRow | EndRow))

    @cached_property
    def row_of(self) -> Mapping[int, int]:
        """Node -> its row, or the row of the closed group that contains it; without nodes that are not shown."""
        if self.entries is self.timeline.rows:
            return self.timeline.row_of
        return {node: row for row, nodes in enumerate(self.groups) for node in nodes}

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The nodes that each row represents; none for the heading row of an open group."""
        return tuple(
            (one,) if isinstance(one, int) else one.nodes if isinstance(one, GroupRow) and not one.is_open else ()
            for one in self.entries
        )

    def tape_rows(self, row: int) -> npt.NDArray[np.int64]:
        """The rows in the whole tape of the nodes that this row represents."""
        if row not in self._tape_rows:
            entry, row_of = self.entries[row], self.timeline.row_of
            nodes = entry.nodes if isinstance(entry, GroupRow) else (entry,) if isinstance(entry, int) else ()
            self._tape_rows[row] = np.array([row_of[node] for node in nodes], np.int64)
        return self._tape_rows[row]

    @cached_property
    def _tape_rows(self) -> dict[int, npt.NDArray[np.int64]]:
        return {}

    @cached_property
    def lanes(self) -> Lanes:
        """The lanes beside the rows. A path that no gradient takes has a lane up to its end."""
        timeline, nodes = self.timeline, self.timeline.recording.nodes
        if self.entries is timeline.rows:
            return timeline.lanes
        ends = [(row, one.comes_from(timeline)) for row, one in enumerate(self.entries) if isinstance(one, EndRow)]
        groups = list(self.groups)
        for number, (row, _) in enumerate(ends, len(nodes)):
            groups[row] = (number,)
        uses = timeline.uses.with_ends([values for _, values in ends]) if ends else timeline.uses
        return Lanes.of(nodes, Rows.of(groups), uses)

    @classmethod
    def of(cls, timeline: Timeline, cuts: Sequence[BorderRecord] = ()) -> Listing:
        """Every node, and between them the rows of events: writes in place, ends of paths, and these cuts."""
        events = event_rows(timeline, cuts)
        if not events:
            return cls(timeline, timeline.rows)
        rows = timeline.rows
        entries = [one for row in range(len(rows) + 1) for one in (*events.get(row, ()), *rows[row : row + 1])]
        return cls(timeline, tuple(entries))

    @classmethod
    def only(cls, timeline: Timeline, nodes: Collection[int]) -> Listing:
        """Only these nodes."""
        return cls(timeline, tuple(node for node in timeline.rows if node in nodes))


class FoldedTape:
    """A tape with its repetitions folded. The folds are found once; then any set of open runs can be listed."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._tree = FoldTree(_items(timeline))
        self._items = self._tree.items
        self._inside: dict[int, tuple[int, int]] = {}  # operation -> (item, repetition) at the top
        for at, item in enumerate(self._items):
            for k, inside in enumerate(item.nodes if isinstance(item, Fold) else ()):
                self._inside.update(dict.fromkeys(inside, (at, k)))
        self._above: dict[int, list[int]] = {}  # operation -> leaves shown right above it
        self._stands_above: dict[int, int] = {}  # leaf -> operation
        self._before: dict[int, list[int]] = {}  # item -> the leaves shown above it, which several repetitions share
        self._place_leaves()
        self._nodes_of: dict[Fold, tuple[tuple[int, ...], list[int]]] = {}  # and the start of each repetition

    @property
    def folds(self) -> bool:
        """Whether anything repeats."""
        return any(isinstance(item, Fold) for item in self._items)

    def listing(self, opened: Collection[Group], focus: int | None) -> Listing:
        """The rows when these groups are open, as well as those that contain the node in focus."""
        return Listing(self.timeline, tuple(self._entries(opened, focus)))

    def around(self, node: int | None) -> tuple[tuple[Fold, int], ...]:
        """The folds that contain a node, outermost first, each with its repetition. The listed rows depend on them."""
        node = self._stands_above.get(node, node) if node is not None else None
        return self._tree.around(node) if node is not None else ()

    def _place_leaves(self) -> None:
        top = {node: at for at, item in enumerate(self._items)
               for node in ([item] if isinstance(item, int) else operations(item))}  # fmt: skip
        node_of, rows = self.timeline.node, self.timeline.rows
        users_of: dict[int, list[int]] = {leaf: [] for leaf in rows if node_of(leaf).variable is not None}
        for user in (node for node in rows if node in top):
            for used, _ in node_of(user).edges:
                if used in users_of:
                    users_of[used].append(user)
        for leaf, users in users_of.items():
            if not users:
                self._before.setdefault(len(self._items), []).append(leaf)
            elif len({self._inside.get(user, (top[user], 0)) for user in users}) == 1:
                self._above.setdefault(users[0], []).append(leaf)
                self._stands_above[leaf] = users[0]
            else:
                self._before.setdefault(top[users[0]], []).append(leaf)

    def _entries(self, opened: Collection[Group], focus: int | None) -> Iterator[Entry]:
        focused = dict(self.around(focus))
        for at, item in enumerate(self._items):
            yield from self._before.get(at, ())
            yield from self._item(item, 0, opened, focused)
        yield from self._before.get(len(self._items), ())

    def _item(self, item: Item, depth: int, opened: Collection[Group], focused: Mapping[Fold, int]) -> Iterator[Entry]:
        if isinstance(item, int):
            yield from self._above.get(item, ())
            yield item
        else:
            yield from self._group(Group(item, 0, len(item.times)), depth, opened, focused)

    def _group(
        self, group: Group, depth: int, opened: Collection[Group], focused: Mapping[Fold, int]
    ) -> Iterator[Entry]:
        fold, here = group.fold, focused.get(group.fold, -1)
        is_open = group in opened or group.first <= here < group.stop
        yield GroupRow(group, self._nodes(group), depth, is_open)
        if not is_open:
            return
        if group.stop - group.first == 1:
            for item in group.times[0]:
                yield from self._item(item, depth + 1, opened, focused)
            return
        split = (Group(fold, group.first, here), Group(fold, here, here + 1), Group(fold, here + 1, group.stop))
        for part in _parts(group) if group in opened else split:
            if part.stop > part.first:
                yield from self._group(part, depth + 1, opened, focused)

    def _nodes(self, group: Group) -> tuple[int, ...]:
        """The nodes of a group: a slice of those of all repetitions, because each step may list thousands again."""
        if group.fold not in self._nodes_of:
            nodes: list[int] = []
            starts = [0]
            for inside in group.fold.nodes:
                for node in inside:
                    nodes += (*self._above.get(node, ()), node)
                starts.append(len(nodes))
            self._nodes_of[group.fold] = tuple(nodes), starts
        every, starts = self._nodes_of[group.fold]
        return every[starts[group.first] : starts[group.stop]]


def _parts(group: Group) -> Iterator[Group]:
    """The groups into which it opens, if it has more than one repetition."""
    count = group.stop - group.first
    size = 1 if count <= SINGLY else -(-count // SUBGROUPS)
    for first in range(group.first, group.stop, size):
        yield Group(group.fold, first, min(first + size, group.stop))


class PassTape:
    """The tape of one pass: the texts of its rows, and its listings; computed once per pass."""

    def __init__(self, timeline: Timeline, *, ascii: bool = False) -> None:
        self.rows = RowTexts.of(timeline, ascii=ascii)
        self._listings: dict[Sequence[BorderRecord], Listing] = {}

    def listing(self, cuts: tuple[BorderRecord, ...]) -> Listing:
        """Every row, and the rows of events, these cuts among them."""
        if cuts not in self._listings:
            self._listings[cuts] = Listing.of(self.rows.timeline, cuts)
        return self._listings[cuts]

    @cached_property
    def folded(self) -> FoldedTape:
        """The tape with its repetitions folded."""
        return FoldedTape(self.rows.timeline)


def _items(timeline: Timeline) -> tuple[Item, ...]:
    """The folded tape, by the first strategy that leaves few rows, else by the strategy that leaves the fewest."""
    best: tuple[Item, ...] = ()
    for strategy in STRATEGIES:
        items = folded(timeline.recording, timeline.rows, strategy)
        if not best or len(items) < len(best):
            best = items
        if len(items) <= FEW:
            break
    return best
