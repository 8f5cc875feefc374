"""The state of a tensor: its array and its place in the graph. The class `Tensor` adds the methods.

Operations use only the state, so they can be imported before `Tensor`, whose methods they are.

Note [Where a tensor's gradient goes]
  A tensor's `edge` is the pair (node, output_nr) that its gradient is delivered to. It is
    - NO_EDGE for a tensor that does not require grad,
    - (grad_fn, output_nr) for the result of a recorded operation,
    - None if `edge_of` has to look it up: for a leaf that requires grad, because its AccumulateGrad node lives only as
      long as a graph refers to it, and for a view, because its history changes when its base is written to.

Note [Versions]
  A version counter counts the writes to some memory: a base, its views and the tensors detached from them share one
  counter. It is made when it is first needed, by a write or a view for instance; a tensor without one is at version 0.
  A node stores the versions of the tensors that it saves, and unpacking compares them.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from microtape.basics.call_site import CallSite, user_frame
from microtape.tape.node import DEAD_END, NO_EDGE, OWN_DTYPE, AccumulateGrad, Edge, NodeHooks

if TYPE_CHECKING:
    import numpy.typing as npt  # slow to import

    from microtape.tape.views import View

Array: TypeAlias = "npt.NDArray[Any]"


class Version:
    """How often some memory has been written to, and the call site of the last write; see Note [Versions]."""

    __slots__ = ("number", "touched", "written")

    def __init__(self, touched: bool = False) -> None:
        self.number = 0
        self.touched = touched  # written to, or detached in place: unpacking has to check
        self.written: CallSite | None = None

    def bump(self) -> None:
        """Count one write, by the line of the user's program that is running."""
        self.number += 1
        self.touched = True
        frame = user_frame(sys._getframe(1))
        self.written = CallSite(frame.f_code, frame.f_lasti) if frame is not None else None


class _NoVersion(Version):
    """Stands in the place of a version counter and counts nothing. Its number differs from every real version."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.number = -1

    def bump(self) -> None:
        """Count nothing."""


INFERENCE = _NoVersion()
"""The version of inference tensors: those made in inference mode, and their views."""


class AutogradMeta:
    """State that only some tensors need: leaves that require grad, views, and tensors with hooks."""

    __slots__ = ("__weakref__", "accumulator", "grad", "grad_dtype", "hooks", "retains_grad", "view")

    def __init__(self, view: View | None = None) -> None:
        self.grad: Any = None
        self.grad_dtype: Any = OWN_DTYPE  # or the dtype in which gradients accumulate, None for any
        self.accumulator: weakref.ref[AccumulateGrad] | None = None
        self.hooks: NodeHooks | None = None  # of a leaf; the hooks of a result are kept by its node
        self.retains_grad = False
        self.view = view


RESULT_CLASSES: dict[type[TensorState], type[TensorState]] = {}
"""The class of an operation's result by that of its operand: the same, but the result on a parameter is a Tensor."""


class TensorState:
    """An array and its place in the graph."""

    __slots__ = ("__dict__", "__weakref__", "array", "edge", "meta", "version")

    array: Array
    edge: Edge | None
    meta: AutogradMeta | None
    version: Version | None

    def __init_subclass__(cls, *, result_class: type[TensorState] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        RESULT_CLASSES[cls] = result_class or cls

    def accumulate(self, gradient: Any, is_tensor: bool) -> None:
        """Add `gradient`, an array or (if `is_tensor`) a Tensor, to `.grad`."""
        raise NotImplementedError


_T = TypeVar("_T", bound=TensorState)
_new = object.__new__


NUMBER = AutogradMeta()
"""The `meta` of a tensor that an operation has made of a Python number. Users never get such a tensor."""


def new_tensor(like: type[_T], array: Array, edge: Edge | None = NO_EDGE) -> _T:
    """A tensor around `array`, which is not copied, of the class of a result on a tensor of the class `like`."""
    tensor: Any = _new(RESULT_CLASSES[like])
    tensor.array = array
    tensor.edge = edge
    tensor.meta = None
    tensor.version = None
    return tensor  # type: ignore[no-any-return]


def edge_of(tensor: TensorState, *, saved: bool = False) -> Edge:
    """The edge that the tensor's gradient is delivered to; see Note [Where a tensor's gradient goes].

    Raises InPlaceError for a view that may no longer be used, unless it has no history and is only `saved`.
    """
    if tensor.edge is not None:
        return tensor.edge
    meta = tensor.meta or ensure_meta(tensor)
    if meta.view is not None:
        view = meta.view
        edge = NO_EDGE if saved and view.origin and view.edge is NO_EDGE else view.history(tensor)
        if edge is not NO_EDGE:
            return edge
        if not view.is_source:
            return DEAD_END if requires_grad(view.base) else NO_EDGE
    reference = meta.accumulator
    if reference is not None:
        accumulator = reference()
        if accumulator is not None:
            return accumulator, 0
    accumulator = AccumulateGrad(tensor)
    meta.accumulator = weakref.ref(accumulator)
    return accumulator, 0


def history_of(tensor: TensorState) -> Edge:
    """The pair (grad_fn, output_nr) of the tensor; NO_EDGE for a leaf."""
    if tensor.edge is not None:
        return tensor.edge
    view = tensor.meta.view if tensor.meta is not None else None
    return view.history(tensor) if view is not None else NO_EDGE


def is_leaf(tensor: TensorState) -> bool:
    """Whether no recorded operation computed the tensor; does not rebuild the history of a view to find out."""
    if tensor.edge is not None:
        return tensor.edge is NO_EDGE
    view = tensor.meta.view if tensor.meta is not None else None
    return view is None or view.edge is NO_EDGE


def is_view(tensor: TensorState) -> bool:
    """Whether the tensor is a view of another tensor, as autograd tracks it."""
    return tensor.meta is not None and tensor.meta.view is not None


def requires_grad(tensor: TensorState) -> bool:
    """Whether the tensor requires grad; a view does as soon as its base does."""
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
    """The version of a tensor or saved tensor: how often its memory has been written to."""
    return max(tensor.version.number, 0) if tensor.version is not None else 0


def as_array(value: Any) -> Array:
    """`value` as an ndarray: numpy returns scalars for 0-d results, but a tensor always holds an array."""
    return value if type(value) is np.ndarray else np.asarray(value)


def as_number(array: Array) -> Any:
    """A 0-d array as a numpy scalar, several times as fast to compute with; any other array as it is."""
    return array if array.ndim else array[()]


def memory_owner(array: Array) -> Array:
    """The array that owns the memory of `array`, which may be a view of it."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def zeros_like(like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros of this shape and dtype, as an array or, if `like` is one, as a Tensor."""
    zeros = np.zeros(shape, dtype)
    return new_tensor(type(like), zeros) if isinstance(like, TensorState) else zeros
