"""Questions about tensors and dtypes, as functions."""

from __future__ import annotations

from typing import Any, TypeGuard

from microtape.basics import dtypes
from microtape.ops.shared.arguments import sizes
from microtape.tensors.attributes import Size
from microtape.tensors.dtype import dtype as Dtype  # noqa: N812 - as in tensor.py
from microtape.tensors.dtype import public
from microtape.tensors.tensor import Tensor

__all__ = [
    "broadcast_shapes",
    "detach",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_tensor",
    "numel",
    "result_type",
    "typename",
]


def is_tensor(obj: Any) -> TypeGuard[Tensor]:
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """The number of elements of `input`."""
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of `input` is not zero."""
    return input.is_nonzero()


def result_type(tensor1: Any, tensor2: Any) -> Dtype:
    """The dtype in which two operands, tensors or numbers, are computed."""
    dimensioned = zero_dim = number = None
    for one in (tensor1, tensor2):
        if isinstance(one, Tensor):
            with_dims, without = dtypes.ranks(one.array)
            dimensioned, zero_dim = dtypes.join(dimensioned, with_dims), dtypes.join(zero_dim, without)
        else:
            number = dtypes.join(number, dtypes.of_number(one))
    return public(dtypes.result_type(dimensioned, zero_dim, number))


def typename(obj: Any) -> str:
    """The name of an object's type: of a tensor as of `x.type()`."""
    return obj.type() if isinstance(obj, Tensor) else f"{type(obj).__module__}.{type(obj).__qualname__}"


def detach(input: Tensor) -> Tensor:
    """See `Tensor.detach`."""
    return input.detach()


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes broadcast to. Raises RuntimeError if they do not broadcast."""
    given = [sizes((shape,)) for shape in shapes]
    result = [1] * max(map(len, given), default=0)
    for i, shape in enumerate(given):
        for dim in range(-1, -1 - len(shape), -1):
            if shape[dim] in (1, result[dim]):
                continue
            if result[dim] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[dim]} at {dim}! Mismatching argument at "
                    f"index {i} had {shape}; but expected shape should be broadcastable to {result}"
                )
            result[dim] = shape[dim]
    return Size(result)
