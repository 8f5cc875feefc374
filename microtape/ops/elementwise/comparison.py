"""Comparisons, logic and bits: results that are never differentiable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from microtape.basics.dtypes import scalar_name
from microtape.ops.shared.arguments import dim_tuple, torch_style
from microtape.ops.shared.kinds import refusal_of
from microtape.tape.inference import mark_if_inference
from microtape.tape.operands import as_operand, number_operand, promoted
from microtape.tape.operation import quiet_context, refusal
from microtape.tape.tensor_state import TensorState, as_array, new_tensor
from microtape.tape.watch import watch

__all__ = [
    "all",
    "allclose",
    "any",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "count_nonzero",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "nonzero",
    "not_equal",
    "signbit",
]

_T = TypeVar("_T", bound=TensorState)


def undifferentiable(function: Callable[..., Any], *tensors: TensorState, op: str = "") -> Any:
    """A tensor without history that holds `function` of the tensors' arrays; `op` names the operation."""
    array = as_array(quiet_context().run(function, *[tensor.array for tensor in tensors]))
    return _without_history(op or function.__name__, tensors, mark_if_inference(new_tensor(type(tensors[0]), array)))


def _without_history(op: str, operands: tuple[TensorState, ...], output: _T) -> _T:
    """`output`, which never has a history, after telling the watcher about it."""
    if (watcher := watch.watcher) is not None:
        watcher.without_history(op, operands, output)
    return output


ORDERINGS = {np.less: "lt_cpu", np.less_equal: "le_cpu", np.greater: "gt_cpu", np.greater_equal: "ge_cpu"}
"""Comparisons that are undefined for complex numbers, and torch's kernels for them."""


def _compared(function: Callable[..., Any], x: TensorState, y: Any) -> Any:
    """`function` of both operands in one dtype; NotImplemented if `y` is neither tensor, number nor array."""
    if not isinstance(y, TensorState):
        y = number_operand(y, x)
        if y is NotImplemented:
            return y
    a, b = promoted(x.array, y.array)
    if a.dtype.kind == "c" and function in ORDERINGS:
        raise refusal_of(a.dtype, ORDERINGS[function])
    try:
        array = as_array(function(a, b))
    except ValueError as error:
        raise refusal(error, a, b) from None
    return _without_history(function.__name__, (x, y), mark_if_inference(new_tensor(type(x), array)))


def equals(x: TensorState, y: Any) -> Any:
    """`x == y`."""
    return _compared(np.equal, x, y)


def differs(x: TensorState, y: Any) -> Any:
    """`x != y`."""
    return _compared(np.not_equal, x, y)


def is_less(x: TensorState, y: Any) -> Any:
    """`x < y`."""
    return _compared(np.less, x, y)


def is_at_most(x: TensorState, y: Any) -> Any:
    """`x <= y`."""
    return _compared(np.less_equal, x, y)


def is_greater(x: TensorState, y: Any) -> Any:
    """`x > y`."""
    return _compared(np.greater, x, y)


def is_at_least(x: TensorState, y: Any) -> Any:
    """`x >= y`."""
    return _compared(np.greater_equal, x, y)


def eq(input: TensorState, other: Any) -> Any:
    """Where they are equal, as bools."""
    return _compared(np.equal, input, as_operand(other, input))


def ne(input: TensorState, other: Any) -> Any:
    """Where they differ, as bools."""
    return _compared(np.not_equal, input, as_operand(other, input))


def lt(input: TensorState, other: Any) -> Any:
    """Where `input` is less than `other`, as bools."""
    return _compared(np.less, input, as_operand(other, input))


def le(input: TensorState, other: Any) -> Any:
    """Where `input` is at most `other`, as bools."""
    return _compared(np.less_equal, input, as_operand(other, input))


def gt(input: TensorState, other: Any) -> Any:
    """Where `input` is greater than `other`, as bools."""
    return _compared(np.greater, input, as_operand(other, input))


def ge(input: TensorState, other: Any) -> Any:
    """Where `input` is at least `other`, as bools."""
    return _compared(np.greater_equal, input, as_operand(other, input))


def _bits(function: Callable[..., Any], name: str) -> Callable[[TensorState, Any], Any]:
    """A bitwise operator on bools and integers. It raises NotImplementedError for other dtypes."""

    def operate(input: TensorState, other: Any) -> Any:
        other = other if isinstance(other, TensorState) else number_operand(other, input)
        if other is NotImplemented:
            return other
        for operand in (input, other):
            if operand.array.dtype.kind not in "biu":
                raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_name(operand.array.dtype)}'")
        return _compared(function, input, other)

    operate.__name__ = operate.__qualname__ = name
    operate.__doc__ = f"`{name}` of bools or integers, elementwise."
    return operate


bitwise_and = _bits(np.bitwise_and, "bitwise_and")
bitwise_or = _bits(np.bitwise_or, "bitwise_or")
bitwise_xor = _bits(np.bitwise_xor, "bitwise_xor")
bitwise_left_shift = _bits(np.left_shift, "lshift")
bitwise_right_shift = _bits(np.right_shift, "rshift")


