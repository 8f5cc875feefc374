"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape import dtypes
from microtape.node import NO_EDGE
from microtape.ops.shape import sizes
from microtape.tensor import Tensor
from microtape.tensor_state import new_tensor


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: numbers, nested sequences of them, arrays or tensors.

    Python floats get the default dtype, numpy arrays keep theirs. Raises RuntimeError if the dtype cannot require grad.
    """
    if isinstance(data, Tensor):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than microtape.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data.array
    array = np.array(numbers(data))
    if dtype is None and not isinstance(data, np.ndarray | np.generic) and array.dtype.kind in "fc":
        dtype = dtypes.of_number(array.flat[0].item() if array.size else 0.0)
    return made(array if dtype is None else array.astype(dtype), requires_grad)


def numbers(data: Any) -> Any:
    """`data` with the tensors in it as arrays."""
    if isinstance(data, Tensor):
        return data.array
    if isinstance(data, list | tuple):
        return [numbers(item) for item in data]
    return data


def made(array: Any, requires_grad: bool = False) -> Tensor:
    """A leaf around `array`."""
    if requires_grad and not dtypes.is_differentiable(array.dtype):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return new_tensor(Tensor, array, None if requires_grad else NO_EDGE)


def from_numpy(array: Any) -> Tensor:
    """A leaf that shares the memory of a numpy array."""
    return made(np.asarray(array))


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the given size."""
    return made(np.zeros(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of the given size."""
    return made(np.ones(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One number everywhere."""
    return made(np.full(sizes((size,)), fill_value, dtype or dtypes.of_number(fill_value)), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal."""
    return made(np.eye(n, m, dtype=dtype or dtypes.get_default_dtype()), requires_grad)


def arange(
    start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers from `start` (or 0) up to but without `end`."""
    if end is None:
        start, end = 0, start
    if dtype is None:
        whole = all(isinstance(one, int | np.integer) for one in (start, end, step))
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    return made(np.arange(start, end, step, dtype=dtype), requires_grad)


def linspace(start: float, end: float, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from `start` to `end`, both included."""
    return made(np.linspace(start, end, steps, dtype=dtype or dtypes.get_default_dtype()), requires_grad)


def zeros_like(other: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape and dtype."""
    return made(np.zeros_like(other.array, dtype=dtype), requires_grad)


def ones_like(other: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape and dtype."""
    return made(np.ones_like(other.array, dtype=dtype), requires_grad)


def full_like(other: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One number everywhere, in another tensor's shape and dtype."""
    return made(np.full_like(other.array, fill_value, dtype=dtype), requires_grad)
