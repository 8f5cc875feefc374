"""Gradients that are clipped where it does not help: after the step, before backward, or while they are scaled."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterator
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import CLIPS, norm_of_gradients
from microtape.recording.findings.training.scaled import scale_of
from microtape.recording.findings.training.steps import scaled_step
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Pass, Place, UpdateRecord
from microtape.recording.model.source import expression, function_around, loop_around, place_in, tree_of

_RESETS = ("zero_grad", "zero_")


class _Calls(NamedTuple):
    """The calls, by the name of what is called, in a loop or function, and the branches of its `if` statements."""

    calls: tuple[tuple[str, ast.Call], ...]
    branches: tuple[range, ...]  # by lines

    def named(self, *names: str, beside: int) -> list[ast.Call]:
        """Those of these names that run whenever the line `beside` does."""
        return [call for name, call in self.calls if name in names and self._runs_with(call.lineno, beside)]

    def _runs_with(self, line: int, other: int) -> bool:
        return all(other in one for one in self.branches if line in one)


def clipped_in_vain(program: Program) -> Iterator[Finding]:
    """One finding for a call that clips gradients which the step has used already, that are none, or that are scaled.

    The order is that of the lines, in the loop or function with the only call of `backward` and the step.
    """
    recording = program.recording
    if not any(name in text for name in CLIPS for text in recording.sources.values()):
        return
    seen: set[Place | None] = set()
    for pass_ in recording.passes:
        if pass_.place in seen or not pass_.is_complete:
            continue
        seen.add(pass_.place)
        update = _step_after(program, pass_)
        if pass_.place is None or update is None or (step := update.place) is None:
            continue
        around = _around(recording.sources.get(step.file, ""), pass_.place.line, step.line)
        clips = around.named(*CLIPS, beside=step.line)
        if len(clips) != 1 or len(around.named("backward", beside=step.line)) != 1:
            continue
        position = _last_of_round(program, pass_.place, update)
        found = _told(program, position, place_in(recording, step.file, clips[0], step.function), step, around)
        if found is not None:
            yield found
            return


def _step_after(program: Program, pass_: Pass) -> UpdateRecord | None:
    """The update by the `.step()` after the pass, in the same function."""
    place = pass_.place
    for one in program.recording.updates if place is not None else ():
        if one.passes > pass_.index and one.place is not None and place is not None and one.place.line > place.line:
            is_near = (one.place.file, one.place.function) == (place.file, place.function)
            if is_near and ".step(" in expression(program.recording, one.place):
                return one
    return None


def _last_of_round(program: Program, backward: Place, update: UpdateRecord) -> int:
    """The position of the last pass from a line before an update: several, if the line is in a loop of its own."""
    passes = program.recording.passes
    return max(i for i, one in enumerate(passes) if one.place == backward and one.index < update.passes)


@functools.lru_cache(maxsize=64)
def _around(source: str, line: int, last: int) -> _Calls:
    """What the innermost loop or function around two lines calls."""
    function = function_around(source, line)
    whole = (function.lineno, function.end_lineno or function.lineno) if function is not None else (math.inf, 0)
    loop = loop_around(source, line, last)
    first, last = loop if loop is not None and (function is None or loop[0] >= whole[0]) else whole
    nodes = [
        one for one in ast.walk(tree_of(source) or ast.Module([], []))
        if isinstance(one, ast.Call | ast.If) and first <= one.lineno <= last
    ]  # fmt: skip
    calls = [(one.func, one) for one in nodes if isinstance(one, ast.Call)]
    named = [(f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", ""), one) for f, one in calls]
    branches = [body for one in nodes if isinstance(one, ast.If) for body in (one.body, one.orelse) if body]
    lines = [range(one[0].lineno, (one[-1].end_lineno or one[-1].lineno) + 1) for one in branches]
    return _Calls(tuple(named), tuple(lines))


def _told(program: Program, position: int, clip: Place, step: Place, around: _Calls) -> Finding | None:
    pass_ = program.recording.passes[position]
    assert pass_.place is not None
    resets = [one.lineno for one in around.named(*_RESETS, beside=step.line)]
    stepped, backward = expression(program.recording, step), expression(program.recording, pass_.place)
    name, norm = _name(program, clip), format_number(norm_of_gradients(program, pass_), 3)
    used = f"After {program.pass_name(position)}, the norm of all gradients was {norm} when {stepped} used them."
    remedy = f"Clip between {backward} and {stepped}."
    if clip.line > step.line and resets:
        texts = (f"{name} at {at(clip)} clips what {stepped} has used already", f"{name} comes after the step")
        lines = (used, f"What {name} changes afterwards is reset before the next step.")
    elif _comes_before(program, clip, pass_.place, step) and any(
        not pass_.place.line < one < step.line for one in resets
    ):
        texts = (f"{name} at {at(clip)} finds nothing to clip: backward comes later", f"{name} comes before backward")
        lines = (used, f"When {name} runs, .grad is None, zero, or what an earlier step has used.")
    elif pass_.place.line < clip.line < step.line and (scale := scale_of(program, pass_)) is not None:
        scaled = scaled_step(program.recording, step)
        if scaled is None or "unscale_(" in program.recording.sources[clip.file]:
            return None
        texts = (f"{name} at {at(clip)} clips gradients that are scaled by {scale}", f"{name} clips scaled gradients")
        lines = (
            f"The loss was multiplied by {scale}, and so is every gradient: after {program.pass_name(position)}, their "
            f"norm was {norm}.",
            f"{stepped} divides what is left by {scale}: the update is that much smaller than was meant.",
        )
        remedy = f"Call {scaled[0]}.unscale_({scaled[1]}) before {name}."
    else:
        return None
    others = (("backward", pass_.place), ("updated", step))
    return Finding("clipping", "warning", headline(*texts), lines, remedy, clip, position, others=others)


def _comes_before(program: Program, clip: Place, backward: Place, step: Place) -> bool:
    """Whether a clip precedes the first backward of a round: one in a loop with backward alone clips what is summed."""
    inner = loop_around(program.recording.sources[step.file], backward.line)
    is_inside = inner is not None and inner[0] <= clip.line and step.line > inner[1]
    return clip.line < backward.line and not is_inside


def _name(program: Program, clip: Place) -> str:
    """The name of the function, without its module."""
    return expression(program.recording, clip).partition("(")[0].rpartition(".")[2]
