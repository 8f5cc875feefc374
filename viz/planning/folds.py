"""Which parts of a tape repeat or belong together: loops, source functions, and the scopes that the user named.

A `Fold` holds its repetitions in tape order; each consists of operations and inner folds. Its name opens it: see
`viz.planning.open_folds`.
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
from viz.planning.repeats import Position, find_repeats

FoldKind: TypeAlias = Literal["scope", "loop", "function"]

NAME_WIDTH = 40
_DEEPEST = 20  # scopes inside of each other: nothing could be read in more frames
WORTH_A_FRAME = 3  # operations: a frame around the one or two of a single call would say nothing


@dataclass(frozen=True, eq=False)
class Fold:
    """Operations that repeat `len(times)` times in a row; once for a scope or function that is entered once."""

    name: str
    kind: FoldKind
    times: tuple[tuple[Item, ...], ...]

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The operations of each repetition, including those of inner folds."""
        return tuple(tuple(node for item in each for node in operations(item)) for each in self.times)


Item: TypeAlias = int | Fold

Strategy: TypeAlias = Callable[["_FoldFinder", Sequence[int]], "list[_Entry]"]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A node or a fold, with a symbol that is equal for equal entries."""

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


def folded(recording: Recording, nodes: Sequence[int], strategy: Strategy) -> tuple[Item, ...]:
    """The operations among `nodes`, which are in tape order, with every fold that `strategy` finds."""
    finder = _FoldFinder(recording, [node for node in nodes if recording.nodes[node].variable is None])
    return tuple(entry.item for entry in strategy(finder, finder.nodes))


def by_loops(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes, and whatever repeats three times in a row."""
    return finder.scopes(nodes, 0, lambda inner: finder.loops(inner, 3))


