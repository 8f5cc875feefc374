"""Matrices put together: blocks on a diagonal, powers of a vector, all pairs of elements."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from microtape.ops.elementwise.exponential import pow
from microtape.ops.indexing.diagonals import diag_embed
from microtape.ops.indexing.index_along import index_select
from microtape.ops.indexing.padding import pad
from microtape.ops.shape.joining import atleast_2d, cat, meshgrid, stack
from microtape.ops.shape.reshaping import reshape, unsqueeze
from microtape.tape.tensor_state import new_tensor

__all__ = ["block_diag", "cartesian_prod", "combinations", "diagflat", "vander"]


def block_diag(*tensors: Any) -> Any:
    """A matrix with the given matrices along its diagonal and zeros elsewhere; a vector is a matrix of one row."""
    blocks = [atleast_2d(one) for one in tensors]
    width, before, rows = sum([one.shape[1] for one in blocks]), 0, []
    for one in blocks:
        rows.append(pad(one, (before, width - before - one.shape[1])))
        before += one.shape[1]
    return cat(rows, 0)


def cartesian_prod(*tensors: Any) -> Any:
    """All tuples of one element from each vector, as the rows of a matrix; of a single vector, the vector."""
    if len(tensors) == 1:
        return reshape(tensors[0], (-1,))
    return stack([reshape(one, (-1,)) for one in meshgrid(*tensors, indexing="ij")], 1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` elements of a vector, as the rows of a matrix; as `itertools.combinations`."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), np.int64)
    picked = index_select(input, 0, new_tensor(type(input), places.reshape(-1)))
    return reshape(picked, (-1, r))


def diagflat(input: Any, offset: int = 0) -> Any:
    """A matrix with the elements of `input` on its diagonal number `offset`."""
    return diag_embed(reshape(input, (-1,)), offset)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803 - torch's name
    """The powers of a vector's elements as rows: xᴺ⁻¹, …, x, 1, or in `increasing` order."""
    count = x.shape[0] if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return pow(unsqueeze(x, 1), new_tensor(type(x), powers.copy()))
