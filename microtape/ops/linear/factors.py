"""`torch.svd`, which gives V where `linalg.svd` gives Vᴴ; and `renorm`, which scales slices that are too long."""

from __future__ import annotations

from typing import Any

from microtape.ops.elementwise.selection import where
from microtape.ops.linear import decomposition
from microtape.ops.linear.linalg import transposed
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.shape.casting import clone, contiguous, copy_
from microtape.ops.shared.arguments import dim_index
from microtape.tape.multi_output import return_type
from microtape.tape.tensor_state import zeros_like

__all__ = ["renorm", "svd"]

_Svd = return_type("svd", "U", "S", "V")
_LITTLE = 1e-7  # keeps `renorm` from dividing by 0


def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """`input` = U · diag(S) · Vᴴ as (U, S, V), S descending; all columns of U and V unless `some`.

    Without `compute_uv`, U and V are zeros. Raises RuntimeError if `input` is no matrix of floating point numbers.
    """
    if not compute_uv:
        values = decomposition.svdvals(input)
        *batch, rows, columns = input.shape
        u, v = (zeros_like(input, (*batch, size, size), input.dtype) for size in (rows, columns))
        return _Svd(u, values, v)
    u, s, vh = decomposition.svd(input, not some)
    return _Svd(u, s, transposed(vh).conj())


def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """`input`, with each slice at an index of `dim` scaled down to the p-norm `maxnorm` if its norm is larger.

    Raises RuntimeError for less than two dimensions, for p that is not positive, and for a negative `maxnorm`.
    """
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    dim = dim_index(dim, input.ndim)
    norms = vector_norm(input, p, tuple([one for one in range(input.ndim) if one != dim]), keepdim=True)
    return contiguous(input * where(norms > maxnorm, maxnorm / (norms + _LITTLE), 1.0))


def renorm_(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """`renorm`, in place."""
    return copy_(x, renorm(clone(x), p, dim, maxnorm))
