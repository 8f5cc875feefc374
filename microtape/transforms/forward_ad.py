"""Forward-mode AD: each tensor carries along how it changes, its *tangent*, when the inputs change in one direction.

Note [One formula for both modes]
  No operation has a second formula. Its gradient formula g ↦ v is linear in g, and as a matrix it is the transpose of
  what forward mode needs. So a tangent is found by the double-backward trick, one operation at a time: apply the
  formula to any g, recording it, and differentiate the result with respect to g; from the operands' tangents as first
  gradients comes the tangent of the output. Views are linear: the same view is made of the tangent.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.tape.fitting import conjugate, fitted
from microtape.tape.grad_mode import _GradMode, mode
from microtape.tape.node import NO_EDGE, Node
from microtape.tape.operation import Operation, save
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.saved import SavedTensor
from microtape.tape.tangents import Level, check_size, current, set_tangent, tangent_of, unfollowed, write_tangent
from microtape.tape.tensor_state import TensorState, new_tensor
from microtape.tape.views import AsStridedBackward0, MultiViewOperation, ViewOperation, view_call
from microtape.tape.watch import Watcher, watch
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_function import function_tangents
from microtape.transforms.saved_hooks import holder

_WANTED = (Node(), 0)  # stands for the edge of an operand that has a tangent


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent: None if there was none."""

    primal: Tensor
    tangent: Tensor | None


