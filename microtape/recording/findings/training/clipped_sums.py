"""Gradients that are clipped after each part of a sum, where one step is to use the whole sum."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import islice

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.clipping import Calls, called, calls_around, name_of, sums_up
from microtape.recording.findings.training.grad_fields import CLIPS, is_added, kept_by, norm_of_gradients
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Place
from microtape.recording.model.source import function_around, loop_around, place_in, text_of, tree_of

_MOST_LOOKS = 8  # pairs of passes: the first sums of a round are as a rule the ones that are cut
_CUT = 0.99  # the part of the norm that is left, at most


def clipped_in_parts(program: Program) -> Iterator[Finding]:
    """A finding for a call that clips after each of several passes, if it has cut what the next one adds to.

    The loop around it has no step that runs each time. What shows it is a norm that is smaller when the next pass
    begins, without an update in between.
    """
    recording = program.recording
    if not any(name in text for name in CLIPS for text in recording.sources.values()):
        return
    for place in dict.fromkeys(one.place for one in recording.passes):
        source = recording.sources.get(place.file, "") if place is not None else ""
        loop = loop_around(source, place.line) if place is not None else None
        if place is None or loop is None or _starts_inside(source, place.line, loop[0]):
            continue
        around = calls_around(source, place.line, place.line)
        clips = [one for one in around.named(*CLIPS, beside=place.line) if one.lineno > place.line]
        step = _later_step(source, around, place)
        if len(clips) != 1 or len(around.named("backward", beside=place.line)) != 1 or step is None:
            continue
        for position in islice(sums_up(program, place), _MOST_LOOKS):
            if (left := _left(program, position)) is not None:
                clip = place_in(recording, place.file, clips[0], place.function)
                yield _finding(program, position, clip, left, step)
                return


def _starts_inside(source: str, line: int, loop: int) -> bool:
    """Whether the function around a line is defined in the loop, which then does not run the line itself."""
    function = function_around(source, line)
    return function is not None and function.lineno > loop


def _later_step(source: str, around: Calls, backward: Place) -> ast.Call | None:
    """The step that does not run after each backward: in an `if` of its loop, or after it; None if there is none."""
    if any(_is_step(one) for one in around.named("step", beside=backward.line)):
        return None
    function = function_around(source, backward.line)
    later = [
        one for one in ast.walk(tree_of(source) or ast.Module([], []))
        if isinstance(one, ast.Call) and _is_step(one) and one.lineno > backward.line
        and function_around(source, one.lineno) is function
    ]  # fmt: skip
    return min(later, key=lambda one: one.lineno, default=None)


def _is_step(call: ast.Call) -> bool:
    return called(call) == "step" and "sched" not in text_of(call.func).lower()


def _left(program: Program, position: int) -> float | None:
    """The norm of what is left of all gradients of a pass when the next one adds to them; None if nothing was cut."""
    is_kept, squares = kept_by(program), 0.0
    after = program.steps[position + 1]
    for step in program.leaf_steps(program.recording.passes[position]):
        later = after.get(step.node)
        if later is None or later.grad_before is None or not is_added(step, later, is_kept):
            return None
        size = program.sizes(later.grad_before)
        if size is not None:
            squares += size.rms**2 * math.prod(later.grad_before.shape)
    norm = norm_of_gradients(program, program.recording.passes[position])
    left = math.sqrt(squares)
    return left if 0 < left < _CUT * norm else None


def _finding(program: Program, position: int, clip: Place, left: float, step: ast.Call) -> Finding:
    name, pass_ = name_of(program, clip), program.recording.passes[position]
    first, second = program.pass_name(position), program.pass_name(position + 1)
    norm, what = format_number(norm_of_gradients(program, pass_), 3), text_of(step)
    where = place_in(program.recording, clip.file, step, clip.function)
    text = headline(
        f"{name} at {at(clip)} clips after each part of a sum, not the whole sum",
        f"{name} clips after each part of a sum, not the whole sum",
    )
    lines = (
        f"After {first}, the norm of all gradients was {norm}; {name} cut it to {format_number(left, 3)} before "
        f"{second} added to it.",
        f"{what} at {at(where)} uses the sum later: earlier parts of it were cut more often than the last one.",
    )
    remedy = f"Clip once for each step: right before {what}, where the sum is complete."
    others = (("updated", where), *((("backward", pass_.place),) if pass_.place is not None else ()))
    return Finding("clipping", "warning", text, lines, remedy, clip, position, others=others)
