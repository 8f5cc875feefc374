"""A row of the table: an operation, and what it is called with.

`call(mt, *operands)` runs on torch and on microtape. A row's operands are compared with torch in value, dtype, shape,
first and second derivative and in the name of the node; without torch the derivatives are checked numerically.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.parity_ops.inputs import Input


class Row(NamedTuple):
    """One call."""

    name: str
    call: Callable[..., Any]
    inputs: tuple[Input, ...]
    node: bool = True  # whether the node has torch's name
    smooth: bool = True  # whether numerical derivatives make sense here
    twice: bool = True  # whether second derivatives are compared
    in_place: bool = False  # whether versions are compared: torch writes in places of its own, too
    differs: str = ""  # how microtape is different here on purpose


ROWS: list[Row] = []


def row(name: str, call: Callable[..., Any], *inputs: Input, **options: Any) -> None:
    """Add a line."""
    ROWS.append(Row(name, call, inputs, **options))


def operands(row: Row, mt: Any) -> list[Any]:
    """The row's operands as tensors of that library."""
    random = np.random.default_rng(7)
    made = []
    for one in row.inputs:
        array = one.make(random)
        tensor = mt.tensor(array)
        made.append(tensor if one.fixed or array.dtype.kind not in "fc" else tensor.requires_grad_())
    return made


def each_shape(name: str, call: Callable[..., Any], kind: Callable[..., Input], **options: bool) -> None:
    """An operation on each element by itself: of a matrix, a scalar and nothing; of float and complex."""
    for shape in ((2, 3), (), (0, 2)):
        row(f"{name} {shape}", call, kind(*shape), **options)


def each_function(names: str, kind: Callable[..., Input]) -> None:
    """`each_shape`, for functions without other arguments."""
    for name in names.split():
        each_shape(name, lambda mt, x, name=name: getattr(mt, name)(x), kind)


def broadcast(name: str, call: Callable[..., Any], *kinds: Callable[..., Input], **options: bool) -> None:
    """An operation on two tensors, of shapes that broadcast."""
    for shapes in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,)), ((2, 3), ()), ((1, 3), (0, 3))):
        operands = [kind(*shape) for kind, shape in zip(kinds, shapes, strict=True)]
        row(f"{name} {shapes}", call, *operands, **options)
