"""The tape as a tree of folds. A picture is a *cut* through it: some repetitions are open, and all others are boxes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from viz.basics.graph import Cluster
from viz.planning.fold import Fold, Item

Repetition: TypeAlias = tuple[Fold, int]  # one repetition of a fold, counted from 0
Cut: TypeAlias = Collection[Repetition]  # the open ones


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive repetitions of a fold, drawn as one box."""

    fold: Fold
    first: int
    stop: int

    @property
    def id(self) -> str:
        """Identical in every picture that has this group."""
        return f"g{self.nodes[0][0]}to{self.nodes[-1][-1]}"

    @property
    def name(self) -> str:
        """The name that opens it: `cell`, `cell[3]` or `cell[3:7]`."""
        return self.fold.label(self.first, self.stop)

    @property
    def title(self) -> str:
        """The name, and how many repetitions there are if it has several."""
        times = self.stop - self.first
        return f"{self.name} ×{times}" if times > 1 else self.name

    @property
    def times(self) -> tuple[tuple[Item, ...], ...]:
        """The items of each repetition."""
        return self.fold.times[self.first : self.stop]

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition."""
        return self.fold.nodes[self.first : self.stop]

    @property
    def repetitions(self) -> list[Repetition]:
        """What has to be opened for its contents to be seen."""
        return [(self.fold, number) for number in range(self.first, self.stop)]


@dataclass(frozen=True, slots=True)
class FoldView:
    """A cut: the nodes and groups to draw, in tape order, and the frames around each."""

    tree: FoldTree
    opened: frozenset[Repetition]
    items: tuple[int | Group, ...]
    clusters: Mapping[int | Group, tuple[Cluster, ...]]  # from the outermost to the innermost
    frames: Mapping[str, Repetition]  # the id of each frame, and what is in it

    @property
    def groups(self) -> list[Group]:
        """Everything that is closed."""
        return [item for item in self.items if isinstance(item, Group)]


class FoldTree:
    """Operations and folds in tape order; each repetition of a fold again consists of operations and folds."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)

    @cached_property
    def _innermost(self) -> Mapping[Item, Repetition]:
        """The repetition right around each operation and each fold; nothing for those at the top."""
        return {
            item: (fold, number)
            for fold in self.folds
            for number, inside in enumerate(fold.times)
            for item in inside
        }  # fmt: skip

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """All folds in tape order, each before those inside of it."""
        found = []
        stack = [item for item in reversed(self.items) if isinstance(item, Fold)]
        while stack:
            fold = stack.pop()
            found.append(fold)
            stack += [one for inside in reversed(fold.times) for one in reversed(inside) if isinstance(one, Fold)]
        return tuple(found)

    def around(self, item: Item) -> tuple[Repetition, ...]:
        """The repetitions that contain an operation or a fold, the outermost first."""
        found = []
        inner = self._innermost.get(item)
        while inner is not None:
            found.append(inner)
            inner = self._innermost.get(inner[0])
        return tuple(reversed(found))

    def path(self, group: Group) -> str:
        """The whole name of a group, from the top: `encoder.block[2].attention`."""
        around = [fold.label(number, number + 1) for fold, number in self.around(group.fold)]
        return ".".join([*around, group.name])

    def down_to(self, depth: int | None = None) -> set[Repetition]:
        """The cut in which folds are open down to that depth: 1 opens those at the top. None opens all."""
        return {
            (fold, number)
            for fold in self.folds
            if depth is None or len(self.around(fold)) < depth
            for number in range(len(fold.times))
        }

    def view(self, opened: Cut, framed: Callable[[Fold], bool] = lambda fold: True) -> FoldView:
        """The cut with these repetitions open; only those of `framed` folds have a frame."""
        opened = frozenset(opened)
        clusters: dict[int | Group, tuple[Cluster, ...]] = {}
        frames: dict[str, Repetition] = {}

        def see(items: Sequence[Item], around: tuple[Cluster, ...]) -> None:
            for item in items:
                if isinstance(item, int):
                    clusters[item] = around
                    continue
                for group in _runs(item, opened):
                    if group.repetitions[0] not in opened:
                        clusters[group] = around
                    elif framed(item):
                        frame = _frame(group, around)
                        frames[frame.id] = group.repetitions[0]
                        see(group.times[0], (*around, frame))
                    else:
                        see(group.times[0], around)

        see(self.items, ())
        return FoldView(self, opened, tuple(clusters), clusters, frames)


def _runs(fold: Fold, opened: Cut) -> Iterator[Group]:
    """The fold's repetitions: each open one by itself, and those between them together."""
    first = 0
    for number in range(len(fold.times)):
        if (fold, number) in opened:
            if number > first:
                yield Group(fold, first, number)
            yield Group(fold, number, number + 1)
            first = number + 1
    if first < len(fold.times):
        yield Group(fold, first, len(fold.times))


def _frame(group: Group, around: Sequence[Cluster]) -> Cluster:
    """The frame around an open repetition. Frames around the same operations have different ids."""
    id = group.id.replace("g", "f", 1)
    while any(one.id == id for one in around):
        id += "i"
    return Cluster(id, group.name)
