"""Two leaves that share their memory: each has a gradient of its own, and each update changes both."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Place
from microtape.recording.model.source import assignments, expression, is_installed, place_in, text_of

_FEWEST = 2  # updates that were the same for both
_SHARING = re.compile(r"\.data\s*=(?!=)|\bParameter\(")
_ADAPTIVE = re.compile(r"\b(\w*Adam\w*|RMSprop|Adagrad|Adadelta|Rprop|Adafactor|Lion)\(")


class _Shared(NamedTuple):
    """A statement that gives one leaf the memory of another: `a.data = b.data`, or `a = Parameter(b)`."""

    place: Place
    text: str
    target: str
    source: str
    makes: str  # `nn.Parameter`; empty for an assignment to `.data`


def one_memory(program: Program) -> Iterator[Finding]:
    """One finding for two leaves that were meant to be one, as the weights of an embedding and of the last layer.

    All updates of both agree, to the last digit, though their gradients do not; and a statement says why. Steps of SGD
    add up to what one leaf would get: it is a notice then.
    """
    if len(program.updated) < 2 or not any(map(_SHARING.search, program.recording.sources.values())):
        return
    shared = list(_sharing(program))
    by_course: dict[object, list[int]] = {}
    for leaf, updates in program.updated.items() if shared else ():
        course = tuple((one.passes, one.norm, one.change) for one in updates)
        shape = program.recording.tensors[leaf].shape
        if math.prod(shape) > 1 and sum(1 for _, norm, change in course if norm and change) >= _FEWEST:
            by_course.setdefault((shape, course), []).append(leaf)
    for leaves in by_course.values():
        for one, other in combinations(sorted(leaves)[:4], 2):
            position = _differs_at(program, one, other)
            if position is not None and (found := _blamed(program, shared, one, other)) is not None:
                yield _finding(program, position, *found)
                return


def _sharing(program: Program) -> Iterator[_Shared]:
    recording = program.recording
    for file in recording.sources:
        for one in assignments(recording, file):
            place = place_in(recording, file, one)
            if len(one.targets) != 1 or is_installed(place):
                continue
            match one.targets[0], one.value:
                case ast.Attribute(target, "data"), ast.Name() | ast.Attribute() as value:
                    yield _Shared(place, text_of(one), text_of(target), _owner(value), "")
                case target, ast.Call(ast.Name("Parameter") | ast.Attribute(attr="Parameter") as makes, [value, *_]):
                    if isinstance(value, ast.Name | ast.Attribute):
                        yield _Shared(place, text_of(one), text_of(target), _owner(value), text_of(makes))


def _owner(value: ast.expr) -> str:
    return text_of(value).removesuffix(".data")


def _differs_at(program: Program, one: int, other: int) -> int | None:
    """The first pass that gave two leaves other gradients: equal leaves with equal gradients may well stay equal."""
    ways = [dict(program.accumulations.get(leaf, ())) for leaf in (one, other)]
    return next((i for i in sorted(ways[0].keys() & ways[1].keys()) if _differ(program, ways[0][i], ways[1][i])), None)


def _differ(program: Program, one: BackwardStep, other: BackwardStep) -> bool:
    largest = program.sizes.largest
    return largest(one.grad_after) != largest(other.grad_after)


def _blamed(program: Program, shared: Sequence[_Shared], one: int, other: int) -> tuple[_Shared, int, int] | None:
    """The statement that made two leaves share their memory, with that which it has changed, and the other."""
    for statement in shared:
        for target, source in ((one, other), (other, one)):
            if _is_called(program, target, statement.target) and _is_called(program, source, statement.source):
                return statement, target, source
    return (shared[0], max(one, other), min(one, other)) if len(shared) == 1 else None


def _is_called(program: Program, leaf: int, written: str) -> bool:
    """Whether a leaf may be meant: `model.decoder.weight` by `self.decoder.weight`."""
    path = written.removeprefix("self.")
    return any(name == path or name.endswith(f".{path}") for name in program.recording.tensors[leaf].names)


def _finding(program: Program, position: int, statement: _Shared, leaf: int, other: int) -> Finding:
    mine, theirs = program.tensor_name(leaf), program.tensor_name(other)
    sizes = [program.sizes.largest(dict(program.accumulations[one])[position].grad_after) for one in (leaf, other)]
    step = next((one.place for one in program.updated[leaf] if one.place is not None), None)
    what = expression(program.recording, step) or "The update"
    is_adaptive = any(map(_ADAPTIVE.search, program.recording.sources.values()))
    copy = f"{statement.source}.detach().clone()"
    copied = f"{statement.makes}({copy})" if statement.makes else copy
    copied = f"{statement.target}{'' if statement.makes else '.data'} = {copied}"
    is_named = _is_called(program, other, statement.source)  # else it is a tensor that both were made of
    effect = (
        "an optimiser that scales its steps, as Adam does, takes two of full size, where one leaf would get one step "
        "for the sum"
        if is_adaptive
        else "steps of SGD add up to that for the sum, and those of other optimisers do not"
    )
    return Finding(
        "written through a view", "warning" if is_adaptive else "notice",
        headline(f"{mine} and {theirs} share their memory, and are two leaves",
                 f"{mine} shares its memory with another leaf",
                 f"Two leaves share their memory ({at(statement.place)})"),
        (f"{statement.text} at {at(statement.place)} shares the numbers alone: each has a .grad of its own.",
         f"In {program.pass_name(position)} these are up to {format_number(sizes[0])} and {format_number(sizes[1])}. "
         f"{what} at {at(step)} changes the same numbers for each of them: {effect}."),
        (f"To tie them, make them one leaf before the optimiser is made: {statement.target} = {statement.source}. "
         f"To begin with equal numbers only, copy them: {copied}." if is_named else f"Copy the numbers: {copied}."),
        statement.place, position, None, program.recording.tensors[leaf].node, leaf,
        (("updated", step),) if step is not None else (),
    )  # fmt: skip
