"""Which folds a picture opens: those that were asked for by name, those with something to look at, and what fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.graph import Frame
from viz.planning.folds import Fold, Item, operations

_REPETITIONS = re.compile(r"(?P<name>.+)\[(?P<first>-?\d+)?(?P<range>:)?(?P<stop>-?\d+)?\]", re.DOTALL)

Opened: TypeAlias = set[tuple[Fold, int]]  # a fold and one of its repetitions


@dataclass(frozen=True, slots=True)
class Group:
    """Repetitions of a fold that are drawn as one box."""

    fold: Fold
    first: int
    stop: int

    @property
    def id(self) -> str:
        """The same in every picture that has this group."""
        return f"g{self.nodes[0][0]}to{self.nodes[-1][-1]}"

    @property
    def name(self) -> str:
        """What opens it: `cell`, `cell[3]` or `cell[3:7]`."""
        if self.stop - self.first == len(self.fold.times):
            return self.fold.name
        if self.stop - self.first == 1:
            return f"{self.fold.name}[{self.first}]"
        return f"{self.fold.name}[{self.first}:{self.stop}]"

    @property
    def times(self) -> tuple[tuple[Item, ...], ...]:
        """What each repetition consists of."""
        return self.fold.times[self.first : self.stop]

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition."""
        return self.fold.nodes[self.first : self.stop]


@dataclass(frozen=True, slots=True)
class Sight:
    """What is to be seen, in tape order, and the frames around each, from outside."""

    items: tuple[int | Group, ...]
    frames: Mapping[int | Group, tuple[Frame, ...]]


def opened(items: Sequence[Item], asked: Collection[str], focus: Collection[int]) -> Opened:
    """The repetitions that are asked for by name, or that something in `focus` is in.

    Raises:
        DrawError: there is no fold of that name, or not that repetition of it.
    """
    found: Opened = set()
    for node in focus:
        found.update(_around(items, node))
    folds = dict(_folds(items))
    wanted = [_named(list(folds), name) for name in asked]
    for repetitions in wanted:
        found.update(repetitions)
    for repetitions in wanted:  # of a fold inside of others: it is seen where they are open, and somewhere they must be
        if not any(found.issuperset(folds[fold]) for fold, _ in repetitions):
            found.update(folds[max(repetitions, key=lambda one: _first(*one))[0]])
    return found


def open_more(items: Sequence[Item], opened: Opened, boxes: Callable[[Sight], int], most: int) -> Sight:
    """Open the last repetition of one fold after the other, the largest first, as long as `most` boxes suffice."""
    shown, tried = sight(items, opened), {fold for fold, _ in opened}
    while groups := [one for one in shown.items if isinstance(one, Group) and one.fold not in tried]:
        group = max(groups, key=lambda one: sum(1 for _ in operations(one.fold)))
        tried.add(group.fold)
        wider = sight(items, opened | {(group.fold, group.stop - 1)})
        if boxes(wider) <= most:
            opened, shown = opened | {(group.fold, group.stop - 1)}, wider
    return shown


def sight(items: Sequence[Item], opened: Opened) -> Sight:
    """What is to be seen when these repetitions are open."""
    frames: dict[int | Group, tuple[Frame, ...]] = {}
    for item, around in _seen(items, opened, ()):
        frames[item] = around
    return Sight(tuple(frames), frames)


def _seen(
    items: Sequence[Item], opened: Opened, around: tuple[Frame, ...]
) -> Iterator[tuple[int | Group, tuple[Frame, ...]]]:
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
                yield from _seen(repetition, opened, (*around, Frame(one.id.replace("g", "f", 1), one.name)))
                first = number + 1
        if first < len(item.times):
            yield Group(item, first, len(item.times)), around


def _folds(items: Sequence[Item]) -> Iterator[tuple[Fold, tuple[tuple[Fold, int], ...]]]:
    """Every fold in tape order, and the repetitions that it is inside of."""
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


def _named(folds: Sequence[Fold], name: str) -> Opened:
    exact = {(fold, number) for fold in folds if fold.name == name for number in range(len(fold.times))}
    match = _REPETITIONS.fullmatch(name)
    if exact or match is None:
        return exact or _unknown(folds, name)
    of_name = [fold for fold in folds if fold.name == match["name"]]
    if not of_name or not (match["first"] or match["range"]):
        return _unknown(folds, name)
    first, stop = (int(match[end]) if match[end] else None for end in ("first", "stop"))
    found: Opened = set()
    for fold in of_name:
        numbers = range(len(fold.times))
        if match["range"]:
            found.update((fold, number) for number in numbers[first:stop])
        elif first is not None and -len(numbers) <= first < len(numbers):
            found.add((fold, numbers[first]))
    if not found:
        most = max(len(fold.times) for fold in of_name)
        raise DrawError(f"there is no {visible(name, 40)}: it is there {most} times, [0] to [{most - 1}]")
    return found


def _unknown(folds: Sequence[Fold], name: str) -> Opened:
    known = list(dict.fromkeys(f"{fold.name} ×{len(fold.times)}" for fold in folds))
    there = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    raise DrawError(f"nothing is folded as {visible(name, 40)!r}; what is folded here: {there or 'nothing'}")


def _first(fold: Fold, number: int) -> int:
    return next(operations(fold.times[number][0]))


def _around(items: Sequence[Item], node: int) -> Iterator[tuple[Fold, int]]:
    """The repetitions that the node is in, from outside."""
    inside = [item for item in items if isinstance(item, Fold)]
    while inside:
        fold = inside.pop()
        for number, repetition in enumerate(fold.times):
            if any(node == one for item in repetition for one in operations(item)):
                yield fold, number
                inside = [item for item in repetition if isinstance(item, Fold)]
                break
