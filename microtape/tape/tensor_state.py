"""What a tensor is made of, without any of its methods. `Tensor` adds those on top.

Operations need only this much, so that they can be imported before Tensor is.

Note [Where a tensor's gradient goes]
  `edge` is the pair (grad_fn, output_nr) that its gradient is delivered to. It is
    - NO_EDGE for a tensor that does not require grad,
    - the node that computed it for a result, made once and shared by all its users,
    - None where the answer must be looked up with `edge_of`: for a leaf that requires grad, whose AccumulateGrad lives
      only while some graph refers to it, and for a view, whose history changes when its base is written to.

Note [Versions]
  A version counter belongs to the memory: a base, its views and everything detached from it share one. It is made
  when somebody first writes, or makes a view; until then a tensor is at version 0. Tensors saved for backward
  remember the number, and unpacking compares.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from microtape.basics.call_site import CallSite, user_frame
from microtape.tape.node import DEAD_END, NO_EDGE, OWN_DTYPE, AccumulateGrad, Edge, NodeHooks

if TYPE_CHECKING:
    import numpy.typing as npt  # which takes its time to import

    from microtape.tape.views import View

Array: TypeAlias = "npt.NDArray[Any]"


class Version:
    """How often some memory has been written to, and where in the program it was last; see Note [Versions]."""

    __slots__ = ("number", "touched", "written")

    def __init__(self, touched: bool = False) -> None:
        self.number = 0
        self.touched = touched  # written to, or detached in place: who saved it has to look closer
        self.written: CallSite | None = None

    def bump(self) -> None:
        """Count one write by the user's current line."""
        self.number += 1
        self.touched = True
        frame = user_frame(sys._getframe(1))
        self.written = CallSite(frame.f_code, frame.f_lasti) if frame is not None else None


class _NoVersion(Version):
    """Stands in the place of a version counter. Its number is looked at by all who compare versions."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.number = -1

    def bump(self) -> None:
        """Nothing is counted."""


INFERENCE = _NoVersion()
"""The version of inference tensors: those made in inference mode, and their views."""


class AutogradMeta:
    """What only some tensors have: leaves that require grad, views, tensors with hooks."""

    __slots__ = ("__weakref__", "accumulator", "grad", "grad_dtype", "hooks", "retains_grad", "view")

    def __init__(self) -> None:
        self.grad: Any = None
        self.grad_dtype: Any = OWN_DTYPE  # or the dtype in which gradients accumulate, None for any
        self.accumulator: weakref.ref[AccumulateGrad] | None = None
        self.hooks: NodeHooks | None = None  # of a leaf; a result's hooks are its node's
        self.retains_grad = False
        self.view: View | None = None


class TensorState:
    """An array and its place in the graph."""

    __slots__ = ("__dict__", "__weakref__", "array", "edge", "meta", "version")

    array: Array
    edge: Edge | None
    meta: AutogradMeta | None
    version: Version | None

    def accumulate(self, gradient: Any, create_graph: bool) -> None:
        """Add `gradient` to `.grad`."""
        raise NotImplementedError


_T = TypeVar("_T", bound=TensorState)
_new = object.__new__


NUMBER = AutogradMeta()
"""The `meta` of a tensor that an operation has put around a Python number. Such tensors never reach the user."""


def new_tensor(like: type[_T], array: Array, edge: Edge | None = NO_EDGE) -> _T:
    """A tensor of the class `like` around `array`, without copying."""
    tensor = _new(like)
    tensor.array = array
    tensor.edge = edge
    tensor.meta = None
    tensor.version = None
    return tensor


def edge_of(tensor: TensorState) -> Edge:
    """Where the tensor's gradient goes; see Note [Where a tensor's gradient goes]."""
    if tensor.edge is not None:
        return tensor.edge
    meta = tensor.meta or ensure_meta(tensor)
    if meta.view is not None:
        edge = meta.view.history(tensor)
        if edge is not NO_EDGE:
            return edge
        if not meta.view.is_source:
            return DEAD_END if requires_grad(meta.view.base) else NO_EDGE
    reference = meta.accumulator
    if reference is not None:
        accumulator = reference()
        if accumulator is not None:
            return accumulator, 0
    accumulator = AccumulateGrad(tensor)
    meta.accumulator = weakref.ref(accumulator)
    return accumulator, 0


def history_of(tensor: TensorState) -> Edge:
    """The node that computed the tensor and which of its outputs it is; NO_EDGE for a leaf."""
    if tensor.edge is not None:
        return tensor.edge
    view = tensor.meta.view if tensor.meta is not None else None
    return view.history(tensor) if view is not None else NO_EDGE


def is_leaf(tensor: TensorState) -> bool:
    """Whether no recorded operation computed the tensor, as far as is known: does not make a view's history again."""
    if tensor.edge is not None:
        return tensor.edge is NO_EDGE
    view = tensor.meta.view if tensor.meta is not None else None
    return view is None or view.edge is NO_EDGE


def is_view(tensor: TensorState) -> bool:
    """Whether the tensor is a tracked view of another."""
    return tensor.meta is not None and tensor.meta.view is not None


def requires_grad(tensor: TensorState) -> bool:
    """Whether the tensor is part of a graph or the start of one. A view requires grad as soon as its base does."""
    if tensor.edge is not None:
        return tensor.edge is not NO_EDGE
    view = tensor.meta.view if tensor.meta is not None else None
    return view is None or view.is_source or view.edge is not NO_EDGE or requires_grad(view.base)


def ensure_meta(tensor: TensorState) -> AutogradMeta:
    """The tensor's AutogradMeta, made if it has none."""
    if tensor.meta is None:
        tensor.meta = AutogradMeta()
    return tensor.meta


def ensure_version(tensor: TensorState) -> Version:
    """The tensor's version counter, made if it has none."""
    if tensor.version is None:
        tensor.version = Version()
    return tensor.version


def version_number(tensor: Any) -> int:
    """How often the memory of a tensor (or of a saved one) has been written to."""
    return max(tensor.version.number, 0) if tensor.version is not None else 0


def as_array(value: Any) -> Array:
    """`value` as an ndarray: numpy gives scalars for 0-d results, and a tensor always holds an array."""
    return value if type(value) is np.ndarray else np.asarray(value)


def as_number(array: Array) -> Any:
    """The number inside a 0-d array, as numpy's scalar, which it computes with several times as fast; else `array`."""
    return array if array.ndim else array[()]
