"""The tangents of an operation's outputs from those of its operands.

Note [One formula for both modes]
  No operation has a second formula. Its backward formula g ↦ v is linear in g; as a matrix it is the transpose of the
  one that forward mode needs. The tangent is therefore computed by the double-backward trick, one operation at a time:
  record the formula applied to any g, then run backward through it from v to g with the operands' tangents as first
  gradients; the result is the tangent of the output. Views are linear: the tangent of a view is the same view of the
  tangent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.tape.fitting import conjugate, fit_gradient
from microtape.tape.grad_mode import GradMode, mode
from microtape.tape.node import NO_EDGE, AccumulateGrad, Node
from microtape.tape.operation import Operation, save
from microtape.tape.saved import SavedTensor
from microtape.tape.tensor_state import INFERENCE, TensorState, new_tensor
from microtape.tape.views import MultiViewOperation, ViewOperation, view_call
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor

# In place of the edge of an operand that has a tangent: a leaf's, or `check_unchanged` took it for a detached result.
_WANTED = (object.__new__(AccumulateGrad), 0)


def before_writing(node: Node, operands: Sequence[Any], written: TensorState) -> Sequence[TensorState]:
    """The operands as they were before the operation overwrote `written`; the first is a copy of its old value."""
    before, *others = operands
    found = [before]
    for i, operand in enumerate(others, 1):
        if operand is written:
            operand = before
        elif operand.version is written.version and np.may_share_memory(operand.array, written.array):
            now = written.array.copy()
            written.array[...] = before.array
            edge = node.next_edges[i] if node.next_nodes else NO_EDGE
            operand = new_tensor(type(operand), operand.array.copy(), edge)
            written.array[...] = now
        found.append(operand)
    return found


def before_overwriting(tangents: Sequence[Any]) -> list[Any]:
    """The tangents, those copied that share memory with the first, which the operation overwrites.

    The new tangent can then be differentiated. NB: torch copies the first alone, and not for every operation.
    """
    written = tangents[0].array
    return [one.clone() if one is not None and np.may_share_memory(one.array, written) else one for one in tangents]


def apart(tangent: Any, tangents: Sequence[Any]) -> Any:
    """The tangent, copied if it shares memory with one of `tangents`: a write to either must not change the other."""
    given = [one.array for one in tangents if one is not None]
    shared = tangent is not None and any([np.may_share_memory(array, tangent.array) for array in given])
    return tangent.clone() if shared else tangent


def tangents_of_outputs(
    node: Node, operands: Sequence[Any], tangents: Sequence[Any], outputs: Sequence[Any]
) -> Sequence[Any]:
    """The tangents of the outputs from those of the operands; None for an output whose dtype has no derivative."""
    if isinstance(node, ViewOperation):
        return [view_call(tangents[0], type(node), *node.parameters())]
    if isinstance(node, MultiViewOperation):
        steps = node.parts(operands[0].shape)
        return [view_call(tangents[0], type(step), *step.parameters()) for step in steps]
    assert isinstance(node, Operation)
    node = _prepared(node, operands, tangents, outputs)
    seeds = [
        new_tensor(Tensor, np.zeros_like(one.array), None) if is_differentiable(one.array.dtype) else None
        for one in outputs
    ]
    with GradMode(True):
        given: Any = seeds if node.multi_output else seeds[0]
        both = node.multi_output or (given is not None and given.dtype.kind == "c")  # as the engine does
        returned: Any = []
        if any(seed is not None for seed in seeds):
            returned = node.apply(conjugate(given) if both else given, True)
            returned = conjugate(list(returned)) if both else returned
        pairs = [
            (fit_gradient(node, i, value, operand.array.shape, operand.array.dtype), tangent)
            for i, (value, operand, tangent) in enumerate(zip(returned, operands, tangents, strict=False))
            if tangent is not None and value is not None
        ]
    pairs = [(value, tangent.to(value.dtype)) for value, tangent in pairs if value.requires_grad]
    wanted = [seed for seed in seeds if seed is not None]
    found: Iterable[Any] = [None] * len(wanted)
    if pairs:
        values, directions = zip(*pairs, strict=True)
        found = grad(values, wanted, directions, create_graph=mode.enabled, allow_unused=True)
    found = iter(found)
    results = [None if seed is None else _or_zeros(next(found), seed) for seed in seeds]
    if node.averages and not all([one.array.size for one in operands]):  # 0 / 0, of which double backward sees the 0
        with np.errstate(invalid="ignore"):
            results = [one + output.array * 0 for one, output in zip(results, outputs, strict=True)]
    return results


def _prepared(node: Operation, operands: Sequence[Any], tangents: Sequence[Any], outputs: Sequence[Any]) -> Operation:
    """A copy of `node` that has saved the values that its formula needs for the operands with tangents."""
    node = node.twin()
    operands, outputs = [*map(_with_history, operands)], [*map(_with_history, outputs)]
    mask = tuple(tangent is not None for tangent in tangents)
    node.next_edges = tuple(_WANTED if wanted else NO_EDGE for wanted in mask)
    node.saved = ()
    if hasattr(node, "versions"):
        del node.versions  # they belong to the tensors that the original has saved
    if node.saved_names:
        save(node, node.save_plans[mask], operands, *outputs)
        kept: Sequence[Any] = node.saved or ()
        node.saved = tuple(outputs[one.output_nr] if isinstance(one, SavedTensor) else one for one in kept)
    return node


def _with_history(tensor: TensorState) -> TensorState:
    """The tensor, or one without history in its place if the tangent will have none.

    Its history must not be asked for then: a view that was made in `no_grad` refuses, once it has been written to.
    """
    return tensor if mode.enabled and tensor.version is not INFERENCE else new_tensor(type(tensor), tensor.array)


def _or_zeros(tangent: Any, like: Tensor) -> Any:
    """The tangent, or zeros in the shape of `like` if the output does not depend on an operand with a tangent."""
    return new_tensor(Tensor, np.zeros_like(like.array)) if tangent is None else tangent
