"""Steps of an optimiser that change nothing, though gradients have come, that change others, or that are missing."""

from __future__ import annotations

import ast
import functools
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import takewhile

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.steps import replaced_later
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Pass, Place, UpdateRecord
from microtape.recording.model.source import (
    expression,
    function_around,
    loop_around,
    only_assignment,
    place_in,
    text_of,
    tree_of,
)

_COMPARED = 4096  # elements; of a larger leaf on PyTorch, a sample is compared, which may miss the few that changed
_SCHEDULE = re.compile(r"lr_scheduler|LR$")
_FADED = 4  # steps in a row without a change: a schedule may well end at 0
_DIGITS = {"bfloat16": 7, "float16": 10}  # binary ones, behind the first
_TINY = 1e-4  # of a leaf; updates by smaller gradients may be lost in rounding, which other findings explain


def idle_steps(program: Program) -> Iterator[Finding]:
    """One finding for a `.step()` that changed no leaf in two calls or more, each after the leaf got a gradient."""
    changed = {one.tensor for one in program.recording.updates if one.change != 0}
    idle: dict[Place | None, list[tuple[UpdateRecord, int, BackwardStep]]] = {}
    busy: set[Place | None] = set()
    for one in program.recording.updates:
        if one.change != 0 or one.tensor in changed:
            busy.add(one.place)
        elif ".step(" in expression(program.recording, one.place):
            idle.setdefault(one.place, []).extend((one, *found) for found in _gradient_before(program, one))
    for place, steps in idle.items():
        if place is not None and place not in busy and len({one.passes for one, _, _ in steps}) > 1:
            yield _idle(program, place, steps)
            return


def faded_steps(program: Program) -> Iterator[Finding]:
    """A finding for a `.step()` whose last calls changed no leaf any more, though gradients have come."""
    recording = program.recording
    steps: dict[Place, dict[int, list[UpdateRecord]]] = {}  # by the line, then by the passes before
    for one in recording.updates:
        if one.place is not None and ".step(" in expression(recording, one.place):
            steps.setdefault(one.place, {}).setdefault(one.passes, []).append(one)
    for place, calls in steps.items():
        reversed_calls = [calls[passes] for passes in sorted(calls, reverse=True)]
        idle = list(takewhile(lambda call: all(one.change == 0 for one in call), reversed_calls))
        told = [found for call in reversed(idle) for one in call for found in _gradient_before(program, one)][:1]
        if not _FADED <= len(idle) < len(calls) or not told:
            continue
        (position, step), what, where = told[0], expression(recording, place), at(place)
        size, since = program.sizes(step.grad_after), program.pass_name(position)
        number = format_number(size.rms, 3) if size is not None else "unknown"
        name = program.name(step.node)
        yield Finding(
            "no update", "warning",
            headline(f"{what} at {where} changes nothing any more from {since} on",
                     f"The step at {where} changes nothing any more from {since} on"),
            (f"{since.capitalize()} gave {name} a gradient of root mean square {number}, but its update rounds to 0.",
             f"No leaf has changed in the last {len(idle)} steps, as it had before."),
            "The learning rate has become too small, or 0: look at its schedule.",
            place, position, step.index, step.node, program.node(step.node).variable,
        )  # fmt: skip
        return


def strange_steps(program: Program) -> Iterator[Finding]:
    """A `.step()` of an optimiser whose parameters no pass reaches, while others get gradients and no update."""
    recording = program.recording
    changed = {one.tensor for one in recording.updates if one.change != 0}
    missed = [
        (position, step)
        for position, pass_ in enumerate(recording.passes)
        for step in program.leaf_steps(pass_)
        if program.node(step.node).variable not in changed and any(one is not None for one in step.grad_outputs)
    ]
    used = {one.place for one in recording.updates if recording.tensors[one.tensor].node is not None}
    for one in recording.updates if missed and not program.assigns_gradients else ():
        before = [each for each in missed if recording.passes[each[0]].index < one.passes]  # others may be updated yet
        if one.place is None or one.place in used or ".step(" not in expression(recording, one.place) or not before:
            continue
        position, step = before[0]
        names = list(dict.fromkeys(program.name(other.node) for _, other in before))
        what, where = expression(recording, one.place), at(one.place)
        lines = ["The parameters of this optimiser are other tensors: no pass reaches them."]
        if (late := replaced_later(recording, names[0], one.place)) is not None:
            lines.append(f"{expression(recording, late)} at {at(late)} has replaced those that it was made from.")
        yield Finding(
            "no update", "error",
            headline(f"{what} at {where} updates none of {join(names, 3)}, which get gradients",
                     f"{what} at {where} updates none of the leaves that get gradients",
                     f"The step at {where} updates other tensors than those with gradients",
                     f"The step at {where} updates other tensors"),
            (*lines, f"{join(names, 6)} {_have(names)} gradients, and no update."),
            "Make the optimiser from the parameters that the loss is computed from, after the model is made, loaded or "
            "sharded.",
            late or one.place, position, step.index, step.node, program.node(step.node).variable,
            (("updated", one.place),) if late is not None else (),
        )  # fmt: skip
        return


