"""Conditions such as `grad.max() > 10` or `isnan(grad)`: a small language, read by Python's parser, never run by it.

A condition is parsed once, and may contain only what this module lists. It is then evaluated on the `Facts` of a
moment. A fact that is unknown there, such as a gradient during forward, makes the condition false.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microtape.recording.model.model import BackwardStep, Recording, Summary, TensorRef, Value

_HELP = (
    "grad, value, shape, dtype, op, name, node, line, step, isnan(), isinf(), abs(), .max() .min() .mean() .norm() ..."
)
_MEASURES = ("max", "min", "mean", "std", "sum", "norm")
_LONGEST = 500  # characters of a condition
_COMPARE: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class ExpressionError(ValueError):
    """A text is not a condition; the message says why, for the user."""


class Unknown(Exception):  # noqa: N818 - not an error: the condition is simply false
    """A fact in the condition is unknown at this moment."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a condition can ask about at a moment. `grad` is the gradient that reached the node's output."""

    grad: Value | None
    value: Value | None
    op: str
    name: str
    node: int
    line: int | None
    step: int | None

    @classmethod
    def of(cls, recording: Recording, node: int, step: BackwardStep | None, ref: TensorRef | None) -> Facts:
        """The facts when a node is recorded, or evaluated in a step; `ref` is its output, or its leaf."""
        record = recording.nodes[node]
        grads = step.grad_outputs if step is not None else ()
        return cls(
            grad=next((value for value in grads if value is not None), None),
            value=recording.value(ref),
            op=record.op,
            name=recording.label(node),
            node=node,
            line=record.place.line if record.place is not None else None,
            step=None if step is None else step.index + 1,
        )


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition."""

    text: str
    tree: ast.expr

    @classmethod
    def read(cls, text: str) -> Condition:
        """Parse a condition.

        Raises:
            ExpressionError: `text` is not a condition.
        """
        if len(text) > _LONGEST:
            raise ExpressionError("the condition is too long")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(f"{text.strip()!r} is neither a place nor a condition") from None
        _check(tree)
        return cls(text.strip(), tree)

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true of these facts; an unknown fact makes it false."""
        try:
            with np.errstate(all="ignore"):
                result = _evaluate(self.tree, facts)
            return bool(np.any(result)) if isinstance(result, np.ndarray) else bool(result)
        except (Unknown, TypeError, ArithmeticError, ValueError):
            return False


def _check(tree: ast.expr) -> None:
    """Raise ExpressionError for anything outside the language, before it is evaluated."""
    match tree:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return
        case ast.Name(id=name):
            if name not in (*Facts.__slots__, "shape", "dtype"):
                raise ExpressionError(f"there is no {name!r} in conditions; there are {_HELP}")
            return
        case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            pass
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=one):
            parts = [one]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            parts = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in _COMPARE for op in ops):
            parts = [left, *rest]
        case ast.Attribute(value=of, attr="shape" | "dtype" | "size" | "ndim"):
            parts = [of]
        case ast.Call(func=ast.Name(id="isnan" | "isinf" | "abs"), args=[one], keywords=[]):
            parts = [one]
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=[], keywords=[]) if name in _MEASURES:
            parts = [of]
        case _:
            raise ExpressionError(f"{ast.unparse(tree)!r} is not part of conditions; there are {_HELP}")
    for part in parts:
        _check(part)


def _evaluate(tree: ast.expr, facts: Facts) -> Any:
    match tree:
        case ast.Constant(value=value):
            return value
        case ast.Name(id="shape" | "dtype" as name):
            return _property(facts.value if facts.value is not None else facts.grad, name)
        case ast.Name(id=name):
            found = getattr(facts, name)
            if found is None:
                raise Unknown
            return found
        case ast.Tuple(elts=parts):
            return tuple(_evaluate(part, facts) for part in parts)
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_evaluate(part, facts) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_evaluate(part, facts) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=one):
            return not _evaluate(one, facts)
        case ast.UnaryOp(operand=one):
            return -_evaluate(one, facts)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_number(_evaluate(left, facts)), _number(_evaluate(right, facts)))
        case ast.Compare(left=left, ops=ops, comparators=rest):
            values = [_evaluate(one, facts) for one in (left, *rest)]
            return all(_compare(op, a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.Attribute(value=of, attr=name):
            return _property(_evaluate(of, facts), name)
        case ast.Call(func=ast.Name(id=name), args=[one]):
            return _function(name, _evaluate(one, facts))
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return _measure(_evaluate(of, facts), name)
    raise Unknown


def _compare(op: ast.cmpop, a: Any, b: Any) -> bool:
    if isinstance(a, str | tuple) and type(a) is type(b) and not isinstance(a, Summary):
        return bool(_COMPARE[type(op)](a, b))
    return bool(np.any(_COMPARE[type(op)](_number(a), _number(b))))


def _number(x: Any) -> Any:
    """A number or an array; a comparison with an array is true if it is true for any element."""
    if isinstance(x, Summary | str | tuple):
        raise Unknown
    return x


def _property(x: Any, name: str) -> Any:
    if not isinstance(x, np.ndarray | Summary):
        raise Unknown
    found = {"shape": x.shape, "dtype": str(x.dtype), "size": math.prod(x.shape), "ndim": len(x.shape)}
    return found[name]


def _function(name: str, x: Any) -> Any:
    if isinstance(x, Summary):
        if name == "abs":
            raise Unknown
        return bool(x.nans if name == "isnan" else x.infs)
    if name == "abs":
        return np.abs(x)
    return bool(np.any(np.isnan(x) if name == "isnan" else np.isinf(x)))


def _measure(x: Any, name: str) -> Any:
    if isinstance(x, Summary):
        found = getattr(x, name, None) if name in ("max", "min", "mean", "std") else None
        if found is None:
            raise Unknown
        return found
    array = np.asarray(x)
    if not array.size:
        raise Unknown
    return np.linalg.norm(array) if name == "norm" else getattr(array, name)()
