"""Making tensors: from data, from a rule, like another one, at random."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.devices import check_device
from microtape.ops.shared.arguments import sizes
from microtape.random import Generator, default_generator, drawn
from microtape.tape.inference import mark_if_inference
from microtape.tape.node import NO_EDGE
from microtape.tape.operands import tell_made
from microtape.tape.tensor_state import new_tensor
from microtape.tensors.tensor import Tensor


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: numbers, nested sequences of them, arrays or tensors.

    Python floats get the default dtype, numpy arrays keep theirs. Raises ValueError for ragged sequences, TypeError or
    RuntimeError for what is no number, RuntimeError if the dtype cannot require grad.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than microtape.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    return tell_made(data, _make_leaf(np.array(_as_numeric_array(data, dtype)), requires_grad, device))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor: itself if it is one of that dtype, sharing the memory of an array of that dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return tell_made(data, _make_leaf(np.asarray(_as_numeric_array(data, dtype)), False, device))


def _as_numeric_array(data: Any, dtype: Any) -> Any:
    """An array of `data`, in `dtype` or in the one that torch would infer."""
    if isinstance(data, Tensor):
        data = data.array
    if not isinstance(data, np.ndarray | np.generic):
        data = _tensors_as_arrays(data)
        dtype = _inferred_dtype(data) if dtype is None else dtype
    try:
        array = np.asarray(data)
    except ValueError:
        raise ValueError(_ragged_message(data)) from None
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if array.dtype.kind not in "biufc":
        if array.dtype.kind == "O" and array.size and isinstance(array.flat[0], int):
            raise ValueError("Overflow when unpacking long long")
        raise TypeError(f"new(): invalid data type '{type(array.flat[0]).__name__}'")
    return array if dtype is None else array.astype(dtype, copy=False)


def _tensors_as_arrays(data: Any) -> Any:
    """`data` with the tensors in it as arrays."""
    if isinstance(data, Tensor):
        return data.array
    if isinstance(data, list | tuple | range):
        return [_tensors_as_arrays(item) for item in data]
    return data


def _inferred_dtype(data: Any) -> Any:
    """The dtype that torch gives to nested sequences: that of numpy scalars and arrays, the default for floats."""
    found: dict[Any, Any] = {}

    def visit(one: Any) -> None:
        if isinstance(one, list):
            for item in one:
                visit(item)
        elif type(one) not in found or isinstance(one, np.ndarray):
            found[type(one)] = one.dtype if isinstance(one, np.ndarray | np.generic) else _number_dtype(one)

    visit(data)
    dtype = None
    for one in found.values():
        dtype = one if dtype is None else dtypes.promote_types(dtype, one)
    return dtypes.get_default_dtype() if dtype is None else dtype


def _number_dtype(value: Any) -> Any:
    """The dtype of a Python number. Raises as torch does for anything else."""
    if isinstance(value, int | float | complex):
        return dtypes.of_number(value)
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _ragged_message(data: Any, dim: int = 0) -> str:
    """What is wrong with sequences of different lengths."""
    lengths = [len(item) if isinstance(item, list) else None for item in data]
    for length in lengths:
        if length != lengths[0]:
            return f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {length})"
    return next((_ragged_message(item, dim + 1) for item in data if isinstance(item, list)), "ragged nested sequence")


def _make_leaf(array: Any, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A leaf around `array`. Raises RuntimeError for a device that is not the cpu, or a dtype without gradients."""
    check_device(device)
    if requires_grad and not dtypes.is_differentiable(array.dtype):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return mark_if_inference(new_tensor(Tensor, array, None if requires_grad else NO_EDGE))


