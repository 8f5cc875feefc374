"""Gradients of a loss that a GradScaler has multiplied, which an optimiser uses without dividing them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.grad_fields import CLIPS, norm_of_gradients
from microtape.recording.findings.training.steps import is_scaler, optimizer_at, scaled_step
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Pass, Place, UpdateRecord
from microtape.recording.model.source import expression, source_lines

_BY_HAND = re.compile(r"\.grad\b|unscale|grad_scale")  # named by what divides gradients without the scaler's step


def steps_without_scaler(program: Program) -> Iterator[Finding]:
    """One finding for an optimiser that is called to step itself after the backward of a scaled loss.

    Not if the program may have divided the gradients in another way.
    """
    recording, seen = program.recording, set[Place]()
    if not any(".scale(" in one for one in recording.sources.values()):
        return
    for one in recording.updates:
        position = _pass_before(program, one)
        if position is None or one.place is None or one.place in seen or not one.change:
            continue
        seen.add(one.place)
        pass_ = recording.passes[position]
        scaler, scale = _scaler(program, pass_), scale_of(program, pass_)
        is_plain = optimizer_at(recording, one.place) and not scaled_step(recording, one.place)
        if scaler and scale and is_plain and not _divides_by_hand(program, one.place, pass_.place):
            yield _finding(program, position, one.place, scaler, scale)
            return


def scale_of(program: Program, pass_: Pass) -> str | None:
    """By what a GradScaler has multiplied the loss; None if it has not."""
    root = pass_.roots[0].node if pass_.roots else None
    node = program.node(root) if root is not None else None
    if node is None or ".scale(" not in expression(program.recording, node.place):
        return None
    values = [program.recording.value(ref) for ref in (node.outputs[0], *(one.ref for one in node.operands)) if ref]
    numbers = [float(one.item()) for one in values if isinstance(one, np.ndarray) and one.size == 1]
    if not program.does(node, "mul") or len(numbers) < 2 or not all(map(math.isfinite, numbers)) or not numbers[1]:
        return None
    return format_number(numbers[0] / numbers[1], 6) if abs(numbers[0]) > abs(numbers[1]) else None


def _divides_by_hand(program: Program, *places: Place | None) -> bool:
    """Whether the files of these lines name what a program uses that divides gradients itself."""
    texts = [program.recording.sources.get(one.file, "") for one in places if one is not None]
    return any(_BY_HAND.search(one) for one in texts)


def _pass_before(program: Program, update: UpdateRecord) -> int | None:
    """The position of the last pass before an update that gave the leaf a gradient."""
    passes, way = program.recording.passes, program.accumulations.get(update.tensor, ())
    return next((one for one, _ in reversed(way) if passes[one].index < update.passes), None)


def _scaler(program: Program, pass_: Pass) -> str:
    """The variable of the GradScaler that has multiplied the loss; empty if it is not known."""
    root = pass_.roots[0].node if pass_.roots else None
    text = expression(program.recording, program.node(root).place) if root is not None else ""
    name = text.partition(".scale(")[0]
    return name if name and is_scaler(program.recording, name) else ""


def _finding(program: Program, position: int, step: Place, scaler: str, scale: str) -> Finding:
    recording, pass_ = program.recording, program.recording.passes[position]
    stepped, optimizer = expression(recording, step), optimizer_at(recording, step)
    norm, clip = format_number(norm_of_gradients(program, pass_), 3), _clip_between(program, pass_, step)
    lines = [
        f"The loss was multiplied by {scale}, and so is every gradient: after {program.pass_name(position)}, their "
        f"norm was {norm}.",
        f"{stepped} uses them as they are{f', and {clip} clips them so' if clip else ''}; {scaler}.step({optimizer}) "
        f"divides them by {scale} first.",
    ]
    remedy = f"Call {scaler}.step({optimizer}) and {scaler}.update() in place of {stepped}"
    remedy += f", and {scaler}.unscale_({optimizer}) before {clip}." if clip else "."
    text = headline(
        f"{stepped} at {at(step)} uses gradients that are scaled by {scale}",
        f"{stepped} uses gradients that are scaled by {scale}",
        f"The step at {at(step)} uses gradients that are scaled",
    )
    others = (("backward", pass_.place),) if pass_.place is not None else ()
    return Finding(
        "clipping" if clip else "large update", "warning", text, tuple(lines), remedy, step, position, others=others
    )


def _clip_between(program: Program, pass_: Pass, step: Place) -> str:
    """The function that clips gradients between backward and a step in the same file; empty if none does."""
    if pass_.place is None or pass_.place.file != step.file:
        return ""
    between = "\n".join(source_lines(program.recording, step.file)[pass_.place.end_line : step.line])
    return next((one for one in CLIPS if one in between), "")