def bitwise_not(input: TensorState) -> Any:
    """`~x`. Raises TypeError for other dtypes than bools and integers."""
    if input.array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return undifferentiable(np.invert, input)


def logical_and(input: TensorState, other: TensorState) -> Any:
    """Where both are nonzero."""
    return undifferentiable(np.logical_and, input, other)


def logical_or(input: TensorState, other: TensorState) -> Any:
    """Where one or both are nonzero."""
    return undifferentiable(np.logical_or, input, other)


def logical_xor(input: TensorState, other: TensorState) -> Any:
    """Where exactly one is nonzero."""
    return undifferentiable(np.logical_xor, input, other)


def logical_not(input: TensorState) -> Any:
    """Where it is zero."""
    return undifferentiable(np.logical_not, input)


def isnan(input: TensorState) -> Any:
    """Where it is NaN."""
    return undifferentiable(np.isnan, input)


def isinf(input: TensorState) -> Any:
    """Where it is infinite."""
    return undifferentiable(np.isinf, input)


def isposinf(input: TensorState) -> Any:
    """Where it is infinite and positive."""
    _refuse_complex("isposinf", input)
    return undifferentiable(lambda x: x == np.inf, input, op="isposinf")


def isneginf(input: TensorState) -> Any:
    """Where it is infinite and negative."""
    _refuse_complex("isneginf", input)
    return undifferentiable(lambda x: x == -np.inf, input, op="isneginf")


def _refuse_complex(name: str, x: TensorState) -> None:
    """Raise RuntimeError for complex numbers."""
    if x.array.dtype.kind == "c":
        raise RuntimeError(f"{name} does not support complex inputs.")


def isreal(input: TensorState) -> Any:
    """Where the imaginary part is zero; everywhere in a real tensor."""
    return undifferentiable(np.isreal, input)


def signbit(input: TensorState) -> Any:
    """Where the sign is minus, that of -0. included. Raises NotImplementedError for complex numbers."""
    if input.array.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return undifferentiable(lambda x: x < 0 if x.dtype.kind in "biu" else np.signbit(x), input, op="signbit")


def isfinite(input: TensorState) -> Any:
    """Where it is neither infinite nor NaN."""
    return undifferentiable(np.isfinite, input)


def isclose(
    input: TensorState, other: TensorState, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Where |input - other| ≤ atol + rtol · |other|. Raises RuntimeError for different dtypes."""
    _check_one_dtype(input, other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    return undifferentiable(lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), input, other, op="isclose")


def allclose(
    input: TensorState, other: TensorState, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether |input - other| ≤ atol + rtol · |other| everywhere. Raises RuntimeError for different dtypes."""
    _check_one_dtype(input, other)
    _tell("allclose", input, other)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))


def _tell(op: str, *operands: TensorState) -> None:
    """Tell the watcher about a comparison whose result is no tensor."""
    if (watcher := watch.watcher) is not None:
        watcher.compared(op, operands)


def _check_one_dtype(x: TensorState, y: TensorState) -> None:
    """Raise RuntimeError if the dtypes differ."""
    if x.array.dtype != y.array.dtype:
        raise RuntimeError(f"{scalar_name(x.array.dtype)} did not match {scalar_name(y.array.dtype)}")


def equal(input: TensorState, other: TensorState) -> bool:
    """Whether both have the same shape and the same elements."""
    _tell("equal", input, other)
    return bool(np.array_equal(input.array, other.array))


def any(input: TensorState, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """Whether any element is nonzero: of all, or along the dimensions `dim`."""
    return _truth(np.any, input, *torch_style(dim, keepdim, **numpy_style))


def all(input: TensorState, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """Whether all elements are nonzero: of all, or along the dimensions `dim`."""
    return _truth(np.all, input, *torch_style(dim, keepdim, **numpy_style))


def _truth(function: Callable[..., Any], x: TensorState, dim: Any, keepdim: bool) -> Any:
    """`any` or `all`, as bools; for uint8, which torch once used for bools, as uint8."""

    def find(array: Any) -> Any:
        dims = () if dim in ((), []) else dim_tuple(dim, array.ndim)  # an empty `dim` means no dimension here
        found = np.asarray(function(array, dims, keepdims=keepdim), order="C")
        return found.astype(np.uint8) if array.dtype == np.uint8 else found

    return undifferentiable(find, x, op=function.__name__)


def count_nonzero(input: TensorState, dim: Any = None) -> Any:
    """How many elements are nonzero."""
    return undifferentiable(lambda x: np.count_nonzero(x, dim_tuple(dim, x.ndim)), input, op="count_nonzero")


def nonzero(input: TensorState, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: a row for each, or with `as_tuple` a tensor for each dimension."""
    if as_tuple:
        return tuple([new_tensor(type(input), indices.copy()) for indices in np.nonzero(np.atleast_1d(input.array))])
    return undifferentiable(np.argwhere, input)


# torch has several names for some functions
greater = gt
greater_equal = ge
less = lt
less_equal = le
not_equal = ne
