"""Forward-mode AD: each tensor carries its *tangent*, its derivative as the inputs move in one direction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.ops.shape.reshaping import IdentityBackward
from microtape.tape.grad_mode import mode as current_mode
from microtape.tape.node import Node
from microtape.tape.tangents import (
    Level,
    PackedTangent,
    check_size,
    current,
    set_own_tangent,
    set_tangent,
    tangent_of,
    without_tangents,
    write_tangent,
)
from microtape.tape.tensor_state import Array, TensorState, memory_owner, new_tensor
from microtape.tape.views import AsStridedBackward0, MultiViewOperation, ViewOperation, view_call
from microtape.tape.watch import Watcher, watch
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad_function import function_tangents
from microtape.transforms.forward_ad_operation import apart, before_overwriting, before_writing, tangents_of_outputs
from microtape.transforms.saved_hooks import saving_node


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
        if current.level is None or not current_mode.forward_ad or all(tangent is None for tangent in tangents):
            return
        function_tangents(node, args, tangents, raw, outputs)
        current.level.of_outputs[node] = [tangent_of(one) if isinstance(one, TensorState) else None for one in outputs]

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
        if not current_mode.forward_ad:
            return
        tangents = [tangent_of(one) for one in operands]
        if in_place:
            before, written = operands[0], self.local.written
            tangents[0], outputs = tangent_of(written), [written]
            operands = before_writing(node, operands, written)
            if tangents[0] is not None and current.level is not None:
                with without_tangents():
                    tangents = before_overwriting(tangents)
                if node.saved:
                    old: Any = tangents[0]
                    set_tangent(before, old)
                    places = [i for i, operand in enumerate(operands) if operand is before]
                    current.level.of_overwritten[node] = old, places
        if all(tangent is None for tangent in tangents):
            return
        with without_tangents():
            results = tangents_of_outputs(node, operands, tangents, outputs)
            if not isinstance(node, ViewOperation | MultiViewOperation):  # a view's tangent is a view of the tangent
                results = [apart(one, tangents) for one in results]
        for output, tangent in zip(outputs, results, strict=True):
            if tangent is not None:
                (write_tangent if in_place else set_tangent)(output, tangent)
        assert current.level is not None
        current.level.of_outputs[node] = results


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

    In inference mode the view has no tangent, and only the dtypes are checked.

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
    if current_mode.inference:
        return _view_without_tangent(tensor)
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
    dtype = tangent.array.dtype
    size, place, *_ = _layout(tensor.array)
    strides = [stride // tensor.array.itemsize * dtype.itemsize for stride in tensor.array.strides]
    array = np.ndarray(tensor.array.shape, dtype, np.zeros(size, dtype), place * dtype.itemsize, strides)
    copy: Tensor = new_tensor(type(tangent), array)
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
    return UnpackedDualTensor(_view_without_tangent(tensor), tangent_of(tensor))  # type: ignore[arg-type]


def _view_without_tangent(tensor: Tensor) -> Tensor:
    """A view of the tensor that has no tangent, even if the tensor has one."""
    with without_tangents():
        view = view_call(tensor, IdentityBackward)
    set_own_tangent(view, None)
    return view  # type: ignore[no-any-return]


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