def from_numpy(array: Any) -> Tensor:
    """A leaf that shares the memory of a numpy array. Raises TypeError for anything else."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return tell_made(array, _make_leaf(array))


def from_dlpack(source: Any) -> Tensor:
    """A leaf that shares the memory of another library's array or tensor, through DLPack."""
    return _make_leaf(np.from_dlpack(source))


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the given size."""
    return _make_leaf(
        np.zeros(_checked_size("zeros", size), dtype or dtypes.get_default_dtype()), requires_grad, device
    )


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of the given size."""
    shape = _checked_size("ones", size)
    return _make_leaf(np.ones(shape, dtype or dtypes.get_default_dtype()), requires_grad, device)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of the given size, to be filled; here it is zeros."""
    return zeros(_checked_size("empty", size), dtype=dtype, device=device, requires_grad=requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """One number everywhere."""
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    filled = np.full(_checked_size("full", (size,)), value, dtype or dtypes.of_number(value))
    return tell_made(value, _make_leaf(filled, requires_grad, device))


def _checked_size(name: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """The size as a tuple. Raises as torch does where there is none, or a negative one."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    shape = sizes(size)
    if min(shape, default=0) < 0:
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal."""
    return _make_leaf(np.eye(n, m, dtype=dtype or dtypes.get_default_dtype()), requires_grad, device)


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Numbers from `start` (or 0) up to but without `end`. Raises RuntimeError where they would never get there."""
    if end is None:
        start, end = 0, start
    start, end, step = (one.item() if isinstance(one, Tensor) else one for one in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is None:
        whole = all(isinstance(one, int | np.integer) for one in (start, end, step))
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    return _make_leaf((start + step * np.arange(math.ceil((end - start) / step))).astype(dtype), requires_grad, device)


def linspace(
    start: float, end: float, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included."""
    return _make_leaf(np.linspace(start, end, steps, dtype=dtype or dtypes.get_default_dtype()), requires_grad, device)


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from `base ** start` to `base ** end`, each a fixed multiple of the one before."""
    return _make_leaf(
        np.logspace(start, end, steps, base=base, dtype=dtype or dtypes.get_default_dtype()), requires_grad, device
    )


def zeros_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape and dtype."""
    return _make_leaf(np.zeros_like(input.array, dtype=dtype), requires_grad, device)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of another's shape and dtype, to be filled; here it is zeros."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape and dtype."""
    return _make_leaf(np.ones_like(input.array, dtype=dtype), requires_grad, device)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """One number everywhere, in another tensor's shape and dtype."""
    return _make_leaf(np.full_like(input.array, fill_value, dtype=dtype), requires_grad, device)


def rand(
    *size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers from 0 up to but without 1, all as likely."""
    shape = _checked_size("rand", size)
    return _make_leaf(drawn("uniform", shape, dtype or dtypes.get_default_dtype(), generator), requires_grad, device)


def randn(
    *size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers of mean 0 and standard deviation 1, normally distributed."""
    shape = _checked_size("randn", size)
    return _make_leaf(drawn("normal", shape, dtype or dtypes.get_default_dtype(), generator), requires_grad, device)


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`rand`, of another tensor's shape and dtype."""
    return _make_leaf(
        drawn("uniform", input.array.shape, _check_floating("check_uniform_bounds", dtype or input.dtype), None),
        requires_grad,
        device,
    )


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`randn`, of another tensor's shape and dtype."""
    return _make_leaf(
        drawn("normal", input.array.shape, _check_floating("normal_kernel_cpu", dtype or input.dtype), None),
        requires_grad,
        device,
    )


def _check_floating(name: str, dtype: Any) -> Any:
    """The dtype. Raises NotImplementedError for whole numbers."""
    if np.dtype(dtype).kind not in "fc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.scalar_name(np.dtype(dtype))}'")
    return dtype


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random whole numbers from `low` up to but without `high`: `randint(low, high, size)` or `randint(high, size)`."""
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    shape = _checked_size("randint", (size,))
    values = (generator or default_generator).integers(low, high, math.prod(shape))
    return _make_leaf(values.astype(dtype or dtypes.int64).reshape(shape), requires_grad, device)


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None) -> Tensor:
    """The whole numbers below `n` in random order."""
    return _make_leaf((generator or default_generator).permutation(n).astype(dtype or dtypes.int64), False, device)


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Where a matrix of that size has its lower triangle: a row of row numbers and one of column numbers."""
    return _make_leaf(np.stack(np.tril_indices(row, offset, col)).astype(np.int64))


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Where a matrix of that size has its upper triangle: a row of row numbers and one of column numbers."""
    return _make_leaf(np.stack(np.triu_indices(row, offset, col)).astype(np.int64))


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, normally distributed: of one mean and deviation and a size, or tensors of them."""
    given = [one.array for one in (mean, std) if isinstance(one, Tensor)]
    shape = _checked_size("normal", (size,)) if not given else np.broadcast_shapes(*[array.shape for array in given])
    values = drawn("normal", shape, given[0].dtype if given else dtype or dtypes.get_default_dtype(), generator)
    scale, middle = (one.array if isinstance(one, Tensor) else one for one in (std, mean))
    return _make_leaf(np.asarray(values * scale + middle), requires_grad, device)
