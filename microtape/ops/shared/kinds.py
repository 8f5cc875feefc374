"""Kinds of operations, by how they treat the dtypes of their operands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from microtape.basics import dtypes
from microtape.basics.function_name import function_name
from microtape.tape.in_place import call_
from microtape.tape.operands import as_operand
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import Array, TensorState, zeros_like

_T = TypeVar("_T", bound=type[Operation])


def named(name: str) -> Callable[[_T], _T]:
    """Give an operation's class the name of torch's node, where two of our classes share that name."""

    def rename(cls: _T) -> _T:
        if cls.op == function_name(cls.__name__):  # else the class says which function it belongs to
            cls.op = function_name(name)
        cls.__name__ = name
        return cls

    return rename


def in_place(cls: type[Operation]) -> Callable[..., Any]:
    """The in-place form of an operation without parameters, as a method: `exp_` of ExpBackward0."""

    def method(x: TensorState, *others: Any) -> Any:
        return call_(cls(), x, *[as_operand(other, x, method.__name__) for other in others])

    method.__name__ = f"{cls.op}_"
    method.__doc__ = f"`{cls.op}`, in place."
    return method


def refusing(**complaints: str | NotImplementedError) -> Callable[[_T], _T]:
    """Make an operation refuse the dtypes that torch refuses, by kind and in its words: `@refusing(b="…", biu="…")`.

    A single word names a missing kernel and raises torch's NotImplementedError about it; the word may use attributes
    of the operation, as `{self.dim}`. A sentence raises RuntimeError and may use the dtype's `{name}`. A
    NotImplementedError is raised as it is.
    """

    def decorate(cls: _T) -> _T:
        forward = inspect.getattr_static(cls, "forward")
        static = isinstance(forward, staticmethod)
        function = forward.__func__ if static else forward
        by_kind = {kind: complaint for kinds, complaint in complaints.items() for kind in kinds}

        def checked(*arguments: Any) -> Any:
            for array in arguments if static else arguments[1:]:
                if array.dtype.kind in by_kind:
                    complaint = by_kind[array.dtype.kind]
                    raise refusal_of(array.dtype, complaint, None if static else arguments[0])
            return function(*arguments)

        cls.forward = staticmethod(checked) if static else checked
        return cls

    return decorate


def refusal_of(dtype: Any, complaint: str | NotImplementedError, node: Any = None) -> RuntimeError:
    """The exception that `refusing` means by a complaint."""
    if isinstance(complaint, NotImplementedError):
        return NotImplementedError(*complaint.args)
    if " " in complaint:
        return RuntimeError(complaint.format(name=dtypes.scalar_name(dtype)))
    return NotImplementedError(f"\"{complaint.format(self=node)}\" not implemented for '{dtypes.scalar_name(dtype)}'")


class Promoting(Operation):
    """An operation on several tensors that are promoted to one dtype; see Note [Type promotion]."""

    __slots__ = ()

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operands' arrays in one dtype."""
        return promote_all([operand.array for operand in operands])


class WithNumber(Operation):
    """An operation on a tensor and a Python number, which takes part in type promotion."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        super().__init__()
        self.number = number

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operand's array, promoted together with the number."""
        return [beside_number(operands[0].array, self.number)]


def promote_all(arrays: Sequence[Array]) -> list[Array]:
    """All arrays in the dtype that torch would promote them to."""
    first = arrays[0].dtype
    if all([array.dtype is first for array in arrays]):
        return list(arrays)
    dimensioned = zero_dim = None
    for array in arrays:
        of_dimensioned, of_zero_dim = dtypes.ranks(array)
        dimensioned = dtypes.join(dimensioned, of_dimensioned) if of_dimensioned is not None else dimensioned
        zero_dim = dtypes.join(zero_dim, of_zero_dim) if of_zero_dim is not None else zero_dim
    dtype = dtypes.result_type(dimensioned, zero_dim)
    with np.errstate(over="ignore"):  # as in `promoted`
        return [array.astype(dtype, copy=False) for array in arrays]


def beside_number(array: Array, number: Any) -> Array:
    """The array in the dtype that torch would promote it to, together with a Python number."""
    return array.astype(dtypes.beside_number(array, number), copy=False)


def floating(array: Any) -> Any:
    """The array; one of bools or integers in the default dtype."""
    return array.astype(dtypes.get_default_dtype()) if array.dtype.kind in "biu" else array


def nothing(g: Any) -> Any:
    """The gradient of an operand with derivative 0: zeros of g's shape and dtype, even where g is not finite."""
    return zeros_like(g, g.shape, g.dtype)
