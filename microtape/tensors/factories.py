"""Factories: tensors made from data, from a rule, with another tensor's shape and dtype, and at random.

Arguments that most of them take: a `dtype`; a `device`, which raises RuntimeError if it is not the CPU; and
`requires_grad`, which raises RuntimeError for a dtype that is neither floating nor complex. A `size` is given as ints,
`zeros(2, 3)`, as one sequence, `zeros((2, 3))`, or by name, `zeros(size=(2, 3))`; a negative size raises RuntimeError.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.call_site import user_stacklevel
from microtape.basics.devices import check_device
from microtape.ops.elementwise import random_numbers
from microtape.ops.shared.arguments import sizes
from microtape.random import Generator, default_generator, drawn
from microtape.tape.inference import mark_if_inference
from microtape.tape.node import NO_EDGE
from microtape.tape.operands import number_as, tell_made
from microtape.tape.tensor_state import new_tensor
from microtape.tensors.from_data import as_numeric_array, checked_array
from microtape.tensors.tensor import Tensor

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "scalar_tensor",
    "tensor",
    "tril_indices",
    "triu_indices",
    "zeros",
    "zeros_like",
]


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: a number, an array, a tensor, or nested sequences of these.

    A sequence is all that has a length and items: a list, a deque, a range, a class of one's own. Without `dtype`,
    Python floats get the default dtype, ints int64, and numpy arrays keep theirs. Raises ValueError for ragged
    sequences and for ints that do not fit into int64, TypeError or RuntimeError for elements that are not numbers.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than microtape.tensor(sourceTensor).",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return tell_made(data, _make_leaf(np.array(as_numeric_array(data, dtype)), requires_grad, device))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy if possible: a tensor or numpy array of the dtype shares its memory.

    Raises as `tensor` does.
    """
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return tell_made(data, _make_leaf(np.asarray(as_numeric_array(data, dtype)), False, device))


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """`obj` as a tensor, as `as_tensor`; with `copy`, always a copy."""
    check_device(device)
    result = as_tensor(obj, dtype)
    return result.clone() if copy and not isinstance(obj, list | tuple | int | float) else result