class Follower(Watcher):
    """Gives the outputs of every operation their tangents; see Note [One formula for both modes]."""

    def __init__(self) -> None:
        self.local = threading.local()

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """See Watcher."""
        if node.kind != "function" and not isinstance(node, AsStridedBackward0):
            self.follow(holder(node), operands, outputs, in_place)

    unrecorded = operation

    def writing(self, tensor: TensorState) -> None:
        """Remember what an in-place operation writes to: `operation` is told of the base, where that is a view."""
        self.local.written = tensor

    def called(self, node: Node, args: tuple[Any, ...], raw: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A Function has its own rule, `jvp`."""
        tangents = [tangent_of(one) if isinstance(one, TensorState) else None for one in args]
        if any(tangent is not None for tangent in tangents):
            function_tangents(node, args, tangents, raw, outputs)

    def unpacked(self, node: Node, item: Any, tensor: TensorState) -> None:
        """An output that was saved has its tangent still."""
        of_outputs = current.level.of_outputs.get(node) if current.level is not None else None
        if of_outputs is not None and isinstance(item, SavedTensor | PackedTensor) and item.is_output:
            tangent = of_outputs[tensor.edge[1] if tensor.edge is not None and node.multi_output else 0]
            if tangent is not None:
                set_tangent(tensor, tangent)

    def follow(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """Find the outputs' tangents, if an operand has one."""
        if not mode.forward_ad:
            return
        tangents = [tangent_of(one) for one in operands]
        if in_place:
            before, written = operands[0], self.local.written
            tangents[0], outputs = tangent_of(written), [written]
            operands = [before if one is written else one for one in operands]
        if all(tangent is None for tangent in tangents):
            return
        with unfollowed():
            results = tangents_of_outputs(node, operands, tangents, outputs)
            if not isinstance(node, ViewOperation | MultiViewOperation):  # a view's tangent is a view of the tangent
                results = [apart(one, tangents) for one in results]
        for output, tangent in zip(outputs, results, strict=True):
            if tangent is not None:
                (write_tangent if in_place else set_tangent)(output, tangent)
        assert current.level is not None
        current.level.of_outputs[node] = results


def apart(tangent: Any, tangents: Sequence[Any]) -> Any:
    """A tangent whose memory is not another's: writing into the one must not change the other."""
    given = [one.array for one in tangents if one is not None]
    shared = tangent is not None and any([np.may_share_memory(array, tangent.array) for array in given])
    return tangent.clone() if shared else tangent


def tangents_of_outputs(
    node: Node, operands: Sequence[Any], tangents: Sequence[Any], outputs: Sequence[Any]
) -> Sequence[Any]:
    """The outputs' tangents from those of the operands; None for an output that cannot have one."""
    if isinstance(node, ViewOperation):
        return [view_call(tangents[0], type(node), *node.parameters())]
    if isinstance(node, MultiViewOperation):
        steps = node.parts(operands[0].shape)
        return [view_call(tangents[0], type(step), *step.parameters()) for step in steps]
    assert isinstance(node, Operation)
    node = prepared(node, operands, tangents, outputs)
    seeds = [
        new_tensor(Tensor, np.zeros_like(one.array), None) if is_differentiable(one.array.dtype) else None
        for one in outputs
    ]
    with _GradMode(True):
        given: Any = seeds if node.multi_output else seeds[0]
        both = node.multi_output or (given is not None and given.dtype.kind == "c")  # as the engine does
        returned: Any = []
        if any(seed is not None for seed in seeds):
            returned = node.apply(conjugate(given) if both else given, True)
            returned = conjugate(list(returned)) if both else returned
        pairs = [
            (fitted(node, i, value, operand.array.shape, operand.array.dtype), tangent)
            for i, (value, operand, tangent) in enumerate(zip(returned, operands, tangents, strict=False))
            if tangent is not None and value is not None
        ]
    pairs = [(value, tangent.to(value.dtype)) for value, tangent in pairs if value.requires_grad]
    wanted = [seed for seed in seeds if seed is not None]
    found: Sequence[Any] = [None] * len(wanted)
    if pairs:
        values, directions = zip(*pairs, strict=True)
        found = grad(values, wanted, directions, create_graph=mode.enabled, allow_unused=True)
    results = iter(found)
    return [None if seed is None else or_zeros(next(results), seed) for seed in seeds]


def prepared(node: Operation, operands: Sequence[Any], tangents: Sequence[Any], outputs: Sequence[Any]) -> Operation:
    """A copy of `node` that has saved what its formula needs for the operands that have tangents."""
    node = copy.copy(node)
    mask = tuple(tangent is not None for tangent in tangents)
    node.next_edges = tuple(_WANTED if wanted else NO_EDGE for wanted in mask)
    node.saved = ()
    if hasattr(node, "versions"):
        del node.versions  # those of what the original has saved
    if node.saved_names:
        save(node, node.plans[mask], operands, *outputs)
        kept: Sequence[Any] = node.saved or ()
        node.saved = tuple(outputs[one.output_nr] if isinstance(one, SavedTensor) else one for one in kept)
    return node


def or_zeros(tangent: Any, like: Tensor) -> Any:
    """A tangent, zeros if the output does not depend on what changes."""
    return new_tensor(Tensor, np.zeros_like(like.array)) if tangent is None else tangent


_follower = Follower()


def enter_dual_level() -> int:
    """Open a level, in which tensors can have tangents. Returns its number, 0.

    Raises RuntimeError inside of another level.
    """
    if current.level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    current.level = Level()
    watch.join(_follower)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; all tangents are gone. Raises RuntimeError if it is not the open one."""
    if current.level is None and level is None:
        raise RuntimeError("Dual level must be a positive number.")
    if current.level is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    current.level = None
    watch.leave(_follower)


class dual_level:  # noqa: N801 - torch's name
    """A context in which tensors can have tangents: what `make_dual` makes, and all that is computed from it."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that has this very `tangent`, of the same shape.

    Raises ValueError for dtypes without derivatives, RuntimeError outside of a level, for another shape, and for
    tensors that have tangents already.
    """
    if current.level is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for what, one in (("primal", tensor), ("tangent", tangent)):
        if not one.is_floating_point() and not is_differentiable(one.array.dtype):
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: microtape.{one.array.dtype.name}"
            )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    if tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    check_size(tensor, tangent)
    dual: Tensor = tensor.view_as(tensor)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """`(primal, tangent)` of a tensor: a view of it that has no tangent, and its tangent, None if it has none."""
    if current.level is None or level not in (None, 0):
        return UnpackedDualTensor(tensor, None)
    tangent = tangent_of(tensor)
    with unfollowed():
        primal = tensor.view_as(tensor)
    set_tangent(primal, None)
    return UnpackedDualTensor(primal, tangent)  # type: ignore[arg-type]


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
