"""Finds the folds that a typed name means: `attention`, `block[2].attention`, `encoder.block[1:3]`.

A name is a path of the names that the picture shows, joined by dots. It may begin at any fold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.planning.fold import Fold, Item
from viz.planning.fold_tree import FoldTree, Group, Repetition

_NUMBERS = re.compile(r"\[(?P<first>-?\d+)?(?P<range>:)?(?P<stop>-?\d+)?\]")
_TIMES = re.compile(r" ?[×x]\d+$")  # after the name in a box's title
_MODULE_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")
_MOST_KNOWN = 8


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means in one place: in the repetitions `around`, or at the top."""

    around: tuple[Repetition, ...]
    paths: tuple[tuple[Repetition, ...], ...]  # from there down to each repetition that is meant

    @property
    def meant(self) -> set[Repetition]:
        """The repetitions themselves."""
        return {path[-1] for path in self.paths}

    @property
    def opened(self) -> set[Repetition]:
        """The repetitions, and those around them in this place."""
        return {one for path in self.paths for one in path}


def find_named(tree: FoldTree, name: str) -> list[Found]:
    """Every place in which the name means something, in tape order.

    Raises:
        DrawError: it means nothing.
    """
    for typed in dict.fromkeys((name, _TIMES.sub("", name))):
        found = [one for around, items in _places(tree) if (one := Found(around, tuple(_paths(items, typed)))).paths]
        if found:
            return found
    raise DrawError(_unknown(tree, name))


def _places(tree: FoldTree) -> Iterator[tuple[tuple[Repetition, ...], Sequence[Item]]]:
    """Every place that has folds, with its items: the top, then the repetitions."""
    yield (), tree.items
    for fold in tree.folds:
        inside = [number for number, items in enumerate(fold.times) if any(isinstance(one, Fold) for one in items)]
        if inside:
            around = tree.around(fold)
            for number in inside:
                yield (*around, (fold, number)), fold.times[number]


def _paths(items: Sequence[Item], typed: str) -> Iterator[tuple[Repetition, ...]]:
    """The repetitions that the path means if it begins among these items."""
    for fold in items:
        if not isinstance(fold, Fold) or not (rest := _after_name(fold, typed)):
            continue
        for numbers, further in _numbers(fold, rest[0]):
            for number in numbers:
                if not further:
                    yield ((fold, number),)
                elif further.startswith("."):
                    for path in _paths(fold.times[number], further[1:]):
                        yield ((fold, number), *path)


def _after_name(fold: Fold, typed: str) -> list[str]:
    """What follows the fold's name; nothing if the text does not begin with it. `0 Linear` is also called `0`."""
    number, space, _ = fold.name.partition(" ")
    for name in (fold.name, number) if space and number.isdecimal() else (fold.name,):
        rest = typed.removeprefix(name)
        if typed.startswith(name) and rest[:1] in ("", ".", "["):
            return [rest]
    return []


def _numbers(fold: Fold, rest: str) -> Iterator[tuple[Sequence[int], str]]:
    """The repetitions that the numbers after a name mean, and the rest of the text."""
    every = range(len(fold.times))
    if not rest.startswith("["):
        yield every, rest
    if match := _MODULE_NUMBER.match(rest) if fold.is_indexed else None:
        yield [number for number in every if number + fold.first == int(match[1])], rest[match.end() :]
    match = _NUMBERS.match(rest)
    if match is None or not (match["first"] or match["range"]):
        return
    if match["range"]:
        first, stop = (int(match[end]) if match[end] else None for end in ("first", "stop"))
        yield [one for one in every if one + fold.first in range(fold.of)[first:stop]], rest[match.end() :]
    elif not match["stop"]:
        wanted = int(match["first"])
        wanted += fold.of if wanted < 0 else 0
        yield [one for one in every if one + fold.first == wanted], rest[match.end() :]


def _unknown(tree: FoldTree, name: str) -> str:
    """Why the name means nothing: the fold has no such repetition, or there is no such fold."""
    outer, last = name[: name.rfind("[")], _NUMBERS.search(name, max(name.rfind("["), 0))
    if last is not None and last.end() == len(name) and (last["first"] or last["range"]):
        of_name = [path[-1][0] for around, items in _places(tree) for path in _paths(items, outer)]
        if of_name:
            first, most = min(fold.first for fold in of_name), max(fold.of for fold in of_name)
            times = f"{most - first} times" if most - first > 1 else "once"
            return f"there is no {visible(name, 40)}: it repeats {times}, [{first}] to [{most - 1}]"
    known = list(dict.fromkeys(Group(fold, 0, len(fold.times)).title for fold in tree.folds))
    there = ", ".join(known[:_MOST_KNOWN]) + (", …" if len(known) > _MOST_KNOWN else "")
    return f"there is no fold called {visible(name, 40)!r}; the folds here: {there or 'none'}"
