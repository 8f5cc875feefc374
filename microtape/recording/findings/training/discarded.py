"""Gradients of several batches that are reset one by one, where one update was to use their sum."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from itertools import pairwise

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.kept_gradients import keeps_gradients, puts_gradients, reset_between
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import BackwardStep, Place, UpdateRecord
from microtape.recording.model.source import expression, tree_of

_FEWEST = 2  # updates
_FEWEST_PASSES = 2  # for each of them


def discarded_gradients(program: Program) -> Iterator[Finding]:
    """A finding if each update follows several passes from one line, and uses the last one's gradient only.

    Their number is always the same, unless the update is after a loop of its own for them: an update may be left out
    now and then. Passes may reach a leaf for the sake of others, as those of a generator reach its critic: from other
    lines, or from the same one in turn, if each is used before the next one begins. An optimiser that calls a function
    for its passes, such as LBFGS, tries several points. A program may keep the gradient of each pass, and put what it
    computes of them into .grad.
    """
    for tensor, updates in program.updated.items():
        node = program.recording.tensors[tensor].node
        passes = list(program.steps_of(node))
        places = {program.recording.passes[i].place for i, _ in passes}
        place = places.pop() if len(places) == 1 else None
        written = [one.place for one in updates if one.change != 0]
        if place is None or len(written) < _FEWEST or not all(_is_apart(program, one, place) for one in written):
            continue
        batches = _batches(program, passes, [one for one in updates if one.change != 0])
        several = [one for one in batches if len(one) >= _FEWEST_PASSES]
        if len(several) < _FEWEST:
            continue
        if len({*map(len, batches)}) > 1 and not all(_is_after_loop(program, one, place) for one in written):
            continue
        if not all(_is_reset_each_time(program, one) for one in several) or _served_others(program, several):
            continue
        if not puts_gradients(program) and not keeps_gradients(program, tensor, place, [one.place for one in updates]):
            yield _finding(program, tensor, several, updates)
            return


def _is_apart(program: Program, written: Place | None, place: Place) -> bool:
    """Whether an update is a statement of its own: in the function of the passes, or a step that runs none of them."""
    if written is None:
        return False
    is_in_function = (written.file, written.function) == (place.file, place.function)
    return is_in_function or expression(program.recording, written).endswith(".step()")


def _is_after_loop(program: Program, written: Place | None, place: Place) -> bool:
    """Whether an update stands after the loop around the passes, in the same function."""
    if written is None or (written.file, written.function) != (place.file, place.function):
        return False
    end = _end_of_loop(program.recording.sources.get(place.file, ""), place.line)
    return end is not None and written.line > end


@functools.lru_cache(maxsize=64)
def _end_of_loop(source: str, line: int) -> int | None:
    """The last line of the innermost loop around a line, if that is a `for` that always runs to its end.

    A loop that is left early may look for a point, or a batch, whose gradient is worth a step.
    """
    loops = [one for one in ast.walk(tree_of(source) or ast.Module([], [])) if isinstance(one, ast.For | ast.While)]
    around = [one for one in loops if one.lineno <= line <= (one.end_lineno or one.lineno)]
    loop = max(around, key=lambda one: one.lineno, default=None)
    if not isinstance(loop, ast.For) or any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop)):
        return None
    return loop.end_lineno


def _batches(
    program: Program, passes: list[tuple[int, BackwardStep]], updates: list[UpdateRecord]
) -> list[list[tuple[int, BackwardStep]]]:
    """The passes before each update."""
    ends = sorted({one.passes for one in updates})
    starts = [-1, *ends]
    indices = [(program.recording.passes[i].index, (i, step)) for i, step in passes]
    return [[one for index, one in indices if first <= index < last] for first, last in zip(starts, ends, strict=False)]


def _is_reset_each_time(program: Program, batch: list[tuple[int, BackwardStep]]) -> bool:
    """Whether .grad was None or zero before each pass but the first, although there was a gradient that it lost."""
    steps = [step for _, step in batch]
    return all(
        program.sizes.largest(lost.grad_after) > 0
        and (after.grad_before is None or program.sizes.is_zero(after.grad_before))
        for lost, after in pairwise(steps)
    )


def _served_others(program: Program, batches: list[list[tuple[int, BackwardStep]]]) -> bool:
    """Whether a leaf of a pass was updated before the next pass of its batch began."""
    changed: dict[int, set[int]] = {}  # by how many passes had begun before
    for one in program.recording.updates:
        if one.change != 0:
            changed.setdefault(one.passes, set()).add(one.tensor)
    passes = program.recording.passes
    for (position, _), (later, _) in (pair for batch in batches for pair in pairwise(batch)):
        between = range(passes[position].index + 1, passes[later].index + 1)
        updated = set().union(*(changed.get(number, ()) for number in between))
        if updated and any(program.node(one.node).variable in updated for one in program.leaf_steps(passes[position])):
            return True
    return False


def _finding(
    program: Program, tensor: int, batches: list[list[tuple[int, BackwardStep]]], updates: Sequence[UpdateRecord]
) -> Finding:
    position, step = batches[0][-1]
    fewest, most = min(map(len, batches)), max(map(len, batches))
    number = str(most) if fewest == most else f"{fewest} to {most}"
    place, name = program.recording.passes[position].place, program.tensor_name(tensor)
    update = next(one for one in updates if one.change != 0)
    lost = "the other is" if most == 2 else "the others are"
    text = headline(
        f"Only the last of {number} gradients of {at(place)} is used: {lost} reset",
        f"Only the last of {number} gradients is used: {lost} reset",
    )
    lines = [
        f"Between two updates, {at(place)} runs {number} times, and {name}.grad is reset before each.",
        f"So their gradients do not add up: {at(update.place)} uses the last one; {lost} computed in vain.",
    ]
    remedy = "Reset gradients once for each update: right after it, not before each backward."
    if place is not None and (reset := reset_between(program, place, update.place)) is not None:
        written, where = expression(program.recording, reset), at(reset)
        lines[0] = f"{lines[0].removesuffix('.')}: by {written} at {where}."
        remedy = f"Reset gradients once for each update, right after it: {written} at {where} comes too often."
    others = (("updated", update.place),) if update.place is not None else ()
    return Finding(
        "no update", "warning", text, tuple(lines), remedy, place, position, step.index, step.node, tensor, others
    )
