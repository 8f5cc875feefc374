"""Dimensions in another order, as views; see Note [Views and their history]."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.ops.shared.arguments import dim_index, sizes
from microtape.tape.reshape_in_place import in_place_view, view_call_
from microtape.tape.tensor_state import TensorState
from microtape.tape.views import ViewOperation, view_call

__all__ = ["moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"]


class PermuteBackward0(ViewOperation):
    __slots__ = ("dims",)
    formula = "z = x with its dimensions in another order    ∂x = g in x's order"

    def __init__(self, dims: tuple[int, ...]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Any) -> Any:
        return x.transpose(self.dims)

    def grad_x(self, g: Any) -> Any:
        return permute(g, tuple(int(i) for i in np.argsort(self.dims)))


class TransposeBackward0(ViewOperation):
    __slots__ = ("dim0", "dim1")
    formula = "z = x with two dimensions swapped    ∂x = g with them swapped"

    def __init__(self, dim0: int, dim1: int) -> None:
        super().__init__()
        self.dim0, self.dim1 = dim0, dim1

    def forward(self, x: Any) -> Any:
        return x.swapaxes(self.dim0, self.dim1) if x.ndim else x.view()

    def grad_x(self, g: Any) -> Any:
        return transpose(g, self.dim0, self.dim1)


class TBackward0(ViewOperation):
    __slots__ = ()
    formula = "z = xᵀ    ∂x = gᵀ"

    def forward(self, x: Any) -> Any:
        return x.T

    def grad_x(self, g: Any) -> Any:
        return t(g)


def permute(input: Any, *order: Any, dims: Any = None) -> Any:
    """`input` with its dimensions in the given order: `permute(x, (1, 0))`, `x.permute(1, 0)`."""
    ndim = input.ndim
    order = sizes(order if dims is None else (dims,))
    if len(order) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
        )
    counted = tuple([dim_index(dim, ndim) for dim in order])
    if len(set(counted)) < ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return view_call(input, PermuteBackward0, counted)


def movedim(input: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """`input` with some dimensions moved to other positions; the others keep their order."""
    ndim = input.ndim
    given = {"source": list(sizes((source,))), "destination": list(sizes((destination,)))}
    if len(given["source"]) != len(given["destination"]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given['source']} dims) should contain the same "
            f"number of dims as destination ({given['destination']} dims)"
        )
    moved, places = ([dim_index(dim, ndim) for dim in dims] for dims in given.values())
    for name, dims in zip(given, (moved, places), strict=True):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given[name]})")
    rest = iter([dim for dim in range(ndim) if dim not in moved])
    return permute(input, tuple([moved[places.index(dim)] if dim in places else next(rest) for dim in range(ndim)]))


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """`input` with two dimensions swapped."""
    ndim = input.ndim
    return view_call(input, TransposeBackward0, dim_index(dim0, ndim), dim_index(dim1, ndim))


def t(input: Any) -> Any:
    """The transpose of a matrix; vectors and scalars stay as they are. Raises RuntimeError above two dimensions."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return view_call(input, TBackward0) if isinstance(input, TensorState) else input.T


def reversed_dims(x: Any) -> Any:
    """`x.T`: the dimensions in reverse order."""
    if x.ndim not in (0, 2):
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return permute(x, tuple(reversed(range(x.ndim))))


def matrix_transpose(x: Any, name: str = "mT") -> Any:
    """`x.mT`, `x.mH` or `x.H` by their `name`: the last two dimensions swapped; a scalar stays as it is.

    Raises RuntimeError for a vector, and for more than two dimensions of `H`.
    """
    if x.ndim == 0:
        return x
    if name == "H" and x.ndim != 2:
        batches = "" if x.ndim < 2 else " For batches of matrices, consider using tensor.mH"
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor.{batches}")
    if x.ndim < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {x.ndim}-D tensor."
        )
    return transpose(x, -2, -1)


def transpose_(x: TensorState, dim0: int, dim1: int) -> Any:
    """`transpose`, in place: see Note [In-place views]."""
    ndim = x.array.ndim
    return view_call_(x, "TransposeBackward1", TransposeBackward0(dim_index(dim0, ndim), dim_index(dim1, ndim)))


def t_(x: TensorState) -> Any:
    """`t`, in place: see Note [In-place views]."""
    if x.array.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {x.array.ndim}D")
    return view_call_(x, "TBackward1", TBackward0())


# made at once, since torch's nodes of these names have their formulas
in_place_view(TransposeBackward0, "TransposeBackward1")
in_place_view(TBackward0, "TBackward1")

# torch has several names for some functions
moveaxis = movedim
swapaxes = transpose
swapdims = transpose
