"""The largest and the smallest element up to each one along a dimension."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from microtape.ops.indexing.gathering import scatter_add
from microtape.ops.reduction.cumulative import accumulated
from microtape.ops.shared.arguments import dim_index
from microtape.ops.shared.kinds import refusal_of
from microtape.tape.multi_output import MultiOutputOperation, call_multi_output, return_type
from microtape.tape.tensor_state import Array, zeros_like

__all__ = ["cummax", "cummin"]


class RunningChoice(MultiOutputOperation):
    """Common: the element chosen so far, at ties the later one; from the first NaN on, NaN."""

    __slots__ = ("dim",)
    row_major = True
    results = ("values", "indices")
    choose: ClassVar[Any]

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Array) -> tuple[Any, Any]:
        if not x.ndim:
            return x.copy(), np.zeros((), np.int64)
        if x.dtype.kind == "c":
            raise refusal_of(x.dtype, f"{self.op}_cpu")
        values = accumulated(self.choose, x, self.dim, x.dtype)
        new = (x == values) | np.isnan(x)
        places = np.arange(x.shape[self.dim]).reshape((-1,) + (1,) * (x.ndim - 1 - self.dim))
        return values, accumulated(np.maximum, np.where(new, places, 0), self.dim, np.int64)

    def grad_x(self, g: Any, indices: Any) -> Any:
        return scatter_add(zeros_like(g[0], indices.shape, g[0].dtype), self.dim, indices, g[0])


class CummaxBackward0(RunningChoice):
    __slots__ = ()
    formula = "zᵢ = the largest of x₀ … xᵢ    ∂x = g, each where it was chosen"
    returns = return_type("cummax", "values", "indices")
    choose = np.maximum


class CumminBackward0(RunningChoice):
    __slots__ = ()
    formula = "zᵢ = the smallest of x₀ … xᵢ    ∂x = g, each where it was chosen"
    returns = return_type("cummin", "values", "indices")
    choose = np.minimum


def cummax(input: Any, dim: int) -> Any:
    """The largest element up to each one along `dim`, and its index, as (values, indices)."""
    return call_multi_output(CummaxBackward0(dim_index(dim, input.ndim)), input)


def cummin(input: Any, dim: int) -> Any:
    """The smallest element up to each one along `dim`, and its index, as (values, indices)."""
    return call_multi_output(CumminBackward0(dim_index(dim, input.ndim)), input)
