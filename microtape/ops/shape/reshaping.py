"""The same elements in another shape: a view wherever no copy is needed. See Note [Views and their history]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.shape.casting import ContiguousCopy, contiguous
from microtape.ops.shape.reinterpreting import names_dtype, view_as_dtype
from microtape.ops.shared.arguments import dim_index, dim_tuple, plain, sizes
from microtape.ops.shared.kinds import named
from microtape.tape.operation import Operation, call, refusal
from microtape.tape.reshape_in_place import in_place_view, view_call_
from microtape.tape.saved import type_name
from microtape.tape.tensor_state import Array, TensorState
from microtape.tape.views import ViewOperation, view_call

__all__ = ["broadcast_tensors", "broadcast_to", "flatten", "ravel", "reshape", "squeeze", "unflatten", "unsqueeze"]


class ViewBackward0(ViewOperation):
    __slots__ = ("shape_",)
    formula = "z = x in another shape    ∂x = g in x's shape"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        return x.reshape(self.shape_)

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class ReshapeAliasBackward0(ViewBackward0):
    """`reshape` of a tensor that is not contiguous."""

    __slots__ = ()
    op = "reshape"

    def parameters(self) -> tuple[Any, ...]:
        return (self.shape_,)


class UnsafeViewBackward0(Operation):
    """A new shape for a tensor that nothing else refers to; not tracked as a view."""

    __slots__ = ("shape_", "x_shape")
    formula = "z = x in another shape    ∂x = g in x's shape"
    op = "reshape"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return x.reshape(self.shape_)

    def grad_x(self, g: Any) -> Any:
        return g.reshape(self.x_shape)


class AliasBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = x    ∂x = g"

    def forward(self, x: Any) -> Any:
        return x.view()

    def grad_x(self, g: Any) -> Any:
        return g


class IdentityBackward(AliasBackward0):
    """The node of the primal that `unpack_dual` returns."""

    __slots__ = ()
    hides_none = True

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::Identity"


class ExpandBackward0(ViewOperation):
    __slots__ = ("shape_",)
    formula = "z = x repeated along dimensions of size 1    ∂x = Σ g along them"

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape_ = shape

    def forward(self, x: Any) -> Any:
        if x.shape == self.shape_:
            return x.view()
        view = repeated(x, self.shape_)
        if x.flags.writeable:
            view.flags.writeable = True  # parts of it may be written to
        return view

    def grad_x(self, g: Any) -> Any:
        return g  # the engine undoes broadcasting


class SqueezeBackward1(ViewOperation):
    """`squeeze` of one dimension."""

    __slots__ = ("dims",)
    formula = "z = x without a dimension of size 1    ∂x = g in x's shape"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return x.reshape([size for i, size in enumerate(x.shape) if i not in self.dims or size != 1])

    def grad_x(self, g: Any) -> Any:
        for dim in sorted(self.dims):
            if self.x_shape[dim : dim + 1] == (1,):
                g = unsqueeze(g, dim)
        return g


@named("SqueezeBackward4")
class SqueezeInPlace(UnsafeViewBackward0):
    """Made by a product with a vector; not tracked as a view."""

    __slots__ = ()
    formula = "z = x without a dimension of size 1    ∂x = g in x's shape"


class SqueezeBackward0(SqueezeBackward1):
    """`squeeze` of all dimensions of size 1."""

    __slots__ = ()

    def parameters(self) -> tuple[Any, ...]:
        return (self.dims,)


class SqueezeBackward2(SqueezeBackward0):
    """`squeeze` of several dimensions."""

    __slots__ = ()


class UnsqueezeBackward0(ViewOperation):
    __slots__ = ("dim",)
    formula = "z = x with a new dimension of size 1    ∂x = g in x's shape"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        return x.reshape((*x.shape[: self.dim], 1, *x.shape[self.dim :]))

    def grad_x(self, g: Any) -> Any:
        return squeeze(g, self.dim)


def reshape(input: Any, *sizes_: Any, shape: Any = None) -> Any:
    """`input` in another shape, as a view where its memory layout allows it. One size may be -1.

    Raises RuntimeError if the number of elements differs.
    """
    wanted = _resolved(sizes(sizes_ if shape is None else (shape,)), input)
    if not isinstance(input, TensorState):
        return input.reshape(wanted)
    if _is_viewable(input.array, wanted):
        return view_call(input, ViewBackward0 if input.array.flags.c_contiguous else ReshapeAliasBackward0, wanted)
    return call(UnsafeViewBackward0(wanted), call(ContiguousCopy(), input))


def view(x: Any, *shape: Any, dtype: Any = None) -> Any:
    """x in another shape, or its memory as another dtype, without a copy. Raises RuntimeError if that is impossible."""
    if dtype is not None or (len(shape) == 1 and names_dtype(shape[0])):
        return view_as_dtype(x, shape[0] if dtype is None else dtype)
    wanted = _resolved(sizes(shape), x)
    if not _is_viewable(x.array, wanted):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return view_call(x, ViewBackward0, wanted)


def _resolved(shape: tuple[int, ...], x: Any) -> tuple[int, ...]:
    """The shape with its -1 replaced. Raises RuntimeError if x has another number of elements."""
    size = plain(x).size
    if math.prod(shape) == size and min(shape, default=0) >= 0:
        return shape
    known = math.prod([one for one in shape if one != -1])
    if shape.count(-1) == 1:
        if known == 0 and size == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        if known and size % known == 0:
            return tuple([size // known if one == -1 else one for one in shape])
    elif -1 in shape:
        raise RuntimeError("only one dimension can be inferred")
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")


def _is_viewable(array: Array, shape: tuple[int, ...]) -> bool:
    """Whether an array can be viewed in that shape without a copy."""
    if array.flags.c_contiguous:
        return True
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """`input` with the dimensions from `start_dim` to `end_dim` merged into one."""
    shape = input.shape
    start, end = dim_index(start_dim, len(shape)), dim_index(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if start == end:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    """`input` with one dimension split into several. One size may be -1."""
    dim = dim_index(dim, input.ndim)
    known = math.prod([size for size in sizes if size != -1])
    wanted = [input.shape[dim] // max(known, 1) if size == -1 else int(size) for size in sizes]
    if math.prod(wanted) != input.shape[dim]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({input.shape[dim]}) in the input tensor"
        )
    return view(input, (*input.shape[:dim], *wanted, *input.shape[dim + 1 :]))


def ravel(input: Any) -> Any:
    """All elements in one dimension."""
    return view(contiguous(input), (-1,))


def expand(input: Any, *shape: Any, size: Any = None) -> Any:
    """`input` repeated along dimensions of size 1, without a copy. -1 keeps a size."""
    return view_call(input, ExpandBackward0, expanded_size(input, sizes(shape if size is None else (size,))))


def expanded_size(input: Any, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """`wanted`, with each -1 replaced by the existing size. Raises RuntimeError if `input` cannot be expanded to it."""
    before = tuple(input.shape)
    lead = len(wanted) - len(before)
    if lead < 0:
        raise RuntimeError(
            f"expand({type_name(input.array.dtype)}{{{list(before)}}}, size={list(wanted)}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(before)})"
        )
    full = [before[i - lead] if one == -1 and i >= lead else one for i, one in enumerate(wanted)]
    for i, size in reversed(list(enumerate(full))):
        if size == -1:
            raise RuntimeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
            )
        if i >= lead and before[i - lead] not in (1, size):
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) must match the existing size ({before[i - lead]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(before)}"
            )
    return tuple(full)


def repeated(array: Any, shape: tuple[int, ...]) -> Array:
    """A read-only view that repeats an array. The most common case, a single element, is built by hand for speed."""
    if array.ndim:
        return np.broadcast_to(array, shape)
    result: Array = np.ndarray(shape, array.dtype, array, 0, (0,) * len(shape))
    result.flags.writeable = False
    return result


def squeeze(input: Any, dim: int | tuple[int, ...] | None = None) -> Any:
    """`input` without its dimensions of size 1, or without those of `dim` that have size 1."""
    ndim = input.ndim
    if dim is None:
        return view_call(input, SqueezeBackward0, tuple(range(ndim)))
    if isinstance(dim, tuple | list):
        return view_call(input, SqueezeBackward2, dim_tuple(tuple(dim), ndim) or () if dim else ())
    return view_call(input, SqueezeBackward1, (dim_index(dim, ndim),))


def unsqueeze(input: Any, dim: int) -> Any:
    """`input` with a new dimension of size 1 at `dim`."""
    dim = dim_index(dim, input.ndim + 1)
    if not isinstance(input, TensorState):
        return input.reshape((*input.shape[:dim], 1, *input.shape[dim:]))
    return view_call(input, UnsqueezeBackward0, dim)


# made at once, since torch's nodes of these names have their formulas
in_place_view(SqueezeBackward0, "SqueezeBackward3")
in_place_view(SqueezeBackward1, "SqueezeBackward4")
in_place_view(SqueezeBackward2, "SqueezeBackward5")
in_place_view(UnsqueezeBackward0, "UnsqueezeBackward1")


def squeeze_(x: TensorState, dim: int | tuple[int, ...] | None = None) -> Any:
    """`squeeze`, in place: see Note [In-place views]."""
    ndim = x.array.ndim
    if dim is None:
        return view_call_(x, "SqueezeBackward3", SqueezeBackward0(tuple(range(ndim))))
    if isinstance(dim, tuple | list):
        return view_call_(x, "SqueezeBackward5", SqueezeBackward2(dim_tuple(tuple(dim), ndim) or () if dim else ()))
    return view_call_(x, "SqueezeBackward4", SqueezeBackward1((dim_index(dim, ndim),)))


def unsqueeze_(x: TensorState, dim: int) -> Any:
    """`unsqueeze`, in place: see Note [In-place views]."""
    return view_call_(x, "UnsqueezeBackward1", UnsqueezeBackward0(dim_index(dim, x.array.ndim + 1)))


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """All tensors expanded to the shape that they broadcast to."""
    try:
        shape = np.broadcast_shapes(*[tensor.shape for tensor in tensors])
    except ValueError as error:
        raise refusal(error, *map(plain, tensors)) from None
    return tuple([tensor if tuple(tensor.shape) == shape else expand(tensor, shape) for tensor in tensors])


# torch has several names for some functions
broadcast_to = expand