def never_stepped(program: Program) -> Iterator[Finding]:
    """A loop whose optimiser resets the gradients of several passes, while nothing in the file calls its `step`."""
    recording = program.recording
    complete = [i for i, one in enumerate(recording.passes) if one.kind == "backward" and one.is_complete]
    place = recording.passes[complete[-1]].place if complete else None
    again = [i for i in complete if recording.passes[i].place == place]
    if place is None:
        return
    if recording.updates:
        if optimizer := left_alone(program):
            made = only_assignment(recording, optimizer)
            lines = [
                f"It was made at {at(made)}. Only other optimisers step." if made else "Only other optimisers step."
            ]
            remedy = f"Call {optimizer}.step() after the backward of its loss: perhaps another one's is called there."
            if (twice := _stepped_twice(recording.sources.get(place.file, ""))) is not None:
                first, second = (place_in(recording, place.file, one) for one in twice)
                what, place = text_of(twice[1]), second
                lines.append(f"{what} is called at {at(first)} and again at {at(second)}.")
                remedy = f"One of the two is probably meant for {optimizer}: call {optimizer}.step() there."
            yield Finding(
                "no update", "error",
                headline(f"{optimizer} learns nothing: {optimizer}.step() is never called",
                         f"{optimizer}.step() is never called"),
                tuple(lines), remedy, place, complete[-1],
            )  # fmt: skip
        return
    if len(again) > 1 and (optimizer := _unstepped(program, recording.sources.get(place.file, ""))):
        yield Finding(
            "no update", "warning",
            headline(f"Nothing is learned from {at(place)}: {optimizer}.step() is never called",
                     f"Nothing is learned: {optimizer}.step() is never called"),
            (f"The gradients of {len(again)} passes are reset.", "Nothing writes to the leaves."),
            f"Call {optimizer}.step() after backward.", place, again[0],
        )  # fmt: skip


def steps_without_gradients(program: Program) -> Iterator[Finding]:
    """A finding for a `.step()` that looks for gradients in `.grad`, where the program asks `grad` for all of them."""
    recording = program.recording
    asked = next((one.place for one in recording.passes if one.captures), None)
    if asked is None or program.assigns_gradients or any(one.kind != "grad" for one in recording.passes):
        return
    steps = [one for one in recording.updates if ".step(" in expression(recording, one.place)]
    is_idle = all(one.change == 0 for one in recording.updates) and all(one.grad is None for one in program.leaves)
    if steps and is_idle:
        what, where = expression(recording, steps[-1].place), at(steps[-1].place)
        yield Finding(
            "no update", "error",
            headline(f"{what} at {where} updates nothing: grad at {at(asked)} fills no .grad",
                     f"{what} at {where} updates nothing: grad fills no .grad",
                     f"The step at {where} updates nothing: grad fills no .grad"),
            ("grad returns gradients, and leaves .grad as it was: None.",
             "An optimiser passes over a parameter whose .grad is None."),
            "Call backward instead of grad, or assign what grad returns: p.grad = g, for each parameter.",
            steps[-1].place, program.positions.get(steps[-1].passes - 1), None, None, None, (("grad", asked),),
        )  # fmt: skip


def left_alone(program: Program) -> str:
    """An optimiser that never steps, while others do; empty if there is none."""
    recording = program.recording
    steps = [one.place for one in recording.updates if ".step(" in expression(recording, one.place)]
    source = recording.sources.get(steps[-1].file, "") if steps and steps[-1] is not None else ""
    return _unstepped(program, source, is_alone=False)


def _unstepped(program: Program, source: str, *, is_alone: bool = True) -> str:
    """An optimiser that nobody can have called to step; empty if there is none. See `_never_called_to_step`."""
    optimizer = _never_called_to_step(source, is_alone=is_alone)
    if not optimizer or _is_passed_on(source, optimizer) or _is_made_afterwards(program, optimizer):
        return ""
    return optimizer


def _is_made_afterwards(program: Program, optimizer: str) -> bool:
    """Whether a script makes an optimiser below its last pass, so that there was nothing to step for."""
    recording = program.recording
    made, place = only_assignment(recording, optimizer), recording.passes[-1].place
    if made is None or place is None or made.file != place.file or made.line <= place.line:
        return False
    source = recording.sources.get(made.file, "")
    in_function = any(function_around(source, one.line) is not None for one in (made, place))
    return not in_function and loop_around(source, place.line, made.line) is None


