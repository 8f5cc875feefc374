"""What folds are called: after their scope, their function, their lines, or the operations in them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import NodeRecord, Recording
from viz.basics.characters import visible
from viz.planning.fold import Fold, Item, operations

NAME_WIDTH = 40
_MODULE = "<module>"
_IN_LIST = re.compile(r"(?P<list>.+)\.(?P<at>\d+)|(?P<number>\d+) (?P<class>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScopeName:
    """A scope's name. Modules of a list have numbers: `layers.3`, or `2 ReLU` in a Sequential."""

    whole: str
    role: str  # what all modules of the list are called
    number: int | None

    @classmethod
    def of(cls, name: str) -> ScopeName:
        """The parts of that name."""
        whole = visible(name, NAME_WIDTH)
        match = _IN_LIST.fullmatch(whole)
        if match is None:
            return cls(whole, whole, None)
        return cls(whole, match["list"] or match["class"], int(match["at"] or match["number"]))

    @property
    def has_index(self) -> bool:
        """Whether it ends in the number: `layers.3`."""
        return self.whole == f"{self.role}.{self.number}"


class FoldNaming:
    """Decides which nodes of a recording are equal, and gives equal folds equal names."""

    def __init__(self, recording: Recording, nodes: Sequence[int]) -> None:
        self._recording = recording
        self._numbers: dict[Hashable, int] = {}
        self._symbols: dict[int, int] = {}
        self._names: dict[str, Hashable] = {}
        self._functions: dict[str, set[int]] = {}  # function -> the symbols of its operations
        for node in nodes:
            self._functions.setdefault(function_of(recording.nodes[node]), set()).add(self.symbol(node))

    def symbol(self, node_id: int) -> int:
        """A number, equal for operations of one call site and for those that the backward of equal nodes recorded."""
        known = self._symbols.get(node_id)
        if known is None:
            node = self._recording.nodes[node_id]
            place = node.place[:5] if node.place is not None else tuple(self._shapes(node))
            of = self.symbol(node.made_by) if node.made_by is not None and node.made_by < node_id else None
            known = self._symbols[node_id] = self.number((node.op, place, of))
        return known

    def number(self, symbol: Hashable) -> int:
        """A number for a symbol, which may contain other numbers."""
        return self._numbers.setdefault(symbol, len(self._numbers))

    def unique(self, name: str, symbol: Hashable) -> str:
        """The name, with a number appended if another fold has it already."""
        found, number = name, 1
        while self._names.setdefault(found, symbol) != symbol:
            number += 1
            found = f"{name} ({number})"
        return found

    def of_loop(self, times: Sequence[Sequence[Item]], symbol: Hashable, *, is_one_line: bool = False) -> str:
        """The name of a loop. `is_one_line`: all that is around it comes from the same line, which says nothing."""
        ids = [node for each in times for item in each for node in operations(item)]
        nodes = self._recording.nodes
        made_by = [of for node in ids if (of := nodes[node].made_by) is not None]
        roles = [ScopeName.of(item.name).role for item in times[0] if isinstance(item, Fold) and item.kind == "scope"]
        if len(made_by) == len(ids):
            name = f"backward of {self._of_code(made_by)}"
        elif roles:
            name = self._of_scopes(times, ids, roles, is_one_line=is_one_line)
        elif is_one_line and nodes[ids[0]].scope is not None:
            name = _joined([nodes[node].op for node in ids])
        else:
            name = self._of_code(ids)
        return self.unique(visible(name, NAME_WIDTH), symbol)

    def of_line(self, items: Sequence[Item], symbol: Hashable) -> str:
        """The name of a line's operations: the variable that holds the result, else the line."""
        ids = [node for item in items for node in operations(item)]
        results = self._recording.nodes[ids[-1]].outputs
        name = self._recording.tensors[results[0].tensor].name if results and results[0] is not None else ""
        return self.unique(name if name.isidentifier() else self._of_code(ids), symbol)

    def _of_scopes(
        self, times: Sequence[Sequence[Item]], ids: Sequence[int], roles: Sequence[str], *, is_one_line: bool
    ) -> str:
        """The lines of the loop, if it has operations that are in none of the scopes; else the scopes."""
        own = [item for each in times for item in each if isinstance(item, int)]
        functions = {function_of(self._recording.nodes[node]) for node in own or ids}
        if is_one_line or len(functions) > 1:
            return _joined(roles)
        return self._of_code([node for node in ids if function_of(self._recording.nodes[node]) in functions])

    def _of_code(self, ids: Sequence[int]) -> str:
        """The function, if the nodes are all operations of it, else their lines."""
        nodes = [self._recording.nodes[node] for node in ids]
        functions = list(dict.fromkeys(function_of(node) for node in nodes))
        here = {self.symbol(node) for node in ids}
        whole = [one for one in functions if one != _MODULE and self._functions.get(one, here) <= here]
        if len(functions) > 1 or whole:
            return _joined([short(one) for one in whole or functions if one != _MODULE])
        places = [node.place for node in nodes if node.place is not None]
        if not places:
            return " ".join(dict.fromkeys(node.op for node in nodes))
        first, last = min(place.line for place in places), max(place.line for place in places)
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        return lines if len(self._recording.sources) < 2 else f"{places[0].file} {lines}"

    def _shapes(self, node: NodeRecord) -> Iterator[tuple[int, ...] | None]:
        for ref in node.outputs:
            yield self._recording.tensors[ref.tensor].shape if ref is not None else None


def function_of(node: NodeRecord) -> str:
    """The function that contains the operation, else `<module>`; comprehensions belong to the code around them."""
    name = node.place.function if node.place is not None else _MODULE
    while name.endswith((".<listcomp>", ".<genexpr>", ".<dictcomp>", ".<setcomp>", ".<lambda>")):
        name = name.rpartition(".<")[0].removesuffix(".<locals>")
    return _MODULE if name.startswith("<") else name


def short(function: str) -> str:
    """A function's name without the functions around it."""
    return function.rpartition("<locals>.")[2]


def _joined(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    return " + ".join(different[:2]) + (" + …" if len(different) > 2 else "")
