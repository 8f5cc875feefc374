"""Which parts of a tape repeat, or belong together: loops, source functions, and the scopes that the user named.

A `Fold` holds its repetitions, in tape order; each consists of operations and of folds inside. What has been folded is
known by a name, which opens it: see `viz.opening`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal, TypeAlias

from microtape.recording.model.model import NodeRecord, Recording
from viz.basics.characters import visible
from viz.planning.repeats import Item as Position
from viz.planning.repeats import find_repeats

By: TypeAlias = Literal["scope", "loop", "function"]

NAME_WIDTH = 40


@dataclass(frozen=True, eq=False)
class Fold:
    """Something that happens `len(times)` times in a row: once for a scope or a function that is entered once."""

    name: str
    by: By
    times: tuple[tuple[Item, ...], ...]

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition, those of folds inside among them."""
        return tuple(tuple(node for item in each for node in operations(item)) for each in self.times)


Item: TypeAlias = int | Fold

Way: TypeAlias = Callable[["_Folder", Sequence[int]], "list[_Part]"]


@dataclass(frozen=True, slots=True)
class _Part:
    """A node or a fold, with what it is equal to elsewhere on the tape."""

    item: Item
    symbol: Hashable


def operations(item: Item) -> Iterator[int]:
    """The nodes inside, in tape order."""
    stack: list[Item] = [item]
    while stack:
        one = stack.pop()
        if isinstance(one, int):
            yield one
        else:
            stack += [inner for repetition in reversed(one.times) for inner in reversed(repetition)]


def folded(recording: Recording, nodes: Sequence[int], way: Way) -> tuple[Item, ...]:
    """The operations among `nodes`, which are in tape order, with everything folded that `way` finds."""
    folder = _Folder(recording, [node for node in nodes if recording.nodes[node].variable is None])
    return tuple(part.item for part in way(folder, folder.nodes))


def by_loops(folder: _Folder, nodes: Sequence[int]) -> list[_Part]:
    """Scopes, and whatever happens three times in a row."""
    return folder.scopes(nodes, 0, lambda inner: folder.loops(inner, 3))


def by_any_loops(folder: _Folder, nodes: Sequence[int]) -> list[_Part]:
    """Scopes, and whatever happens twice in a row."""
    return folder.scopes(nodes, 0, lambda inner: folder.loops(inner, 2))


def by_functions(folder: _Folder, nodes: Sequence[int]) -> list[_Part]:
    """Scopes, loops, what one function did without a break, and whatever then happens twice in a row."""
    return folder.scopes(nodes, 0, lambda inner: folder.loops(folder.functions(folder.loops(inner, 3)), 2))


def by_returns(folder: _Folder, nodes: Sequence[int]) -> list[_Part]:
    """Scopes, stretches of the tape that come back to where they began each time by another way, loops in them."""
    return folder.scopes(nodes, 0, lambda inner: folder.returns(inner))


WAYS: tuple[Way, ...] = (by_loops, by_any_loops, by_returns, by_functions)
"""From what says most about a program to what says least; the first that leaves few enough boxes is taken."""


