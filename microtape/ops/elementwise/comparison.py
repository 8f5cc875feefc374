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

_T = TypeVar("_T", bound=TensorState)


def undifferentiable(function: Callable[..., Any], *tensors: TensorState, op: str = "") -> Any:
    """A tensor without history around `function` of the tensors' arrays; `op` is what to call it."""
    array = as_array(quiet_context().run(function, *[tensor.array for tensor in tensors]))
    return without_history(op or function.__name__, tensors, mark_if_inference(new_tensor(type(tensors[0]), array)))


def without_history(op: str, operands: tuple[TensorState, ...], output: _T) -> _T:
    """Tell the observer, if there is one, of a result that never has a history."""
    if watch.watcher is not None:
        watch.watcher.without_history(op, operands, output)
    return output


ORDERINGS = {np.less: "lt_cpu", np.less_equal: "le_cpu", np.greater: "gt_cpu", np.greater_equal: "ge_cpu"}
"""Comparisons that complex numbers have not, and torch's kernels for them."""


def compared(function: Callable[..., Any], x: TensorState, y: Any) -> Any:
    """Two operands, in one dtype; NotImplemented if `y` is neither tensor, number nor array."""
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
    return without_history(function.__name__, (x, y), mark_if_inference(new_tensor(type(x), array)))


def equals(x: TensorState, y: Any) -> Any:
    """`x == y`."""
    return compared(np.equal, x, y)


def differs(x: TensorState, y: Any) -> Any:
    """`x != y`."""
    return compared(np.not_equal, x, y)


def is_less(x: TensorState, y: Any) -> Any:
    """`x < y`."""
    return compared(np.less, x, y)


def is_at_most(x: TensorState, y: Any) -> Any:
    """`x <= y`."""
    return compared(np.less_equal, x, y)


def is_greater(x: TensorState, y: Any) -> Any:
    """`x > y`."""
    return compared(np.greater, x, y)


def is_at_least(x: TensorState, y: Any) -> Any:
    """`x >= y`."""
    return compared(np.greater_equal, x, y)


def eq(input: TensorState, other: Any) -> Any:
    """Where they are equal, as bools."""
    return compared(np.equal, input, as_operand(other, input))


def ne(input: TensorState, other: Any) -> Any:
    """Where they differ, as bools."""
    return compared(np.not_equal, input, as_operand(other, input))


def lt(input: TensorState, other: Any) -> Any:
    """Where `input` is less than `other`, as bools."""
    return compared(np.less, input, as_operand(other, input))


def le(input: TensorState, other: Any) -> Any:
    """Where `input` is at most `other`, as bools."""
    return compared(np.less_equal, input, as_operand(other, input))


def gt(input: TensorState, other: Any) -> Any:
    """Where `input` is greater than `other`, as bools."""
    return compared(np.greater, input, as_operand(other, input))


def ge(input: TensorState, other: Any) -> Any:
    """Where `input` is at least `other`, as bools."""
    return compared(np.greater_equal, input, as_operand(other, input))


def bits(function: Callable[..., Any], name: str) -> Callable[[TensorState, Any], Any]:
    """The operator on bools and whole numbers. It raises NotImplementedError for others."""

    def operate(input: TensorState, other: Any) -> Any:
        other = other if isinstance(other, TensorState) else number_operand(other, input)
        if other is NotImplemented:
            return other
        for operand in (input, other):
            if operand.array.dtype.kind not in "biu":
                raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_name(operand.array.dtype)}'")
        return compared(function, input, other)

    operate.__name__, operate.__doc__ = name, f"The operation `{name}` on bools and whole numbers, element by element."
    return operate


bitwise_and = bits(np.bitwise_and, "bitwise_and")
bitwise_or = bits(np.bitwise_or, "bitwise_or")
bitwise_xor = bits(np.bitwise_xor, "bitwise_xor")


def bitwise_not(input: TensorState) -> Any:
    """`~x`. Raises TypeError for what is neither bool nor integer."""
    if input.array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return undifferentiable(np.invert, input)


def logical_and(input: TensorState, other: TensorState) -> Any:
    """Where both are other than zero."""
    return undifferentiable(np.logical_and, input, other)


def logical_or(input: TensorState, other: TensorState) -> Any:
    """Where one or both are other than zero."""
    return undifferentiable(np.logical_or, input, other)


def logical_xor(input: TensorState, other: TensorState) -> Any:
    """Where exactly one is other than zero."""
    return undifferentiable(np.logical_xor, input, other)


def logical_not(input: TensorState) -> Any:
    """Where it is zero."""
    return undifferentiable(np.logical_not, input)


def isnan(input: TensorState) -> Any:
    """Where there is no number."""
    return undifferentiable(np.isnan, input)


def isinf(input: TensorState) -> Any:
    """Where it is infinite."""
    return undifferentiable(np.isinf, input)


def isfinite(input: TensorState) -> Any:
    """Where it is neither infinite nor NaN."""
    return undifferentiable(np.isfinite, input)


def isclose(
    input: TensorState, other: TensorState, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Where |input - other| ≤ atol + rtol · |other|. Raises RuntimeError for different dtypes."""
    check_one_dtype(input, other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    return undifferentiable(lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), input, other, op="isclose")


def allclose(
    input: TensorState, other: TensorState, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether |input - other| ≤ atol + rtol · |other| everywhere. Raises RuntimeError for different dtypes."""
    check_one_dtype(input, other)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))


def check_one_dtype(x: TensorState, y: TensorState) -> None:
    """Raise RuntimeError if the dtypes differ."""
    if x.array.dtype != y.array.dtype:
        raise RuntimeError(f"{scalar_name(x.array.dtype)} did not match {scalar_name(y.array.dtype)}")


def equal(input: TensorState, other: TensorState) -> bool:
    """Whether they have one shape and the same elements."""
    return bool(np.array_equal(input.array, other.array))


def any(input: TensorState, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """Whether any element is other than zero: of all, or along the dimensions `dim`."""
    return truth(np.any, input, *torch_style(dim, keepdim, **numpy_style))


def all(input: TensorState, dim: Any = None, keepdim: bool = False, **numpy_style: Any) -> Any:
    """Whether all elements are other than zero: of all, or along the dimensions `dim`."""
    return truth(np.all, input, *torch_style(dim, keepdim, **numpy_style))


def truth(function: Callable[..., Any], x: TensorState, dim: Any, keepdim: bool) -> Any:
    """`any` or `all`, as bools; of uint8 as uint8, which were torch's bools once."""

    def find(array: Any) -> Any:
        dims = () if dim in ((), []) else dim_tuple(dim, array.ndim)  # no dimensions mean none here
        found = np.asarray(function(array, dims, keepdims=keepdim))
        return found.astype(np.uint8) if array.dtype == np.uint8 else found

    return undifferentiable(find, x, op=function.__name__)


def count_nonzero(input: TensorState, dim: Any = None) -> Any:
    """How many elements are other than zero."""
    return undifferentiable(lambda x: np.count_nonzero(x, dim_tuple(dim, x.ndim)), input, op="count_nonzero")


def nonzero(input: TensorState, *, as_tuple: bool = False) -> Any:
    """The indices of the elements other than zero: a row for each, or with `as_tuple` a tensor for each dimension."""
    if as_tuple:
        return tuple([new_tensor(type(input), indices) for indices in np.nonzero(np.atleast_1d(input.array))])
    return undifferentiable(np.argwhere, input)
