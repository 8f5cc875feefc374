"""Forward-mode AD: each tensor carries its *tangent*, its derivative as the inputs move in one direction.

Note [One formula for both modes]
  No operation has a second formula. Its backward formula g ↦ v is linear in g; as a matrix it is the transpose of the
  one that forward mode needs. The tangent is therefore computed by the double-backward trick, one operation at a time:
  record the formula applied to any g, then run backward through it from v to g with the operands' tangents as first
  gradients; the result is the tangent of the output. Views are linear: the tangent of a view is the same view of the
  tangent.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.ops.shape.reshaping import IdentityBackward
from microtape.tape.fitting import conjugate, fit_gradient
from microtape.tape.grad_mode import GradMode
from microtape.tape.grad_mode import mode as current_mode
from microtape.tape.node import NO_EDGE, AccumulateGrad, Node
from microtape.tape.operation import Operation, save
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.saved import SavedTensor
from microtape.tape.tangents import (
    Level,
    PackedTangent,
    check_size,
    current,
    set_own_tangent,
    set_tangent,
    share_root,
    tangent_of,
    without_tangents,
    write_tangent,
)
from microtape.tape.tensor_state import INFERENCE, Array, TensorState, is_view, memory_owner, new_tensor
from microtape.tape.views import AsStridedBackward0, MultiViewOperation, ViewOperation, view_call
from microtape.tape.watch import Watcher, watch
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad_function import function_tangents
from microtape.transforms.saved_hooks import saving_node

# In place of the edge of an operand that has a tangent: a leaf's, or `check_unchanged` took it for a detached result.
_WANTED = (object.__new__(AccumulateGrad), 0)


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


class _Follower(Watcher):
    """Computes the tangents of every operation's outputs; see Note [One formula for both modes]."""

    def __init__(self) -> None:
        self.local = threading.local()

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """See Watcher."""
        node = saving_node(node)
        if node.kind != "function" and not isinstance(node, AsStridedBackward0):
            self.follow(node, operands, outputs, in_place)

    unrecorded = operation

    def without_history(self, op: str, operands: tuple[TensorState, ...], output: TensorState) -> None:
        """As in torch, `detach_` drops the tangent."""
        if op == "detach_" and tangent_of(output) is not None:
            set_tangent(output, None)

    def writing(self, tensor: TensorState) -> None:
        """Remember the tensor that an in-place operation writes to; if it is a view, `operation` is given its base."""
        self.local.written = tensor

    def called(self, node: Node, args: tuple[Any, ...], raw: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Compute the tangents of a Function's outputs with its own rule, `jvp`."""
        tangents = [tangent_of(one) if isinstance(one, TensorState) else None for one in args]
        tensors = [one for one in args if isinstance(one, TensorState)]
        for output in [one for one in outputs if isinstance(one, TensorState) and is_view(one)]:
            sources = [one for one in tensors if one.version is output.version]
            if sources and not any(one is output for one in sources):
                share_root(output, sources[0])
        if current.level is None or not current_mode.forward_ad or all(tangent is None for tangent in tangents):
            return
        function_tangents(node, args, tangents, raw, outputs)
        current.level.of_outputs[node] = [tangent_of(one) if isinstance(one, TensorState) else None for one in outputs]
        for item in node.saved or ():
            if isinstance(item, PackedTensor) and item.is_output:  # packed before `jvp` has run
                self.packed(item, outputs[item.output_nr])

    def packed(self, item: Any, tensor: TensorState) -> None:
        """Keep the tangent of a tensor that hooks have packed; see Note [Tangents of saved tensors]."""
        tangent, level = tangent_of(tensor), current.level
        if tangent is not None and level is not None:
            with without_tangents():
                level.of_packed[item] = PackedTangent(tensor.array, tangent, tangent.clone())  # type: ignore[attr-defined]

    def unpacked(self, node: Node, item: Any, tensor: TensorState) -> None:
        """Give an unpacked saved tensor its tangent again."""
        level = current.level
        if level is None or not current_mode.forward_ad:
            return
        if item in level.of_packed:
            set_tangent(tensor, level.of_packed[item].of(tensor))
        elif not item.is_output and node in level.of_overwritten:  # hooks have packed a copy of their own
            tangent, places = level.of_overwritten[node]
            index = next((i for i, one in enumerate(node.saved or ()) if one is item), None)
            if index is not None and node.sources[index] in places:
                set_tangent(tensor, tangent)
        elif item.is_output and node in level.of_outputs:
            output_nr = tensor.edge[1] if tensor.edge is not None and node.multi_output else 0
            of_output = level.of_outputs[node][output_nr]
            if of_output is not None:
                set_tangent(tensor, of_output)

    def follow(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """Compute the tangents of the outputs if an operand has one."""
        if isinstance(node, ViewOperation | MultiViewOperation):
            for output in outputs:
                share_root(output, operands[0])
        if not current_mode.forward_ad:
            return
        tangents = [tangent_of(one) for one in operands]
        if in_place:
            before, written = operands[0], self.local.written
            tangents[0], outputs = tangent_of(written), [written]
            operands = _before_writing(node, operands, written)
            if tangents[0] is not None and node.saved and current.level is not None:
                with without_tangents():
                    copy: Tensor = tangents[0].clone()  # type: ignore[attr-defined]
                set_tangent(before, copy)
                places = [i for i, operand in enumerate(operands) if operand is before]
                current.level.of_overwritten[node] = copy, places
        if all(tangent is None for tangent in tangents):
            return
        with without_tangents():
            results = _tangents_of_outputs(node, operands, tangents, outputs)
            if not isinstance(node, ViewOperation | MultiViewOperation):  # a view's tangent is a view of the tangent
                results = [_apart(one, tangents) for one in results]
        for output, tangent in zip(outputs, results, strict=True):
            if tangent is not None:
                (write_tangent if in_place else set_tangent)(output, tangent)
        assert current.level is not None
        current.level.of_outputs[node] = results


def _before_writing(node: Node, operands: Sequence[Any], written: TensorState) -> Sequence[TensorState]:
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


def _apart(tangent: Any, tangents: Sequence[Any]) -> Any:
    """The tangent, copied if it shares memory with one of `tangents`: a write to either must not change the other."""
    given = [one.array for one in tangents if one is not None]
    shared = tangent is not None and any([np.may_share_memory(array, tangent.array) for array in given])
    return tangent.clone() if shared else tangent


def _tangents_of_outputs(
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
    found: Sequence[Any] = [None] * len(wanted)
    if pairs:
        values, directions = zip(*pairs, strict=True)
        found = grad(values, wanted, directions, create_graph=current_mode.enabled, allow_unused=True)
    results = iter(found)
    return [None if seed is None else _or_zeros(next(results), seed) for seed in seeds]


def _prepared(node: Operation, operands: Sequence[Any], tangents: Sequence[Any], outputs: Sequence[Any]) -> Operation:
    """A copy of `node` that has saved the values that its formula needs for the operands with tangents."""
    node = node.twin()
    operands = [new_tensor(type(one), one.array) if one.version is INFERENCE else one for one in operands]
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


def _or_zeros(tangent: Any, like: Tensor) -> Any:
    """The tangent, or zeros in the shape of `like` if the output does not depend on an operand with a tangent."""
    return new_tensor(Tensor, np.zeros_like(like.array)) if tangent is None else tangent


_follower = _Follower()


def enter_dual_level() -> int:
    """Open the level, outside of which no tensor has a tangent. Returns its number, 0.

    Raises RuntimeError if a level is already open.
    """
    if current.level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    current.level = Level()
    watch.join(_follower, first=True)  # before saved-tensor hooks, whose tensors need their tangents by then
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level and drop all tangents. Raises RuntimeError if `level` is not the open one."""
    if current.level is None and level is None:
        raise RuntimeError("Dual level must be a positive number.")
    if current.level is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    current.level = None
    watch.leave(_follower)


class _set_fwd_grad_enabled:  # noqa: N801 - torch's name
    """Switches forward mode on this thread on or off at once; as a context manager, switches back at the end."""

    def __init__(self, mode: bool) -> None:
        self.before = current_mode.forward_ad
        current_mode.forward_ad = mode and not current_mode.inference

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        current_mode.forward_ad = self.before


def _is_fwd_grad_enabled() -> bool:
    """Whether operations on this thread pass tangents on, if a level is open."""
    return current_mode.forward_ad


class dual_level:  # noqa: N801 - torch's name
    """A context in which `make_dual` gives tensors tangents, and all results computed from them have tangents too.

    Raises RuntimeError on entering if a level is already open.
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` with this tangent, of the same shape, which is copied only if its strides are others.

    Raises ValueError if either has a dtype other than floating point or complex; RuntimeError outside of a level, if
    the shapes differ, and if either already has a tangent.
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
    set_own_tangent(dual, _laid_out_as(tensor, tangent))
    return dual


def _laid_out_as(tensor: Tensor, tangent: Tensor) -> Tensor:
    """The tangent itself if it lies in memory as its tensor does, a copy that does otherwise."""
    if _layout(tensor.array) == _layout(tangent.array):
        return tangent
    copy: Tensor = new_tensor(type(tangent), np.zeros_like(tensor.array, tangent.array.dtype))
    return copy.copy_(tangent)  # type: ignore[no-any-return]


def _layout(array: Array) -> tuple[int, ...]:
    """The size of the memory that the array lies in, where it begins there, and its strides, all in elements."""
    owner = memory_owner(array)
    strides = [stride for size, stride in zip(array.shape, array.strides, strict=True) if size > 1]
    places = (owner.nbytes, array.ctypes.data - owner.ctypes.data, *strides)
    return tuple([place // array.itemsize for place in places])


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """`(primal, tangent)`: a view of `tensor` without the tangent, and its tangent, None if it has none."""
    if current.level is None or level not in (None, 0):
        return UnpackedDualTensor(tensor, None)
    tangent = tangent_of(tensor)
    with without_tangents():
        primal = view_call(tensor, IdentityBackward)
    set_own_tangent(primal, None)
    return UnpackedDualTensor(primal, tangent)  # type: ignore[arg-type]


__all__ = [
    "UnpackedDualTensor",
    "_is_fwd_grad_enabled",
    "_set_fwd_grad_enabled",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