class _Folder:
    """Folds the nodes of one recording: knows what is equal, and gives equal folds equal names."""

    def __init__(self, recording: Recording, nodes: list[int]) -> None:
        self.recording = recording
        self.nodes = nodes
        self._symbols: dict[int, Hashable] = {}
        self._functions: dict[str, set[Hashable]] = {}  # what happens in them
        for node in nodes:
            self._functions.setdefault(_function(recording.nodes[node]), set()).add(self._symbol(node))
        self._names: dict[str, Hashable] = {}

    def scopes(self, nodes: Sequence[int], depth: int, inside: Callable[[list[_Part]], list[_Part]]) -> list[_Part]:
        """The nodes with scopes folded, adjacent ones of the same name together, and what `inside` finds."""
        parts: list[_Part] = []
        for scope, group in groupby(nodes, lambda node: self._scope(node, depth)):
            run = list(group)
            if scope is None:
                parts += [_Part(node, self._symbol(node)) for node in run]
                continue
            name = visible(self.recording.scopes[scope].name, NAME_WIDTH)
            times: tuple[tuple[Item, ...], ...] = (tuple(part.item for part in self.scopes(run, depth + 1, inside)),)
            symbol = ("scope", name)
            if parts and parts[-1].symbol == symbol:
                before = parts.pop().item
                assert isinstance(before, Fold)
                times = before.times + times
            parts.append(_Part(Fold(self._unique(name, symbol), "scope", times), symbol))
        return inside(parts)

    def loops(self, parts: Sequence[_Part], copies: int) -> list[_Part]:
        """The parts with whatever folded that happens at least `copies` times in a row."""
        order = [self._line(part.item) for part in parts]
        found = find_repeats([part.symbol for part in parts], order, copies)
        return [self._loop(position, parts) for position in found]

    def _loop(self, position: Position, parts: Sequence[_Part]) -> _Part:
        if isinstance(position, int):
            return parts[position]
        times = [[self._loop(one, parts) for one in each] for each in position.times]
        symbol = ("repeat", tuple(part.symbol for part in times[0]))
        only = times[0][0].item
        if len(times[0]) == 1 and isinstance(only, Fold):  # a function, called several times in a row
            every = tuple(each for (part,) in times if isinstance(part.item, Fold) for each in part.item.times)
            return _Part(Fold(only.name, only.by, every), symbol)
        return _Part(self._fold("loop", tuple(tuple(part.item for part in each) for each in times), symbol), symbol)

    def functions(self, parts: Sequence[_Part]) -> list[_Part]:
        """The parts with what one function did without a break folded."""
        found: list[_Part] = []
        if len({self._function_of(part.item) for part in parts}) == 1:
            return list(parts)
        for function, group in groupby(parts, lambda part: self._function_of(part.item)):
            run = list(group)
            if function == "<module>" or (len(run) == 1 and isinstance(run[0].item, int)):
                found += run
            else:
                symbol = ("function", function)
                name = self._unique(_short(function), symbol)
                found.append(_Part(Fold(name, "function", (tuple(part.item for part in run),)), symbol))
        return found

    def returns(self, parts: Sequence[_Part]) -> list[_Part]:
        """The parts with stretches folded in which the same things happen again and again, never twice alike.

        Such a stretch reaches from a thing's first time to its last, and to the last time of all that happens between.
        A repetition begins where the first of the things that happen often happens again.
        """
        last = {part.symbol: at for at, part in enumerate(parts)}
        found: list[_Part] = []
        at = 0
        while at < len(parts):
            end, reach = at, last[parts[at].symbol]
            while end < reach:
                end += 1
                reach = max(reach, last[parts[end].symbol])
            stretch = parts[at : end + 1]
            at = end + 1
            counts = Counter(part.symbol for part in stretch)
            often = max(counts.values()) / 2
            lead = next(part.symbol for part in stretch if counts[part.symbol] >= often)
            cuts = [k for k, part in enumerate(stretch) if part.symbol == lead]
            if len(cuts) < 3:
                found += stretch
                continue
            found += stretch[: cuts[0]]
            times = tuple(
                tuple(part.item for part in self.loops(stretch[begin:stop], 3))
                for begin, stop in zip(cuts, [*cuts[1:], len(stretch)], strict=True)
            )
            symbol = ("return", lead)
            found.append(_Part(self._fold("loop", times, symbol), symbol))
        return found

    # What is equal

    def _symbol(self, node_id: int) -> Hashable:
        """Equal for operations of the same call site; what backward recorded goes by the operation it is from."""
        known = self._symbols.get(node_id)
        if known is None:
            node = self.recording.nodes[node_id]
            place = node.place[:5] if node.place is not None else tuple(self._shapes(node))
            of = self._symbol(node.made_by) if node.made_by is not None and node.made_by < node_id else None
            known = self._symbols[node_id] = (node.op, place, of)
        return known

    def _shapes(self, node: NodeRecord) -> Iterator[tuple[int, ...] | None]:
        for ref in node.outputs:
            yield self.recording.tensors[ref.tensor].shape if ref is not None else None

    def _scope(self, node: int, depth: int) -> int | None:
        """The scope around the node at that depth from outside, None if there are fewer."""
        path: list[int] = []
        scope = self.recording.nodes[node].scope
        while scope is not None:
            path.append(scope)
            scope = self.recording.scopes[scope].outer
        return path[-1 - depth] if depth < len(path) else None

    def _line(self, item: Item) -> int:
        return min((place.line for node in operations(item) if (place := self.recording.nodes[node].place)), default=0)

    def _function_of(self, item: Item) -> str:
        """The function that all of it happened in."""
        functions = {_function(self.recording.nodes[node]) for node in operations(item)}
        return functions.pop() if len(functions) == 1 else "<module>"

    # Names

    def _fold(self, by: By, times: tuple[tuple[Item, ...], ...], symbol: Hashable) -> Fold:
        return Fold(self._unique(self._name(times), symbol), by, times)

    def _name(self, times: tuple[tuple[Item, ...], ...]) -> str:
        """What its code is called: the function, where all of that is here, else the lines."""
        ids = [node for each in times for item in each for node in operations(item)]
        made_by = [of for node in ids if (of := self.recording.nodes[node].made_by) is not None]
        name = f"backward of {self._code_name(made_by)}" if len(made_by) == len(ids) else self._code_name(ids)
        return visible(name, NAME_WIDTH)

    def _code_name(self, ids: Sequence[int]) -> str:
        nodes = [self.recording.nodes[node] for node in ids]
        functions = list(dict.fromkeys(_function(node) for node in nodes))
        here = {self._symbol(node) for node in ids}
        whole = [one for one in functions if one != "<module>" and self._functions.get(one, here) <= here]
        if len(functions) > 1 or whole:
            named = [_short(one) for one in whole or functions if one != "<module>"]
            return " + ".join(named[:2]) + (" + …" if len(named) > 2 else "")
        places = [node.place for node in nodes if node.place is not None]
        if not places:
            return " ".join(dict.fromkeys(node.op for node in nodes))
        first, last = min(place.line for place in places), max(place.line for place in places)
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        return lines if len(self.recording.sources) < 2 else f"{places[0].file} {lines}"

    def _unique(self, name: str, symbol: Hashable) -> str:
        """The name, with a number where something else has it already."""
        found, number = name, 1
        while self._names.setdefault(found, symbol) != symbol:
            number += 1
            found = f"{name} ({number})"
        return found


def _function(node: NodeRecord) -> str:
    """The function an operation is in, `<module>` where there is none; comprehensions count to what is around them."""
    name = node.place.function if node.place is not None else "<module>"
    while name.endswith((".<listcomp>", ".<genexpr>", ".<dictcomp>", ".<setcomp>", ".<lambda>")):
        name = name.rpartition(".<")[0].removesuffix(".<locals>")
    return "<module>" if name.startswith("<") else name


def _short(function: str) -> str:
    return function.rpartition("<locals>.")[2]
