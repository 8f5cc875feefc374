"""Which folds a picture opens: those asked for by name, those of the current step, and as many others as fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.graph import Cluster
from viz.planning.folds import Fold, Item, operations

_REPETITIONS = re.compile(r"(?P<name>.+)\[(?P<first>-?\d+)?(?P<range>:)?(?P<stop>-?\d+)?\]", re.DOTALL)

OpenRepetitions: TypeAlias = set[tuple[Fold, int]]  # a fold and one of its repetitions


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
        if self.stop - self.first == len(self.fold.times):
            return self.fold.name
        if self.stop - self.first == 1:
            return f"{self.fold.name}[{self.first}]"
        return f"{self.fold.name}[{self.first}:{self.stop}]"

    @property
    def times(self) -> tuple[tuple[Item, ...], ...]:
        """The items of each repetition."""
        return self.fold.times[self.first : self.stop]

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition."""
        return self.fold.nodes[self.first : self.stop]


@dataclass(frozen=True, slots=True)
class FoldView:
    """The tape with some folds open: the nodes and groups to draw, in tape order, and the clusters around each."""

    items: tuple[int | Group, ...]
    clusters: Mapping[int | Group, tuple[Cluster, ...]]  # from the outermost to the innermost


def opened(items: Sequence[Item], asked: Collection[str], focus: Collection[int]) -> OpenRepetitions:
    """The repetitions that the user asked for by name, and those that contain a node in `focus`.

    Raises:
        DrawError: there is no fold of that name, or it has no such repetition.
    """
    found: OpenRepetitions = set()
    for node in focus:
        found.update(_around(items, node))
    folds = dict(_folds(items))
    wanted = [_named(list(folds), name) for name in asked]
    for repetitions in wanted:
        found.update(repetitions)
    for repetitions in wanted:  # an inner fold is only visible in an open repetition of the outer ones
        if not any(found.issuperset(folds[fold]) for fold, _ in repetitions):
            found.update(folds[max(repetitions, key=lambda one: _first(*one))[0]])
    return found


def every_repetition(items: Sequence[Item]) -> OpenRepetitions:
    """All repetitions of all folds."""
    return {(fold, number) for fold, _ in _folds(items) for number in range(len(fold.times))}


def open_more(items: Sequence[Item], opened: OpenRepetitions, boxes: Callable[[FoldView], int], most: int) -> FoldView:
    """Open the last repetition of further folds, the largest first, as long as the picture has at most `most` boxes."""
    shown, tried = fold_view(items, opened), {fold for fold, _ in opened}
    while groups := [one for one in shown.items if isinstance(one, Group) and one.fold not in tried]:
        group = max(groups, key=lambda one: sum(1 for _ in operations(one.fold)))
        tried.add(group.fold)
        wider = fold_view(items, opened | {(group.fold, group.stop - 1)})
        if boxes(wider) <= most:
            opened, shown = opened | {(group.fold, group.stop - 1)}, wider
    return shown


def fold_view(items: Sequence[Item], opened: OpenRepetitions) -> FoldView:
    """The tape with these repetitions open."""
    clusters: dict[int | Group, tuple[Cluster, ...]] = {}
    for item, around in _seen(items, opened, ()):
        clusters[item] = around
    return FoldView(tuple(clusters), clusters)


def _seen(
    items: Sequence[Item], opened: OpenRepetitions, around: tuple[Cluster, ...]
) -> Iterator[tuple[int | Group, tuple[Cluster, ...]]]:
    for item in items:
        if isinstance(item, int):
            yield item, around
            continue
        first = 0
        for number, repetition in enumerate(item.times):
            if (item, number) in opened:
                if number > first:
                    yield Group(item, first, number), around
                one = Group(item, number, number + 1)
                yield from _seen(repetition, opened, (*around, Cluster(one.id.replace("g", "f", 1), one.name)))
                first = number + 1
        if first < len(item.times):
            yield Group(item, first, len(item.times)), around


def _folds(items: Sequence[Item]) -> Iterator[tuple[Fold, tuple[tuple[Fold, int], ...]]]:
    """Every fold in tape order, and the repetitions that contain it."""
    stack: list[tuple[Item, tuple[tuple[Fold, int], ...]]] = [(item, ()) for item in reversed(items)]
    while stack:
        one, around = stack.pop()
        if isinstance(one, Fold):
            yield one, around
            stack += [
                (inner, (*around, (one, number)))
                for number, repetition in reversed(list(enumerate(one.times)))
                for inner in reversed(repetition)
            ]


def _named(folds: Sequence[Fold], name: str) -> OpenRepetitions:
    exact = {(fold, number) for fold in folds if fold.name == name for number in range(len(fold.times))}
    match = _REPETITIONS.fullmatch(name)
    if exact or match is None:
        return exact or _unknown(folds, name)
    of_name = [fold for fold in folds if fold.name == match["name"]]
    if not of_name or not (match["first"] or match["range"]):
        return _unknown(folds, name)
    first, stop = (int(match[end]) if match[end] else None for end in ("first", "stop"))
    found: OpenRepetitions = set()
    for fold in of_name:
        numbers = range(len(fold.times))
        if match["range"]:
            found.update((fold, number) for number in numbers[first:stop])
        elif first is not None and -len(numbers) <= first < len(numbers):
            found.add((fold, numbers[first]))
    if not found:
        most = max(len(fold.times) for fold in of_name)
        raise DrawError(f"there is no {visible(name, 40)}: it repeats {most} times, [0] to [{most - 1}]")
    return found


def _unknown(folds: Sequence[Fold], name: str) -> OpenRepetitions:
    known = list(dict.fromkeys(f"{fold.name} ×{len(fold.times)}" for fold in folds))
    there = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    raise DrawError(f"there is no fold called {visible(name, 40)!r}; the folds here: {there or 'none'}")


def _first(fold: Fold, number: int) -> int:
    return next(operations(fold.times[number][0]))


def _around(items: Sequence[Item], node: int) -> Iterator[tuple[Fold, int]]:
    """The repetitions that contain the node, the outermost first."""
    inside = [item for item in items if isinstance(item, Fold)]
    while inside:
        fold = inside.pop()
        for number, repetition in enumerate(fold.times):
            if any(node == one for item in repetition for one in operations(item)):
                yield fold, number
                inside = [item for item in repetition if isinstance(item, Fold)]
                break