@functools.lru_cache(maxsize=64)
def _stepped_twice(source: str) -> tuple[ast.Call, ast.Call] | None:
    """The calls of the only `step` that stands twice in one block, as in the body of a loop."""
    found: dict[tuple[int, str], list[ast.Call]] = {}
    for node in ast.walk(tree_of(source) or ast.Module([], [])):
        for one in getattr(node, "body", []) if isinstance(node, ast.For | ast.While | ast.FunctionDef) else ():
            match one:
                case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "step"), []) as call):
                    found.setdefault((id(node), name), []).append(call)
    several = [calls for calls in found.values() if len(calls) > 1]
    return (several[0][0], several[0][1]) if len(several) == 1 and len(several[0]) == 2 else None


@functools.lru_cache(maxsize=64)
def _is_passed_on(source: str, name: str) -> bool:
    """Whether a variable stands somewhere by itself, as in a list of optimisers, so that others may call its `step`.

    A function may make and return it, if what calls that gives it the same name, and may get it by that name.
    """
    nodes = list(ast.walk(tree_of(source) or ast.Module([], [])))
    returned = [one for one in nodes if isinstance(one, ast.FunctionDef) and _is_returned(nodes, one, name)]
    nodes = [one for one in nodes if not any(one in ast.walk(each) for each in _returns_of(returned))]
    loads = [one for one in nodes if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)]
    owners = [one.value for one in nodes if isinstance(one, ast.Attribute)]
    owners += _under_its_name(nodes)
    return len(loads) > sum(any(one is each for each in owners) for one in loads)


def _under_its_name(nodes: Sequence[ast.AST]) -> list[ast.expr]:
    """The arguments, without a star, of calls of the file's own functions, whose parameters have the same names."""
    functions: dict[str, list[list[str]]] = {}
    for one in nodes:
        if isinstance(one, ast.FunctionDef):
            functions.setdefault(one.name, []).append([each.arg for each in (*one.args.posonlyargs, *one.args.args)])
    found: list[ast.expr] = []
    for one in nodes:
        match one:
            case ast.Call(ast.Name(name), args, keywords) if len(functions.get(name, [])) == 1:
                given = [*zip(functions[name][0], args, strict=False), *((each.arg, each.value) for each in keywords)]
                found += [value for parameter, value in given if isinstance(value, ast.Name) and value.id == parameter]
    return found


def _returns_of(functions: Sequence[ast.FunctionDef]) -> list[ast.Return]:
    return [one for each in functions for one in ast.walk(each) if isinstance(one, ast.Return)]


def _is_returned(nodes: Sequence[ast.AST], function: ast.FunctionDef, name: str) -> bool:
    """Whether all calls of a function give the same name to the variable that it returns."""
    calls = [one for one in nodes if isinstance(one, ast.Call) and text_of(one.func) == function.name]
    kept = 0
    for returned in _returns_of([function]):
        position = _names_of(returned.value).index(name) if name in _names_of(returned.value) else None
        for one in nodes if position is not None else ():
            match one:
                case ast.Assign([target], value) if value in calls and _names_of(target)[position:][:1] == [name]:
                    kept += 1
    return kept > 0 and kept == len(calls)


def _names_of(value: ast.expr | None) -> list[str]:
    """The variables of `a` or `a, b`."""
    if isinstance(value, ast.Tuple):
        return [text_of(one) for one in value.elts]
    return [text_of(value)] if value is not None else []


@functools.lru_cache(maxsize=64)
def _never_called_to_step(source: str, *, is_alone: bool) -> str:
    """The variable of an optimiser that this file never steps, though it resets gradients; empty if there is none.

    The model may reset them, too. With `is_alone=False`, nothing need do so.
    """
    nodes = list(ast.walk(tree_of(source) or ast.Module([], [])))
    imported = {
        name.asname or name.name
        for one in nodes if isinstance(one, ast.ImportFrom) and "optim" in (one.module or "").split(".")
        for name in one.names
    }  # fmt: skip
    made: set[str] = set()
    used: set[tuple[str, str]] = set()
    kept = _under_its_name(nodes)
    for one in nodes:
        match one:
            case ast.Assign(targets=[target], value=value):
                for name, func in _results(target, value):
                    words = _path(func)
                    made.update([name] if "optim" in words or imported & {*words[:1]} else [])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
                used.add((name, attr))
        if isinstance(one, ast.Call) and not _SCHEDULE.search(".".join(_path(one.func))):  # others may call its step
            given = [*one.args, *[keyword.value for keyword in one.keywords]]
            others = [each for each in given if isinstance(each, ast.Name) and each not in kept]
            used.update((each.id, "step") for each in others)
    idle = [one for one in sorted(made) if (one, "step") not in used]
    resets = any(attr == "zero_grad" for _, attr in used)
    return next((one for one in idle if resets or not is_alone), "")


