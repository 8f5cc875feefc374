"""Gradients of a wrong shape in a recording that an engine of the user's own has written.

Our engine and PyTorch refuse such a gradient, so no recording of theirs has one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import BackwardStep, Pass, Value
from microtape.recording.model.options import OWN_ENGINE

Shape = tuple[int, ...]


def wrong_shapes(program: Program) -> Iterator[Finding]:
    """The first gradient whose shape is not that of its number: it makes the shapes behind it wrong as well."""
    if not program.recording.options.get(OWN_ENGINE):
        return
    for position, pass_ in enumerate(program.recording.passes):
        if _ends_well(program, pass_):
            continue
        for step in pass_.steps:
            if (found := _wrong_in(program, position, step)) is not None:
                yield found
                return


def _ends_well(program: Program, pass_: Pass) -> bool:
    """Whether each leaf that was reached has a `.grad` of the right shape: an engine may sum when it stores."""
    kept = {step.node: step.grad_after for step in pass_.steps if step.grad_after is not None}
    reached = {one.node for step in pass_.steps for one in step.deliveries if _is_leaf(program, one.node)}
    return reached <= kept.keys() and all(_fits(program, node, grad) for node, grad in kept.items())


def _wrong_in(program: Program, position: int, step: BackwardStep) -> Finding | None:
    """What a step delivers, or stores, in a wrong shape."""
    for one in step.deliveries:
        shape, wanted = _shape(one.term), program.shape_of(program.node(one.node))
        if shape is not None and wanted is not None and not _spreads(shape, wanted):
            return _delivered(program, position, step, one.node, shape, wanted)
    shape, wanted = _shape(step.grad_after), program.shape_of(program.node(step.node))
    if shape is not None and wanted is not None and not _fits(program, step.node, step.grad_after):
        return _stored(program, position, step, shape, wanted)
    return None


def _delivered(program: Program, position: int, step: BackwardStep, node: int, shape: Shape, wanted: Shape) -> Finding:
    name, sender, has = program.name(node), program.name(step.node), _words(wanted)
    if _spreads(wanted, shape):
        why = f"{name} was stretched from {has} to {_words(shape)}, so it was used several times."
        remedy = f"Sum what {sender} sends to {name} over what was stretched, down to {has}, before you add it."
    elif shape == wanted[::-1]:
        why = f"That is the shape of {name}, transposed."
        remedy = f"In the rule for {sender}, look at the order of the factors, and at which one is transposed."
    else:
        why = f"A gradient has one number for each number of {name}."
        remedy = f"Look at the rule for {sender}: what it sends to {name} needs the shape of {name}."
    return _finding(
        program, position, step, node,
        (f"{sender} sends {name} a gradient that {_is(shape)}, but {name} {_is(wanted)}",
         f"What arrives at {name} {_is(shape)}, but {name} {_is(wanted)}",
         f"The gradient that arrives at {name} has a wrong shape"),
        f"{sender} sends {name} a gradient that {_is(shape)}. {why}", remedy,
    )  # fmt: skip


def _stored(program: Program, position: int, step: BackwardStep, shape: Shape, wanted: Shape) -> Finding:
    name = program.name(step.node)
    return _finding(
        program, position, step, step.node,
        (f"{name}.grad {_is(shape)}, but {name} {_is(wanted)}", f"{name}.grad has a wrong shape"),
        f"A gradient has one number for each number of {name}, also where they are all the same.",
        f"Give {name}.grad the shape of {name}: sum what was stretched, and repeat what one number stands for.",
    )  # fmt: skip


def _finding(
    program: Program, position: int, step: BackwardStep, node: int, headlines: tuple[str, ...], line: str, remedy: str
) -> Finding:
    place = program.node(step.node).place or program.recording.passes[position].place
    return Finding(
        "wrong shape", "error", headline(*headlines), (line,), remedy, place, position, step.index, node,
        program.tensor_of(program.node(node)),
    )  # fmt: skip


def _fits(program: Program, node: int, grad: Value | None) -> bool:
    """Whether a `.grad` has the shape of its number. A single number may be an array or not, as numpy likes."""
    shape, wanted = _shape(grad), program.shape_of(program.node(node))
    return shape is None or wanted is None or shape == wanted or (np.prod(shape) == np.prod(wanted) == 1)


def _spreads(shape: Shape, wanted: Shape) -> bool:
    """Whether numpy spreads an array of this shape to the other one."""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted or np.prod(shape) == np.prod(wanted) == 1
    except ValueError:
        return False


def _is(shape: Shape) -> str:
    return f"has shape {format_shape(shape)}" if shape else "is a single number"


def _words(shape: Shape) -> str:
    return format_shape(shape) if shape else "a single number"


def _shape(value: Value | None) -> Shape | None:
    return None if value is None else tuple(value.shape)


def _is_leaf(program: Program, node: int) -> bool:
    return program.node(node).variable is not None
