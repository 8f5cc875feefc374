"""Modules that are only the pattern of others: copies of them were made, and the loss is computed with these."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np

from microtape.recording.findings.program import Program
from microtape.recording.model.model import Summary, TensorRecord, Value

_FEWEST = 2  # leaves with twins


def copied_modules(program: Program, unused: Sequence[TensorRecord]) -> Mapping[str, str]:
    """The paths of modules with unused leaves that were copied, each with the path of a copy that is used.

    A copy has the leaves of the module with the same names and shapes, and one at least began with the same random
    numbers: two layers of one size that were made separately have none in common. Where layers have other names in the
    copy, as those that were fused, each leaf of the whole model that began with random numbers has its twin there.
    """
    missing = {one.name: one for one in unused}
    used: dict[Hashable, list[TensorRecord]] = {}
    for leaf in program.leaves:
        if leaf.name not in missing and (numbers := _first_numbers(leaf)) is not None:
            used.setdefault(numbers, []).append(leaf)
    shapes = {one.name: one.shape for one in program.leaves}
    found: dict[str, str] = {}
    for leaf in unused:
        for twin in used.get(_first_numbers(leaf), ()):
            module, copy = _roots(leaf.name, twin.name)
            inside = [name for name in missing if name.startswith(f"{module}.")]
            if module and all(shapes.get(copy + name[len(module) :]) == missing[name].shape for name in inside):
                found.setdefault(module, copy)
    for module in dict.fromkeys(one.name.partition(".")[0] for one in unused if "." in one.name):
        leaves = {one.name: _first_numbers(one) for one in unused if one.name.startswith(f"{module}.")}
        known = {name: numbers for name, numbers in leaves.items() if numbers is not None}
        twins = [used[one][0].name.partition(".")[0] for one in known.values() if one in used]
        is_told = all(any(name.startswith(f"{one}.") for one in found) for name in known)
        if len(twins) == len(known) >= _FEWEST and module not in twins and not is_told:
            found = {one: copy for one, copy in found.items() if not one.startswith(f"{module}.")}
            found[module] = twins[0]
    return found


def is_in_use(program: Program, leaf: TensorRecord) -> bool:
    """Whether something was computed with a leaf; that it was copied does not count."""
    return bool(program.users(leaf.node)) or any(
        one.op not in _COPYING for one in program.borders_from.get(leaf.id, ())
    )


_COPYING = ("clone", "copy_", "detach", "data", "deepcopy", "to")


def following_modules(program: Program, unused: Sequence[TensorRecord], copied: Mapping[str, str]) -> Iterator[str]:
    """The modules with unused leaves that take over the numbers of others as these learn, and learn nothing themselves.

    Such are target networks and moving averages. They began as a copy of the other module, or were overwritten with its
    numbers.
    """
    if not unused:
        return
    sources = program.recording.sources.values()
    for module, used in copied.items():
        ours, theirs = (re.escape(path.rpartition(".")[2]) for path in (module, used))
        whole = rf"\b(deepcopy|load_state_dict)\([\w.]*\b{theirs}\b"
        each = "|".join(
            rf"\bzip\(.*\b{a}\.parameters\(\).*\b{b}\.parameters\(\)" for a, b in ((ours, theirs), (theirs, ours))
        )
        changing = (one for one in unused if one.name.startswith(f"{module}.") and one.id not in program.updated)
        if any(re.search(f"{whole}|{each}", text) for text in sources) or any(map(has_changed, changing)):
            yield module
    missing = {one.name for one in unused}
    learning: dict[Hashable, list[TensorRecord]] = {}
    for leaf in program.leaves:
        for value in leaf.values.values() if leaf.name not in missing else ():
            if (numbers := _numbers(leaf, value)) is not None:
                learning.setdefault(numbers, []).append(leaf)
    for leaf in unused:
        for version in sorted(leaf.values)[1:]:
            for twin in learning.get(_numbers(leaf, leaf.values[version]), ()):
                module, _ = _roots(leaf.name, twin.name)
                if module:
                    yield module


def has_changed(leaf: TensorRecord) -> bool:
    """Whether a leaf has got other numbers, as the moving average has that an installed package keeps."""
    return len({_numbers(leaf, value) for value in leaf.values.values()} - {None}) > 1


def _first_numbers(leaf: TensorRecord) -> Hashable | None:
    """The numbers of a leaf when it was first seen."""
    return _numbers(leaf, leaf.values[min(leaf.values)]) if leaf.values else None


def _numbers(leaf: TensorRecord, value: Value) -> Hashable | None:
    """The numbers of a leaf, to compare; None if they are unknown, or all the same, as of a fresh bias."""
    if isinstance(value, Summary):
        return (leaf.shape, value.mean, value.std, value.min, value.max) if value.min != value.max else None
    if value is None or value.size < 2 or not np.any(value != value.flat[0]):
        return None
    return leaf.shape, value.tobytes()


def _roots(name: str, twin: str) -> tuple[str, str]:
    """`layer` and `encoder.layers.0` of `layer.norm1.weight` and `encoder.layers.0.norm1.weight`."""
    ours, theirs = name.split("."), twin.split(".")
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    return ".".join(ours), ".".join(theirs)


def by_owner(copied: Mapping[str, str]) -> list[dict[str, str]]:
    """Modules with their copies, in groups: those of one module, such as the layers of a list, are told together."""
    found: dict[str, dict[str, str]] = {}
    for module, copy in copied.items():
        found.setdefault(module.rpartition(".")[0] or module, {})[module] = copy
    return list(found.values())
