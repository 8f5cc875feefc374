"""Modules that an optimiser steps, while all gradients go to copies of them that are made again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from microtape.recording.findings.program import Program
from microtape.recording.model.model import BorderRecord, Place, TensorRecord
from microtape.recording.model.source import expression

_COPY = re.compile(
    r"([\w.]+) = (?:copy\.)?deepcopy\((?:self\.)?([\w.]+)\)"
    r"|([\w.]+)\.load_state_dict\((?:self\.)?([\w.]+)\.state_dict\(\)\)"
)
_FEWEST = 2  # copies: a single one may be what the optimiser was meant for


def stepped_originals(
    program: Program, missing: Sequence[TensorRecord], copied: Mapping[str, str]
) -> Mapping[str, tuple[str, Place]]:
    """The modules without gradients that an optimiser steps in vain, each with the name of its copies and that step.

    `copied` are the modules that are known to have copies, by their numbers; others by the text.
    """
    stepped = [one for one in missing if one.id in program.updated]
    if not stepped or program.assigns_gradients:
        return {}
    found = {}
    for module, copy in (*copied.items(), *_written_copies(program, stepped)):
        if module not in found and (step := _step_in_vain(program, module, copy, stepped)) is not None:
            found[module] = copy, step
    return found


def without_assigned(
    program: Program, missing: Sequence[TensorRecord], copied: Mapping[str, str]
) -> list[TensorRecord]:
    """The same without those that no operation uses, if the program may hand them the gradients of others."""
    if not program.assigns_gradients:
        return list(missing)
    originals = tuple(f"{one}." for one in {**copied, **dict(_written_copies(program, missing))})
    unused = {one.id for one in missing if one.node is None and one.name.startswith(originals)}
    return [one for one in missing if one.id not in unused and not _is_of_a_loop(program, one.name)]


def begins_others(program: Program, border: BorderRecord) -> bool:
    """Whether what comes out of a border is trained: other leaves begin with its numbers, as a stack of models does."""
    waiting, seen = [border], {border.outputs}
    while waiting:
        for ref in waiting.pop().outputs:
            if ref.tensor in program.accumulations and any(one.change for one in program.updated.get(ref.tensor, ())):
                return True
            further = [one for one in program.borders_from.get(ref.tensor, ()) if one.outputs not in seen]
            seen.update(one.outputs for one in further)
            waiting += further
    return False


def has_the_memory_of_another(program: Program, leaf: TensorRecord, reached: Set[int]) -> bool:
    """Whether a leaf changes as one with a gradient does, to the last digit: `nn.Parameter(p)` shares memory with p."""
    course = [(one.passes, one.norm, one.change) for one in program.updated.get(leaf.id, ())]
    return any(change for _, _, change in course) and any(
        course == [(one.passes, one.norm, one.change) for one in program.updated.get(other, ())]
        for other in reached
        if program.recording.tensors[other].shape == leaf.shape
    )


def _is_of_a_loop(program: Program, name: str) -> bool:
    """Whether a name is that of the variable of a loop: `q` of `for p, q in zip(...)`, which keeps the last of them."""
    loop = re.compile(rf"\bfor\b[^\n]*\b{re.escape(name)}\b[^\n]*\bin\b")
    return name.isidentifier() and any(loop.search(text) for text in program.recording.sources.values())


def _written_copies(program: Program, missing: Sequence[TensorRecord]) -> Iterator[tuple[str, str]]:
    """The paths of modules and of their copies, as the program writes `deepcopy` or `load_state_dict`."""
    for text in program.recording.sources.values():
        for groups in _COPY.findall(text):
            copy, module = (one for one in groups if one)
            path = next((found for one in missing if (found := _path_to(module, one.name))), "")
            if path:
                yield path, copy.removeprefix("self.")


def _path_to(module: str, leaf: str) -> str:
    """`maml.net` for the module `net` and the leaf `maml.net.0.weight`; empty if the leaf is not in it."""
    before, is_there, _ = f".{leaf}".partition(f".{module}.")
    return f"{before}.{module}".removeprefix(".") if is_there else ""


def _step_in_vain(program: Program, module: str, copy: str, stepped: Sequence[TensorRecord]) -> Place | None:
    """The step of an optimiser that has only leaves of a module to which no gradient comes, if its copies are several.

    A model may hold the pattern of its layers beside their copies, and an optimiser has both.
    """
    inside = {one.id for one in stepped if one.name.startswith(f"{module}.")}
    copies = [one.name for one in program.leaves if one.node is not None and _path_to(copy, one.name)]
    if not inside or len(copies) < _FEWEST * len({*copies}) or not copies:
        return None
    idle = {one.place for leaf in inside for one in program.updated[leaf] if one.change == 0}
    serving = {one.place for one in program.recording.updates if one.change != 0 or one.tensor not in inside}
    steps = (one for one in idle - serving if one is not None and ".step(" in expression(program.recording, one))
    return min(steps, default=None)