def _results(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The variables that an assignment gives the result of a call, and what it calls."""
    match target, value:
        case ast.Name(id=name), ast.Call(func=func):
            yield name, func
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for one, other in zip(targets, values, strict=False):
                yield from _results(one, other)


def _path(function: ast.expr) -> list[str]:
    """`mt`, `optim` and `SGD` for `mt.optim.SGD`; empty for anything but names with dots between."""
    words: list[str] = []
    while isinstance(function, ast.Attribute):  # a file may nest them deeper than recursion goes
        words.append(function.attr)
        function = function.value
    return [function.id, *reversed(words)] if isinstance(function, ast.Name) else []


def _gradient_before(program: Program, update: UpdateRecord) -> Iterator[tuple[int, BackwardStep]]:
    """The last pass that gave a leaf a gradient before an update and after the one before, and its step for the leaf.

    Nothing if next to nothing came, or the leaf is large.
    """
    leaf, updates = program.recording.tensors[update.tensor], program.updated[update.tensor]
    if math.prod(leaf.shape) > _COMPARED or leaf.node is None:
        return
    least = _TINY * (update.norm or 0.0) / math.sqrt(max(math.prod(leaf.shape), 1))
    earlier = bisect_left(updates, update.passes, key=lambda one: one.passes)
    begin = updates[earlier - 1].passes if earlier else 0
    for index in range(update.passes - 1, begin - 1, -1):
        position = program.positions.get(index)
        step = program.steps[position].get(leaf.node) if position is not None else None
        if position is not None and step is not None:
            if program.sizes.largest(step.grad_after) > least:
                yield position, step
            return


def _idle(program: Program, place: Place, steps: list[tuple[UpdateRecord, int, BackwardStep]]) -> Finding:
    first, position, step = steps[0]
    pass_, what = program.recording.passes[position], expression(program.recording, place)
    names = [program.tensor_name(one.tensor) for one, _, _ in steps if one.passes == first.passes]
    text = headline(
        f"{what} at {at(place)} changes nothing, though {join(names, 3)} {_have(names)} a gradient",
        f"{what} at {at(place)} changes nothing, despite the gradients",
        f"The step at {at(place)} changes nothing, despite the gradients",
    )
    size = program.sizes(step.grad_after)
    number = f", of root mean square {format_number(size.rms, 3)}" if size is not None else ""
    lines = [
        f"{program.pass_name(position).capitalize()} gave {names[0]} a gradient{number}, but {what} left it as it was.",
        f"The same happened in {len({one.passes for one, _, _ in steps})} steps.",
    ]
    remedy = "Reset gradients after the step or before backward, not between the two. Else, lr is 0, or too small."
    if (apart := _apart(program, first)) is not None:
        dtype = program.recording.tensors[first.tensor].dtype
        lines.append(
            f"In {dtype}, numbers as large as those of {names[0]} are {format_number(apart, 2)} apart: an update of "
            "less than half of that is rounded away."
        )
        remedy = f"Keep the parameters in float32, and compute in {dtype} under autocast. {remedy}"
    if _comes_first(place, pass_):
        backward = expression(program.recording, pass_.place) or "backward"
        remedy = f"Call {what} after {backward}, and reset gradients before or after both."
    return Finding(
        "no update", "error", text, tuple(lines), remedy, place, position, step.index, step.node, first.tensor,
        (("backward", pass_.place),) if pass_.place is not None else (),
    )  # fmt: skip


def _apart(program: Program, update: UpdateRecord) -> float | None:
    """The distance between neighbouring numbers of a leaf's size, if its dtype has few digits."""
    tensor = program.recording.tensors[update.tensor]
    digits, size = _DIGITS.get(tensor.dtype), (update.norm or 0.0) / math.sqrt(max(math.prod(tensor.shape), 1))
    return 2.0 ** (math.floor(math.log2(size)) - digits) if digits is not None and size > 0 else None


def _comes_first(place: Place, pass_: Pass) -> bool:
    """Whether the update stands before the call of backward in the same function."""
    other = pass_.place or place
    return (place.file, place.function) == (other.file, other.function) and place.line < other.line


def _have(names: list[str]) -> str:
    return "has" if len(set(names)) == 1 else "have"