def _make_leaf(array: Any, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A leaf around `array`. Raises RuntimeError for another device, or an integer that requires grad."""
    check_device(device)
    if requires_grad and not dtypes.is_differentiable(array.dtype):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return mark_if_inference(new_tensor(Tensor, array, None if requires_grad else NO_EDGE))


def from_numpy(array: Any) -> Tensor:
    """A leaf that shares the memory of a numpy array. Raises TypeError or ValueError for what torch does not take."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return tell_made(array, _make_leaf(checked_array(array)))


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A leaf that shares, through DLPack, the memory of another library's array or tensor."""
    return _make_leaf(np.from_dlpack(ext_tensor))


def zeros(*shape: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros of the given size, in the default dtype unless `dtype` is given."""
    return _make_leaf(
        np.zeros(_checked_size("zeros", shape, size), dtype or dtypes.get_default_dtype()), requires_grad, device
    )


def ones(*shape: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones of the given size, in the default dtype unless `dtype` is given."""
    shape = _checked_size("ones", shape, size)
    return _make_leaf(np.ones(shape, dtype or dtypes.get_default_dtype()), requires_grad, device)


def empty(*shape: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of the given size whose elements are not to be relied on. NB: here they are zeros."""
    return zeros(_checked_size("empty", shape, size), dtype=dtype, device=device, requires_grad=requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of shape `size`, a sequence of ints, filled with `fill_value`.

    Without `dtype`, a float gets the default dtype, an int int64 and a bool bool. Raises TypeError if `size` is an int.
    """
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    filled = np.full(_checked_size("full", (size,)), number_as(value, dtype or dtypes.of_number(value)))
    return tell_made(value, _make_leaf(filled, requires_grad, device))


def _checked_size(name: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The size, given by position or by name, as a tuple. Raises TypeError without one, RuntimeError for negatives."""
    if size is not None:
        given = (size,)
    if not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    shape = sizes(given)
    if min(shape, default=0) < 0:
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor without dimensions, in the default dtype unless `dtype` is given."""
    return _make_leaf(np.asarray(s, dtype or dtypes.get_default_dtype()), requires_grad, device)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix of shape (n, m), or (n, n) without m, with ones on the diagonal and zeros elsewhere."""
    return _make_leaf(np.eye(n, m, dtype=dtype or dtypes.get_default_dtype()), requires_grad, device)


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The numbers `start` (or 0), `start + step`, ... up to but not including `end`; int64 if all three are ints.

    Raises RuntimeError if `step` is 0 or has the wrong sign.
    """
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
    """`steps` evenly spaced numbers from `start` to `end`, both included."""
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
    """`steps` numbers from `base ** start` to `base ** end`, both included, evenly spaced on a logarithmic scale."""
    return _make_leaf(
        np.logspace(start, end, steps, base=base, dtype=dtype or dtypes.get_default_dtype()), requires_grad, device
    )


def zeros_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros with the shape, and unless `dtype` is given the dtype, of `input`."""
    return _make_leaf(np.zeros_like(input.array, dtype=dtype), requires_grad, device)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Like `empty`, with the shape and dtype of `input`."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones with the shape, and unless `dtype` is given the dtype, of `input`."""
    return _make_leaf(np.ones_like(input.array, dtype=dtype), requires_grad, device)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor filled with `fill_value`, with the shape, and unless `dtype` is given the dtype, of `input`."""
    number = number_as(fill_value, dtype or input.array.dtype)
    return _make_leaf(np.full_like(input.array, number, dtype=dtype), requires_grad, device)


def rand(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, uniformly distributed on [0, 1)."""
    shape = _checked_size("rand", shape, size)
    return _make_leaf(drawn("uniform", shape, dtype or dtypes.get_default_dtype(), generator), requires_grad, device)


def randn(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, normally distributed with mean 0 and standard deviation 1."""
    shape = _checked_size("randn", shape, size)
    return _make_leaf(drawn("normal", shape, dtype or dtypes.get_default_dtype(), generator), requires_grad, device)


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Like `rand`, with the shape and dtype of `input`. Raises NotImplementedError for integer dtypes."""
    return _make_leaf(
        drawn("uniform", input.array.shape, _check_floating("check_uniform_bounds", dtype or input.dtype), None),
        requires_grad,
        device,
    )


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Like `randn`, with the shape and dtype of `input`. Raises NotImplementedError for integer dtypes."""
    return _make_leaf(
        drawn("normal", input.array.shape, _check_floating("normal_kernel_cpu", dtype or input.dtype), None),
        requires_grad,
        device,
    )


def _check_floating(name: str, dtype: Any) -> Any:
    """The dtype. Raises NotImplementedError unless it is floating or complex."""
    if np.dtype(dtype).kind not in "fc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.scalar_name(np.dtype(dtype))}'")
    return dtype


def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random integers from [low, high): `randint(low, high, size)`, or `randint(high, size)` from 0 on.

    The dtype is int64 unless it is given. Raises RuntimeError if `low` is not below `high`.
    """
    if size is None:
        high, size = (low, high) if high is not None else (None, None)
        low = 0
    elif high is None:
        low, high = 0, low
    if high is None or size is None:
        raise TypeError("randint() takes `high` and `size`, after an optional `low`: randint(0, 10, (2, 3))")
    low = 0 if low is None else low
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    shape = _checked_size("randint", (size,))
    values = (generator or default_generator).integers(low, high, math.prod(shape))
    return _make_leaf(values.astype(dtype or dtypes.int64).reshape(shape), requires_grad, device)


def randint_like(
    input: Tensor, low: Any, high: Any = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Like `randint`, with the shape and dtype of `input`: `randint_like(input, high)` or `(input, low, high)`."""
    low, high = (0, low) if high is None else (low, high)
    return randint(
        low, high, input.array.shape, dtype=dtype or input.array.dtype, device=device, requires_grad=requires_grad
    )


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None) -> Tensor:
    """The integers from 0 to n - 1 in random order; int64 unless `dtype` is given."""
    return _make_leaf((generator or default_generator).permutation(n).astype(dtype or dtypes.int64), False, device)


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The indices of the lower triangle of a (row, col) matrix: an int64 tensor of two rows, row and column numbers."""
    return _make_leaf(np.stack(np.tril_indices(row, offset, col)).astype(np.int64))


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The indices of the upper triangle of a (row, col) matrix: an int64 tensor of two rows, row and column numbers."""
    return _make_leaf(np.stack(np.triu_indices(row, offset, col)).astype(np.int64))


_FORMS_OF_NORMAL = """
 * (Tensor mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)
 * (Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out = None)
 * (float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)
 * (float mean, float std, tuple of ints size, *, torch.Generator generator = None, Tensor out = None, \
torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, \
bool requires_grad = False)
""".replace("torch", "microtape")


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
    """Random numbers, normally distributed with mean `mean` and standard deviation `std`.

    If these are numbers, `size` gives the shape; if one of them is a tensor, the shape is what they broadcast to, and
    the derivative is 0. Raises RuntimeError for a negative standard deviation.
    """
    has_tensor = isinstance(mean, Tensor) or isinstance(std, Tensor)
    if has_tensor and size is None and not requires_grad and all([_is_moment(one) for one in (mean, std)]):
        drawn_around: Tensor = random_numbers.normal(mean, std, generator)
        return drawn_around
    numbers = [one for one in map(_as_number, (mean, std)) if one is not None]
    if len(numbers) < 2 or size is None or isinstance(size, int):
        got = ", ".join([type(one).__name__ for one in (mean, std, size) if one is not None])
        raise TypeError(
            f"normal() received an invalid combination of arguments - got ({got}), but expected one of:"
            + _FORMS_OF_NORMAL
        )
    middle, scale = numbers
    random_numbers.check_deviation(scale)
    values = drawn("normal", _checked_size("normal", (size,)), dtype or dtypes.get_default_dtype(), generator)
    return _make_leaf(np.asarray(values * scale + middle), requires_grad, device)


def _is_moment(value: Any) -> bool:
    """Whether this may be the mean or the standard deviation: a tensor or a number."""
    return isinstance(value, Tensor | int | float | np.number)


def _as_number(value: Any) -> Any:
    """A number, or that in a 0-d tensor that does not require grad; None for anything else.

    Raises RuntimeError for a number that is not real.
    """
    if not isinstance(value, Tensor):
        return value if _is_moment(value) else None
    if value.requires_grad or value.array.ndim:
        return None
    number = value.array.item()
    if isinstance(number, complex) and number.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return number.real
