"""Finds which parts of a tape repeat or belong together: loops, source functions, and the scopes that the user named.

The name of a fold opens it: see `viz.planning.fold_names`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from microtape.recording.model.model import Recording
from viz.planning.fold import Fold, Item, numbered, operations
from viz.planning.fold_naming import FoldNaming, ScopeName, function_of, short
from viz.planning.repeats import Position, find_repeats

WORTH_A_FOLD = 3  # operations of a line
_DEEPEST = 20  # scopes inside of each other: nothing could be read in more frames

Strategy: TypeAlias = Callable[["_FoldFinder", Sequence[int]], "list[_Entry]"]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A node or a fold, with a symbol that is equal for equal entries."""

    item: Item
    symbol: Hashable


@dataclass(frozen=True, slots=True)
class _Scope:
    """One entry into a scope. Scopes with the same symbol may share a fold."""

    name: ScopeName
    items: tuple[Item, ...]
    symbol: int

    def follows(self, other: _Scope) -> bool:
        """Whether it may share a fold with the scope right before it."""
        number = self.name.number
        return self.symbol == other.symbol and (number is None or number == (other.name.number or 0) + 1)


def folded(recording: Recording, nodes: Sequence[int], strategy: Strategy) -> tuple[Item, ...]:
    """The operations among `nodes`, which are in tape order, with every fold that `strategy` finds."""
    finder = _FoldFinder(recording, [node for node in nodes if recording.nodes[node].variable is None])
    return numbered(entry.item for entry in strategy(finder, finder.nodes))


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


def by_lines(finder: _FoldFinder, nodes: Sequence[int]) -> list[_Entry]:
    """Scopes, whatever repeats three times in a row, and the operations of one line, such as those of a loss."""
    return finder.scopes(nodes, 0, lambda inner: finder.lines(finder.loops(inner, 3)))


STRATEGIES: tuple[Strategy, ...] = (by_loops, by_any_loops, by_returns, by_functions, by_lines)
"""In order of how much their folds say about a program, most first; the first strategy that leaves few boxes wins."""


class _FoldFinder:
    """Folds the nodes of one recording."""

    def __init__(self, recording: Recording, nodes: list[int]) -> None:
        self.recording = recording
        self.nodes = nodes
        self._paths: list[tuple[int, ...]] = []  # of each scope: those around it and itself, outermost first
        for scope in recording.scopes:
            around = self._paths[scope.outer] if scope.outer is not None else ()
            self._paths.append((*around, scope.id)[:_DEEPEST])
        self._names = FoldNaming(recording, nodes)

    def scopes(self, nodes: Sequence[int], depth: int, inside: Callable[[list[_Entry]], list[_Entry]]) -> list[_Entry]:
        """Fold scopes, and within them whatever `inside` finds. Adjacent scopes of the same name become one fold.

        So do calls of adjacent modules of a list that do the same.
        """
        entries: list[_Entry] = []
        scopes: list[_Scope] = []
        for scope, group in groupby(nodes, lambda node: self._scope(node, depth)):
            run = list(group)
            if scope is None:
                entries += self._scope_folds(scopes)
                entries += [_Entry(node, self._names.symbol(node)) for node in run]
                scopes = []
            else:
                scopes.append(self._entered(scope, self.scopes(run, depth + 1, inside)))
        return inside([*entries, *self._scope_folds(scopes)])

    def _entered(self, scope: int, contents: Sequence[_Entry]) -> _Scope:
        """An entry into a scope. Modules of a list have to do the same to share a fold."""
        name = ScopeName.of(self.recording.scopes[scope].name)
        alike = ("scope", name.role, *([entry.symbol for entry in contents] if name.number is not None else ()))
        return _Scope(name, tuple(entry.item for entry in contents), self._names.number(alike))

    def _scope_folds(self, scopes: Sequence[_Scope]) -> list[_Entry]:
        """A fold for each scope; adjacent ones that are equal and, if they have numbers, in order, share a fold."""
        runs: list[list[_Scope]] = []
        for one in scopes:
            if runs and one.follows(runs[-1][-1]):
                runs[-1].append(one)
            else:
                runs.append([one])
        return [self._scope_fold(run) for run in runs]

    def _scope_fold(self, run: Sequence[_Scope]) -> _Entry:
        name = run[0].name
        indexed = name.number is not None and (len(run) > 1 or name.has_index)
        shown = self._names.unique(name.role if indexed else name.whole, ("scope", name.role))
        first = (name.number or 0) if indexed else 0
        fold = Fold(shown, "scope", tuple(one.items for one in run), first, is_indexed=indexed)
        return _Entry(fold, run[0].symbol)

    def loops(self, entries: Sequence[_Entry], copies: int) -> list[_Entry]:
        """Fold whatever repeats at least `copies` times in a row."""
        order = [self._line(entry.item) for entry in entries]
        found = find_repeats([entry.symbol for entry in entries], order, copies)
        return [self._loop(position, entries, is_one_line=len(set(order)) == 1) for position in found]

    def _loop(self, position: Position, entries: Sequence[_Entry], *, is_one_line: bool) -> _Entry:
        if isinstance(position, int):
            return entries[position]
        times = [[self._loop(one, entries, is_one_line=is_one_line) for one in each] for each in position.times]
        symbol = self._names.number(("repeat", tuple(entry.symbol for entry in times[0])))
        only = times[0][0].item
        if len(times[0]) == 1 and isinstance(only, Fold) and not only.is_indexed:  # called several times in a row
            every = tuple(each for (entry,) in times if isinstance(entry.item, Fold) for each in entry.item.times)
            return _Entry(Fold(only.name, only.kind, every), symbol)
        items = tuple(tuple(entry.item for entry in each) for each in times)
        return _Entry(Fold(self._names.of_loop(items, symbol, is_one_line=is_one_line), "loop", items), symbol)

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
                symbol = self._names.number(("function", function))
                name = self._names.unique(short(function), symbol)
                found.append(_Entry(Fold(name, "function", (tuple(entry.item for entry in run),)), symbol))
        return found

    def lines(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Fold the operations of each line, under the name of their result, unless all are on the same line."""
        found: list[_Entry] = []
        for line, group in groupby(entries, lambda entry: self._line(entry.item) if isinstance(entry.item, int) else 0):
            run = list(group)
            if line and WORTH_A_FOLD <= len(run) < len(entries):
                symbol = self._names.number(("line", *(entry.symbol for entry in run)))
                items = tuple(entry.item for entry in run)
                found.append(_Entry(Fold(self._names.of_line(items, symbol), "line", (items,)), symbol))
            else:
                found += run
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
            symbol = self._names.number(("return", lead))
            found.append(_Entry(Fold(self._names.of_loop(times, symbol), "loop", times), symbol))
        return found

    def _scope(self, node: int, depth: int) -> int | None:
        """The scope at that depth around the node (0 is the outermost); None if fewer scopes surround it."""
        scope = self.recording.nodes[node].scope
        path = self._paths[scope] if scope is not None else ()
        return path[depth] if depth < len(path) else None

    def _line(self, item: Item) -> int:
        return min((place.line for node in operations(item) if (place := self.recording.nodes[node].place)), default=0)

    def _function_of(self, item: Item) -> str:
        """The function that contains all of the item's operations; `<module>` if they are in several functions."""
        functions = {function_of(self.recording.nodes[node]) for node in operations(item)}
        return functions.pop() if len(functions) == 1 else "<module>"
