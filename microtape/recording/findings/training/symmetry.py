"""Units of a layer that began with the same weights: they get the same gradients, and stay one unit for ever."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.gradients.zeros import VIEWS
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, NodeRecord, TensorRecord, Value

_LAYERS = ("linear", "addmm", "mm", "matmul", "bmm", "baddbmm", "convolution", "conv1d", "conv2d")
_ROUNDING = 1e-5  # of the largest number
_FEWEST = 2  # passes, between which the weight was updated


def identical_units(program: Program) -> Iterator[Finding]:
    """One finding for each weight whose units compute the same numbers and get the same gradients in every pass."""
    if len(program.recording.passes) < _FEWEST:
        return
    for tensor, updates in program.updated.items():
        weight = program.recording.tensors[tensor]
        if len(weight.shape) > 1 and any(one.change for one in updates) and _may_be_alike(program, weight):
            found = _while_the_same(program, weight)
            if found and len({position for position, _ in found}) >= _FEWEST:
                yield _finding(program, weight, *found[-1])


def _may_be_alike(program: Program, weight: TensorRecord) -> bool:
    """Whether a weight was the same along one of its axes when it was first used; of a large one nobody knows."""
    users = program.users(weight.node)
    refs = [ref for ref in operand_refs(program.node(users[0])) if ref.tensor == weight.id] if users else []
    first = program.recording.value(refs[0]) if refs else None
    if not isinstance(first, np.ndarray):
        return True
    return first.size > 0 and any(_is_constant(first, axis) for axis, side in enumerate(first.shape) if side > 1)


def _while_the_same(program: Program, weight: TensorRecord) -> list[tuple[int, BackwardStep]]:
    """The steps of the layers with this weight; none if the units of one differ."""
    found = []
    for node in _layers(program, weight.node):
        for position, step in program.steps_of(node.id):
            if not _are_same(program, node, step):
                return []
            found.append((position, step))
    return found


def _layers(program: Program, number: int | None) -> Iterator[NodeRecord]:
    """The layers that multiply with what a node has computed, or with a view of it."""
    for node in map(program.node, program.users(number)):
        if node.name in VIEWS:  # which may be part of a call of a layer
            yield from _layers(program, node.id)
        elif program.does(node, *_LAYERS):
            yield node


def _are_same(program: Program, node: NodeRecord, step: BackwardStep) -> bool:
    """Whether all units have the same value for each example, and the same gradient, which is not zero everywhere."""
    values, gradient = program.results(node)[:1], step.grad_outputs[0]
    axis = 1 if program.does(node, "convolution", "conv1d", "conv2d") else -1
    return bool(values) and program.sizes.largest(gradient) > 0 and all(
        isinstance(one, np.ndarray) and one.ndim > 1 and one.shape[axis] > 1 and _is_constant(one, axis)
        for one in (values[0], gradient)
    )  # fmt: skip


def _is_constant(value: Value, axis: int) -> bool:
    """Whether all are the same along an axis, within the rounding of kernels that sum in several orders."""
    return isinstance(value, np.ndarray) and bool(np.ptp(value, axis=axis).max() <= _ROUNDING * np.abs(value).max())


def _finding(program: Program, weight: TensorRecord, position: int, step: BackwardStep) -> Finding:
    node, name = program.node(step.node), program.tensor_name(weight.id)
    values = program.results(node)[0]
    assert isinstance(values, np.ndarray)
    units = values.shape[1 if program.does(node, "convolution", "conv1d", "conv2d") else -1]
    text = headline(
        f"All {units} units of {name} are the same, and stay so: {at(node.place)}",
        f"All {units} units at {at(node.place)} are the same, and stay so",
    )
    received = format_number(program.sizes.largest(step.grad_outputs[0]))
    lines = (
        f"In every pass, each of them computes the same number for an example, and gets the same gradient: up to "
        f"{received} in {program.pass_name(position)}.",
        "So each update changes them alike: the layer learns no more than one unit would.",
    )
    remedy = f"Start {name} at small random numbers, such as those of a new layer or of nn.init."
    return Finding(
        "identical units", "warning", text, lines, remedy, node.place, position, step.index, node.id, weight.id
    )