def by_any_loops(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes, and whatever repeats twice in a row."""
    return finder.scopes(nodes, 0, lambda inner: finder.loops(inner, 2))


def by_functions(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes, loops, uninterrupted stretches of one function, and whatever then repeats twice in a row."""
    return finder.scopes(nodes, 0, lambda inner: finder.loops(finder.functions(finder.loops(inner, 3)), 2))


def by_returns(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes, stretches that return to the same operation by a different path each time, and loops in them."""
    return finder.scopes(nodes, 0, lambda inner: finder.returns(inner))


def by_scopes(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes of more than a few operations: the frames of a picture in which nothing is folded."""
    return finder.scopes(nodes, 0, finder.without_small)


STRATEGIES: tuple[Strategy, ...] = (by_loops, by_any_loops, by_returns, by_functions)
"""In order of how much their folds say about a program, most first; the first strategy that leaves few boxes wins."""


class _FoldFinder:
    """Folds the nodes of one recording: decides which nodes are equal, and gives equal folds equal names."""

    def __init__(self, recording: Recording, nodes: list[int]) -> None:
        self.recording = recording
        self.nodes = nodes
        self._paths: list[tuple[int, ...]] = []  # of each scope: those around it and itself, outermost first
        for scope in recording.scopes:
            around = self._paths[scope.outer] if scope.outer is not None else ()
            self._paths.append((*around, scope.id)[:_DEEPEST])
        self._symbols: dict[int, Hashable] = {}
        self._functions: dict[str, set[Hashable]] = {}  # function -> the symbols of its operations
        for node in nodes:
            self._functions.setdefault(_function(recording.nodes[node]), set()).add(self._symbol(node))
        self._names: dict[str, Hashable] = {}

    def scopes(self, nodes: Sequence[int], depth: int, inside: Callable[[list[_Entry]], list[_Entry]]) -> list[_Entry]:
        """Fold scopes, and within them whatever `inside` finds. Adjacent scopes of the same name become one fold."""
        entries: list[_Entry] = []
        for scope, group in groupby(nodes, lambda node: self._scope(node, depth)):
            run = list(group)
            if scope is None:
                entries += [_Entry(node, self._symbol(node)) for node in run]
                continue
            name = visible(self.recording.scopes[scope].name, NAME_WIDTH)
            times: tuple[tuple[Item, ...], ...] = (tuple(entry.item for entry in self.scopes(run, depth + 1, inside)),)
            symbol = ("scope", name)
            if entries and entries[-1].symbol == symbol:
                before = entries.pop().item
                assert isinstance(before, Fold)
                times = before.times + times
            entries.append(_Entry(Fold(self._unique(name, symbol), "scope", times), symbol))
        return inside(entries)

    def without_small(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """The entries, with the operations of small folds in place of these."""
        found: list[_Entry] = []
        for entry in entries:
            fold = entry.item
            if isinstance(fold, Fold) and max(map(len, fold.nodes)) < WORTH_A_FRAME:
                found += [_Entry(node, self._symbol(node)) for each in fold.nodes for node in each]
            else:
                found.append(entry)
        return found

    def loops(self, entries: Sequence[_Entry], copies: int) -> list[_Entry]:
        """Fold whatever repeats at least `copies` times in a row."""
        order = [self._line(entry.item) for entry in entries]
        found = find_repeats([entry.symbol for entry in entries], order, copies)
        return [self._loop(position, entries) for position in found]

    def _loop(self, position: Position, entries: Sequence[_Entry]) -> _Entry:
        if isinstance(position, int):
            return entries[position]
        times = [[self._loop(one, entries) for one in each] for each in position.times]
        symbol = ("repeat", tuple(entry.symbol for entry in times[0]))
        only = times[0][0].item
        if len(times[0]) == 1 and isinstance(only, Fold):  # a function called several times in a row
            every = tuple(each for (entry,) in times if isinstance(entry.item, Fold) for each in entry.item.times)
            return _Entry(Fold(only.name, only.kind, every), symbol)
        return _Entry(self._fold("loop", tuple(tuple(entry.item for entry in each) for each in times), symbol), symbol)

    def functions(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Fold each uninterrupted stretch of operations of one function."""
        found: list[_Entry] = []
        if len({self._function_of(entry.item) for entry in entries}) == 1:
            return list(entries)
        for function, group in groupby(entries, lambda entry: self._function_of(entry.item)):
            run = list(group)
            if function == "<module>" or (len(run) == 1 and isinstance(run[0].item, int)):
                found += run
            else:
                symbol = ("function", function)
                name = self._unique(_short(function), symbol)
                found.append(_Entry(Fold(name, "function", (tuple(entry.item for entry in run),)), symbol))
        return found

    def returns(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Fold stretches in which the same operations keep returning, but in a different order or number each time.

        A stretch reaches from the first to the last occurrence of an operation, extended to the last occurrence of
        every operation in between. Each repetition begins at the first operation that occurs often.
        """
        last = {entry.symbol: at for at, entry in enumerate(entries)}
        found: list[_Entry] = []
        at = 0
        while at < len(entries):
            end, reach = at, last[entries[at].symbol]
            while end < reach:
                end += 1
                reach = max(reach, last[entries[end].symbol])
            stretch = entries[at : end + 1]
            at = end + 1
            counts = Counter(entry.symbol for entry in stretch)
            often = max(counts.values()) / 2
            lead = next(entry.symbol for entry in stretch if counts[entry.symbol] >= often)
            cuts = [k for k, entry in enumerate(stretch) if entry.symbol == lead]
            if len(cuts) < 3:
                found += stretch
                continue
            found += stretch[: cuts[0]]
            times = tuple(
                tuple(entry.item for entry in self.loops(stretch[begin:stop], 3))
                for begin, stop in zip(cuts, [*cuts[1:], len(stretch)], strict=True)
            )
            symbol = ("return", lead)
            found.append(_Entry(self._fold("loop", times, symbol), symbol))
        return found

    # Equality

    def _symbol(self, node_id: int) -> Hashable:
        """A symbol, equal for operations of one call site and for those that the backward of equal nodes recorded."""
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
        """The scope at that depth around the node (0 is the outermost); None if fewer scopes surround it."""
        scope = self.recording.nodes[node].scope
        path = self._paths[scope] if scope is not None else ()
        return path[depth] if depth < len(path) else None

    def _line(self, item: Item) -> int:
        return min((place.line for node in operations(item) if (place := self.recording.nodes[node].place)), default=0)

    def _function_of(self, item: Item) -> str:
        """The function that contains all of the item's operations; `<module>` if they are in several functions."""
        functions = {_function(self.recording.nodes[node]) for node in operations(item)}
        return functions.pop() if len(functions) == 1 else "<module>"

    # Names

    def _fold(self, kind: FoldKind, times: tuple[tuple[Item, ...], ...], symbol: Hashable) -> Fold:
        return Fold(self._unique(self._name(times), symbol), kind, times)

    def _name(self, times: tuple[tuple[Item, ...], ...]) -> str:
        """The name of a fold: its function, if the fold contains all operations of it, else its lines."""
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
        """The name, with a number appended if another fold has it already."""
        found, number = name, 1
        while self._names.setdefault(found, symbol) != symbol:
            number += 1
            found = f"{name} ({number})"
        return found


def _function(node: NodeRecord) -> str:
    """The function that contains the operation, else `<module>`; comprehensions belong to the code around them."""
    name = node.place.function if node.place is not None else "<module>"
    while name.endswith((".<listcomp>", ".<genexpr>", ".<dictcomp>", ".<setcomp>", ".<lambda>")):
        name = name.rpartition(".<")[0].removesuffix(".<locals>")
    return "<module>" if name.startswith("<") else name


def _short(function: str) -> str:
    return function.rpartition("<locals>.")[2]
