"""Comparisons and logic written into their first operand: `x.lt_(y)` makes x 1 where it was less than y, else 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.ops.elementwise import comparison
from microtape.ops.shape.casting import copy_
from microtape.ops.shared.kinds import nothing, refusal_of
from microtape.tape.grad_mode import no_grad
from microtape.tape.in_place import call_
from microtape.tape.operands import as_operand, promoted
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import NUMBER, TensorState


class WrittenComparison(Operation):
    """Common: 1 where `compare` holds; the derivative is 0."""

    __slots__ = ()
    operands = ("x", "y")
    formula = "z = 1 where the comparison of x and y holds, else 0    ∂z/∂x = 0,  ∂z/∂y = 0"
    compare: Callable[..., Any]

    def forward(self, x: Any, y: Any) -> Any:
        a, b = promoted(x, y)
        compare = type(self).compare
        if a.dtype.kind == "c" and compare in comparison.ORDERINGS:
            raise refusal_of(a.dtype, comparison.ORDERINGS[compare])
        return compare(a, b).astype(x.dtype)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)

    def grad_y(self, g: Any) -> Any:
        return nothing(g)


def _comparison(name: str, compare: Callable[..., Any]) -> Callable[[TensorState, Any], Any]:
    """The in-place form of a comparison; its nodes are named as torch's, which tell numbers from tensors."""
    own = {"__slots__": (), "compare": staticmethod(compare)}
    kinds = [type(f"{name.capitalize()}Backward{i}", (WrittenComparison,), dict(own)) for i in range(2)]

    def method(x: TensorState, other: Any) -> Any:
        y = as_operand(other, x, f"{name}_")
        return call_(kinds[y.meta is not NUMBER](), x, y)

    method.__name__, method.__doc__ = f"{name}_", f"`{name}`, written into x as 1 and 0."
    return method


eq_, ne_ = _comparison("eq", np.equal), _comparison("ne", np.not_equal)
lt_, le_ = _comparison("lt", np.less), _comparison("le", np.less_equal)
gt_, ge_ = _comparison("gt", np.greater), _comparison("ge", np.greater_equal)


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form of an operation of logic or bits, which torch does not record either."""

    def method(x: TensorState, *others: Any) -> Any:
        with no_grad():
            return copy_(x, function(x, *[as_operand(other, x, f"{function.__name__}_") for other in others]))

    method.__name__, method.__doc__ = f"{function.__name__}_", f"`{function.__name__}`, written into x."
    return method


logical_and_, logical_or_ = _written(comparison.logical_and), _written(comparison.logical_or)
logical_xor_, logical_not_ = _written(comparison.logical_xor), _written(comparison.logical_not)
bitwise_and_, bitwise_or_ = _written(comparison.bitwise_and), _written(comparison.bitwise_or)
bitwise_xor_, bitwise_not_ = _written(comparison.bitwise_xor), _written(comparison.bitwise_not)
bitwise_left_shift_ = _written(comparison.bitwise_left_shift)
bitwise_right_shift_ = _written(comparison.bitwise_right_shift)
