"""What passes and updates do to the `.grad` of leaves: what they add, what is used, what is left."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from microtape.recording.findings.program import Program
from microtape.recording.findings.training.kept_gradients import puts_gradients
from microtape.recording.model.formatting import digits_of_sum, format_number
from microtape.recording.model.model import BackwardStep, Pass, Place, Recording, UpdateRecord, Value
from microtape.recording.model.source import expression, function_around, tree_of
from microtape.recording.model.summary import is_unread

CLIPS = ("clip_grad_norm_", "clip_grad_value_")
_MAKE_SMALLER = ("clip_grad", "GradScaler")  # what divides gradients between a pass and the step
_ROUNDED = 1e-6


def learned(recording: Recording) -> frozenset[int]:
    """The leaves whose updates may use their gradients.

    If a gradient is named where some leaves are updated, those that are only updated elsewhere, without naming one, are
    not learned: such as the parameters of a teacher, which are an average of its student's.
    """
    updates = recording.updates
    named = {one.tensor for one in updates if one.place is None or _names_a_gradient(recording, one.place)}
    return frozenset(named or (one.tensor for one in updates))


def _names_a_gradient(recording: Recording, place: Place) -> bool:
    """Whether a line is the step of an optimiser, or stands in a function, or a statement of a module, with `.grad`.

    What is loaded into a network comes from another one, whatever stands around it.
    """
    source, written = recording.sources.get(place.file, ""), expression(recording, place)
    if ".load_state_dict(" in written:
        return False
    return ".step(" in written or _has_a_gradient_around(source, place.line)


@functools.lru_cache(maxsize=64)
def _has_a_gradient_around(source: str, line: int) -> bool:
    tree = tree_of(source) or ast.Module([], [])
    statements = [one for one in tree.body if one.lineno <= line <= (one.end_lineno or one.lineno)]
    innermost = function_around(source, line) or next(iter(statements), tree)
    return any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in ast.walk(innermost))


def updates_between(program: Program, leaf: int, earlier: int, later: int) -> Sequence[UpdateRecord]:
    """The updates of a leaf between two passes, by their positions."""
    first, last = program.recording.passes[earlier].index, program.recording.passes[later].index
    return [one for one in program.updated.get(leaf, ()) if first < one.passes <= last]


def is_added(before: BackwardStep, step: BackwardStep, is_kept: Callable[[Value, Value], bool]) -> bool:
    """Whether a step adds to what another one has left in .grad."""
    if before.grad_after is None or step.grad_before is None:
        return False
    return is_kept(before.grad_after, step.grad_before)


def is_left(
    program: Program, way: Sequence[tuple[int, BackwardStep]], number: int, is_kept: Callable[[Value, Value], bool]
) -> bool:
    """Whether a step of a leaf adds to what the step before it has left; `way` are all of them, with their passes.

    A pass between the two may have been forgotten. If any pass gives just what is there, that one may have come after a
    reset: the bias of a critic whose loss is a mean gets the same from each.
    """
    (earlier, before), (position, step) = way[number - 1], way[number]
    if not is_added(before, step, is_kept):
        return False
    passes, there = program.recording.passes, step.grad_before
    if passes[position].index - passes[earlier].index == position - earlier or there is None:
        return True
    given = (next(iter(one.grad_outputs), None) for _, one in way)
    return not any(one is not None and is_kept(one, there) for one in given)


def is_used(
    program: Program, leaf: int, ahead: Iterable[tuple[int, BackwardStep]], is_kept: Callable[[Value, Value], bool]
) -> bool | None:
    """Whether an update uses .grad before it is reset; `ahead` are this step of the leaf and the later ones.

    None if the recording ends before either happens, as it does after the last of several batches. A program that puts
    gradients of its own into .grad may do so before the update: then it has used only what is still there afterwards.
    """
    is_put = puts_gradients(program)
    now: tuple[int, BackwardStep] | None = None
    for position, step in ahead:
        if now is not None and updates_between(program, leaf, now[0], position):
            return not is_put or is_added(now[1], step, is_kept)
        if now is not None and not is_added(now[1], step, is_kept):
            return False
        now = position, step
    updates, passes = program.updated.get(leaf, ()), program.recording.passes
    is_updated = now is not None and any(passes[now[0]].index < one.passes for one in updates)
    return (not is_put) if is_updated else None


def kept_by(program: Program) -> Callable[[Value, Value], bool]:
    """Whether `.grad` is what it was, as this program may have it."""
    text = "".join(program.recording.sources.values())
    return _same_or_smaller if any(one in text for one in _MAKE_SMALLER) else _same


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    return one == other and not is_unread(one)


def _same_or_smaller(before: Value, now: Value) -> bool:
    """Whether .grad is what it was, or that scaled down or cut off: by `clip_grad_norm_`, or the step of a scaler."""
    if _same(before, now):
        return True
    if not (isinstance(before, np.ndarray) and isinstance(now, np.ndarray) and before.shape == now.shape and now.any()):
        return False
    most, most_before = np.abs(now).max(), np.abs(before).max()
    scaled, cut_off = before * (most / most_before), np.clip(before, -most, most)
    is_scaled = np.allclose(now, scaled, rtol=1e-3, atol=_ROUNDED * most)
    return bool(most < most_before and (is_scaled or np.array_equal(now, cut_off)))


def told_addition(program: Program, name: str, position: int, step: BackwardStep) -> str:
    """The sentence that a pass adds to the .grad of the leaf of this name, with the sum."""
    return f"{program.pass_name(position).capitalize()} adds to {name}.grad: {told_sum(program, step)}."


def told_sum(program: Program, step: BackwardStep) -> str:
    """The sum in .grad, as numbers for a scalar, else by the sizes."""
    values = step.grad_before, next(iter(step.grad_outputs), None), step.grad_after
    if all(isinstance(one, np.ndarray) and one.size == 1 for one in values):
        before, term, after = (one.reshape(()) for one in values if isinstance(one, np.ndarray))
        summed = format_number(after, digits_of_sum(after, before, term))
        return f"{format_number(before)} + {format_number(term)} = {summed}"
    sizes = [size.rms if (size := program.sizes(one)) is not None else 0.0 for one in values]
    old, new, total = sizes
    summed = format_number(total, digits_of_sum(total, old, new))
    return f"root mean square {format_number(old)} before, {format_number(new)} new, {summed} afterwards"


def norm_of_gradients(program: Program, pass_: Pass) -> float:
    """The norm of all leaves' gradients together, after a pass."""
    squares = 0.0
    for step in program.leaf_steps(pass_):
        size = program.sizes(step.grad_after)
        if size is not None and step.grad_after is not None:
            squares += size.rms**2 * math.prod(step.grad_after.shape)
    return math.sqrt(squares)
