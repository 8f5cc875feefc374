"""Gradients that are clipped where it does not help: after the step, before backward, or while they are scaled."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import CLIPS, norm_of_gradients
from microtape.recording.findings.training.scaled import scale_of
from microtape.recording.findings.training.steps import scaled_step
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Pass, Place, UpdateRecord
from microtape.recording.model.source import expression, function_around, loop_around, place_in, text_of, tree_of
from microtape.recording.model.summary import is_zero

_RESETS = ("zero_grad", "zero_")


class _Clip(NamedTuple):
    """A call that clips, and the call in the loop of the step by which it runs: itself, or that of a function."""

    call: ast.Call
    runs_by: ast.Call


class Calls(NamedTuple):
    """The calls, by the name of what is called, in a loop or function, and the branches of its `if` statements.

    A branch that does nothing but clip is left out: it asks whether to clip at all.
    """

    calls: tuple[tuple[str, ast.Call], ...]
    branches: tuple[range, ...]  # by lines

    def named(self, *names: str, beside: int) -> list[ast.Call]:
        """Those of these names, or all, that run whenever the line `beside` does."""
        several = [call for name, call in self.calls if not names or name in names]
        return [call for call in several if self._runs_with(call.lineno, beside)]

    def has(self, *names: str) -> bool:
        """Whether there is a call of one of these names."""
        return any(name in names for name, _ in self.calls)

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
        source = recording.sources.get(step.file, "")
        around = calls_around(source, pass_.place.line, step.line)
        clips = [_Clip(one, one) for one in around.named(*CLIPS, beside=step.line)]
        clips = clips or [one for one in _in_functions(source) if one.runs_by in around.named(beside=step.line)]
        if len(clips) != 1 or len(around.named("backward", beside=step.line)) != 1:
            continue
        position = _last_of_round(program, pass_.place, update)
        found = _told(program, position, clips[0], step, around)
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
def calls_around(source: str, line: int, last: int) -> Calls:
    """What the innermost loop or function around two lines calls."""
    function = function_around(source, line)
    whole = (function.lineno, function.end_lineno or function.lineno) if function is not None else (math.inf, 0)
    loop = loop_around(source, line, last)
    first, last = loop if loop is not None and (function is None or loop[0] >= whole[0]) else whole
    nodes = [
        one for one in ast.walk(tree_of(source) or ast.Module([], []))
        if isinstance(one, ast.Call | ast.If) and first <= one.lineno <= last
    ]  # fmt: skip
    return _calls(nodes)


def _calls(nodes: Sequence[ast.AST]) -> Calls:
    named = [(called(one), one) for one in nodes if isinstance(one, ast.Call)]
    branches = [body for one in nodes if isinstance(one, ast.If) for body in (one.body, one.orelse) if body]
    lines = [
        range(one[0].lineno, (one[-1].end_lineno or one[-1].lineno) + 1) for one in branches if not _only_clips(one)
    ]
    return Calls(tuple(named), tuple(lines))


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _only_clips(body: Sequence[ast.stmt]) -> bool:
    values = [one.value for one in body if isinstance(one, ast.Expr | ast.Assign)]
    calls = [one for one in values if isinstance(one, ast.Call) and called(one) in (*CLIPS, "unscale_")]
    return len(calls) == len(body)


@functools.lru_cache(maxsize=64)
def _in_functions(source: str) -> Sequence[_Clip]:
    """The calls of functions that clip whenever they run, and have no backward and no step of their own."""
    tree = tree_of(source) or ast.Module([], [])
    every = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    methods = {id(one) for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for one in each.body}
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    names = [one.name for one in functions]
    found = []
    for function in functions:
        inside = [*ast.walk(function)]
        own = _calls(inside)
        clips = own.named(*CLIPS, beside=function.lineno)
        if len(clips) != 1 or own.has("backward", "step", *_RESETS) or names.count(function.name) > 1:
            continue
        if any(
            isinstance(one, ast.Return | ast.FunctionDef) and one.lineno < clips[0].lineno
            for one in inside
            if one is not function
        ):
            continue
        wanted = f"self.{function.name}" if id(function) in methods else function.name  # others may have such a method
        found += [_Clip(clips[0], one) for one in every if text_of(one.func) == wanted]
    return found


def _told(program: Program, position: int, found: _Clip, step: Place, around: Calls) -> Finding | None:
    pass_ = program.recording.passes[position]
    assert pass_.place is not None
    clip = place_in(program.recording, step.file, found.call, step.function if found.call is found.runs_by else "")
    line = found.runs_by.lineno
    resets = [one.lineno for one in around.named(*_RESETS, beside=step.line)]
    stepped, backward = expression(program.recording, step), expression(program.recording, pass_.place)
    name, norm = name_of(program, clip), format_number(norm_of_gradients(program, pass_), 3)
    used = f"After {program.pass_name(position)}, the norm of all gradients was {norm} when {stepped} used them."
    remedy = f"Clip between {backward} and {stepped}."
    lines: tuple[str, ...]
    if line > step.line and (resets or (around.has(*_RESETS) and _begins_anew(program, position))):
        texts = (f"{name} at {at(clip)} clips what {stepped} has used already", f"{name} comes after the step")
        lines = (used, f"What {name} changes afterwards is reset before the next step.")
    elif _comes_before(program, line, pass_.place, step) and any(
        not pass_.place.line < one < step.line for one in resets
    ):
        texts = (f"{name} at {at(clip)} finds nothing to clip: backward comes later", f"{name} comes before backward")
        lines = (used, f"When {name} runs, .grad is None, zero, or what an earlier step has used.")
    elif pass_.place.line < line < step.line and (scale := scale_of(program, pass_)) is not None:
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
    if found.call is not found.runs_by:
        by = place_in(program.recording, step.file, found.runs_by, step.function)
        lines = (*lines, f"It is called by {text_of(found.runs_by.func)} at {at(by)}.")
    others = (("backward", pass_.place), ("updated", step))
    return Finding("clipping", "warning", headline(*texts), lines, remedy, clip, position, others=others)


def _begins_anew(program: Program, position: int) -> bool:
    """Whether the next pass from this line found no gradient left: a reset in a branch of its own has run between."""
    passes = program.recording.passes
    following = next((one for one in passes[position + 1 :] if one.place == passes[position].place), None)
    return following is not None and all(map(is_zero, following.grads.values()))


def _comes_before(program: Program, line: int, backward: Place, step: Place) -> bool:
    """Whether a clip precedes the first backward of a round: one in a loop with backward alone clips what is summed."""
    inner = loop_around(program.recording.sources[step.file], backward.line)
    is_inside = inner is not None and inner[0] <= line
    if line >= backward.line or (is_inside and inner is not None and step.line > inner[1]):
        return False
    return not is_inside or not any(sums_up(program, backward))


def sums_up(program: Program, backward: Place) -> Iterator[int]:
    """The positions of passes from a line after which another one came from there, before any update."""
    updated = {one.passes for one in program.recording.updates if one.change != 0}
    for position, (one, other) in enumerate(pairwise(program.recording.passes)):
        if one.place == other.place == backward and other.index == one.index + 1 and other.index not in updated:
            yield position


def name_of(program: Program, clip: Place) -> str:
    """The name of the function, without its module."""
    return expression(program.recording, clip).partition("(")[0].rpartition(".")[2]
