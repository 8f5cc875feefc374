"""A `Fold`: operations that repeat or belong together. Its repetitions consist of operations and inner folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

FoldKind: TypeAlias = Literal["scope", "loop", "function", "line"]


@dataclass(frozen=True, eq=False)
class Fold:
    """Operations that repeat `len(times)` times in a row; once for a scope or function that is entered once.

    In each place, the repetitions of one name are numbered through: a module that is called twice, with something
    between the calls, makes two folds, `norm[0]` and `norm[1]`. Those of an indexed fold have the numbers that their
    modules have in a list.
    """

    name: str
    kind: FoldKind
    times: tuple[tuple[Item, ...], ...]
    first: int = 0  # the number of the first repetition
    of: int = 0  # the number after the last repetition of this name in the same place
    is_indexed: bool = False

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition, including those of inner folds."""
        return tuple(tuple(node for item in each for node in operations(item)) for each in self.times)

    def label(self, start: int, stop: int) -> str:
        """The name of some repetitions, counted from 0: `cell[3]`, `cell[3:7]`, or `cell` for all of that name."""
        first, end = self.first + start, self.first + stop
        if end - first == self.of:
            return self.name
        return f"{self.name}[{first}]" if end - first == 1 else f"{self.name}[{first}:{end}]"


Item: TypeAlias = int | Fold


def operations(item: Item) -> Iterator[int]:
    """The nodes inside, in tape order."""
    stack: list[Item] = [item]
    while stack:
        one = stack.pop()
        if isinstance(one, int):
            yield one
        else:
            stack += [inner for repetition in reversed(one.times) for inner in reversed(repetition)]


def numbered(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items of one place, with the repetitions of every name numbered through."""
    ends: dict[str, int] = {}
    found: list[Item] = []
    for item in items:
        if isinstance(item, Fold):
            name, number, first = item.name, 1, item.first
            while item.is_indexed and first < ends.get(name, 0):  # the same modules are called again
                number += 1
                name = f"{item.name} ({number})"
            first = first if item.is_indexed else ends.get(name, 0)
            ends[name] = first + len(item.times)
            item = replace(item, name=name, times=tuple(map(numbered, item.times)), first=first)
        found.append(item)
    return tuple(replace(one, of=ends[one.name]) if isinstance(one, Fold) else one for one in found)
