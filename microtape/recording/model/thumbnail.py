"""An array as a small matrix: the means of its blocks."""

from __future__ import annotations

import functools
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

_ROWS, _COLUMNS = 8, 16
_WIDE = 1 << 12  # rows are added together until they have as many columns, so that narrow matrices take no longer
_WIDE_ENOUGH = 64

Thumbnail: TypeAlias = "tuple[tuple[float | None, ...], ...]"

_TENS = 10.0 ** np.arange(23)

_Numbers = npt.NDArray[np.floating[Any]]
_Indices = npt.NDArray[np.intp]


def thumbnail(numbers: _Numbers, *, finite: bool, quick: bool) -> Thumbnail:
    """Block means, to four digits, of the array as a matrix (leading dimensions stacked); None: no finite element.

    Args:
        numbers: any shape.
        finite: whether all numbers are finite.
        quick: add in the dtype of the numbers, unless that overflows; otherwise in float64.
    """
    if not numbers.size:
        return ()
    matrix = numbers.reshape(-1, numbers.shape[-1] if numbers.ndim else 1)
    height, width = matrix.shape
    rows, columns, counts = _blocks(height, width)
    sums = _quick_sums if quick else _sums
    if not finite:
        known = np.isfinite(matrix)
        matrix = np.where(known, matrix, 0.0)
        counts = sums(known.astype(np.float32), rows, columns)
    totals, scale = sums(matrix if quick else matrix.astype(np.float64, copy=False), rows, columns), 1.0
    if not np.isfinite(totals).all():
        scale = float(np.abs(matrix).max())
        totals = _sums(matrix.astype(np.float64, copy=False) / scale, rows, columns)
    if finite:
        return _rounded(totals / counts * scale)
    return _known(np.divide(totals, counts, out=np.zeros(totals.shape), where=counts > 0) * scale, counts)


def means_of_blocks(sums: _Numbers, counts: _Numbers) -> Thumbnail:
    """The same from the sums of the finite elements of each block, and from how many there are."""
    return _known(np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0), counts)


def block_starts(side: int, axis: Literal[0, 1]) -> tuple[list[int], list[int]]:
    """The first index of each block along a side, and the index after its last."""
    starts = _starts(side, (_ROWS, _COLUMNS)[axis]).tolist()
    return starts, [*starts[1:], side]


def _rounded(means: _Numbers) -> Thumbnail:
    return tuple(map(tuple, _four_digits(means).tolist()))


def _known(means: _Numbers, counts: _Numbers) -> Thumbnail:
    return tuple(
        tuple(mean if count else None for mean, count in zip(*row, strict=True))
        for row in zip(_rounded(means), counts.tolist(), strict=True)
    )


@functools.lru_cache(256)
def _blocks(height: int, width: int) -> tuple[_Indices, _Indices, _Numbers]:
    """The first rows of the blocks, their first columns, and how many elements each block has."""
    rows, columns = _starts(height, _ROWS), _starts(width, _COLUMNS)
    return rows, columns, np.multiply.outer(_lengths(rows, height), _lengths(columns, width)).astype(np.float64)


def _starts(side: int, most: int) -> _Indices:
    """The first index of each block along a side."""
    blocks = min(side, most)
    return np.arange(blocks) * side // blocks


def _lengths(starts: _Indices, side: int) -> _Indices:
    lengths = np.empty_like(starts)
    lengths[:-1], lengths[-1] = starts[1:] - starts[:-1], side - starts[-1]
    return lengths


def _sums(matrix: _Numbers, rows: _Indices, columns: _Indices) -> _Numbers:
    return np.add.reduceat(np.add.reduceat(matrix, rows, axis=0), columns, axis=1)


def _quick_sums(matrix: _Numbers, rows: _Indices, columns: _Indices) -> _Numbers:
    """The sums of the blocks of a large matrix, added as it lies in memory."""
    if matrix.flags.f_contiguous and not (matrix.flags.c_contiguous and len(matrix) >= matrix.shape[1]):
        return _quick_sums(matrix.T, columns, rows).T
    if not len(matrix) % len(rows) and matrix.shape[1] >= _WIDE_ENOUGH:  # all blocks at once
        blocks = matrix.reshape(len(rows), -1, matrix.shape[1])
        return np.add.reduceat((np.ones(blocks.shape[1], matrix.dtype) @ blocks), columns, axis=1)
    totals = [_column_sums(matrix[start:end]) for start, end in zip(rows, [*rows[1:], len(matrix)], strict=True)]
    return np.add.reduceat(np.stack(totals), columns, axis=1)


def _column_sums(rows: _Numbers) -> _Numbers:
    height, width = rows.shape
    together = max(1, _WIDE // width) if width < _WIDE_ENOUGH else 1
    even = height // together * together
    wide = rows[:even].reshape(-1, together * width)
    sums: _Numbers = np.ones(len(wide), rows.dtype) @ wide  # several times as quick as wide.sum(axis=0)
    if together > 1:
        sums = sums.reshape(together, width).sum(axis=0, dtype=np.float64)
        if even < height:
            sums += rows[even:].sum(axis=0, dtype=np.float64)
    return sums


def _four_digits(numbers: _Numbers) -> _Numbers:
    """The numbers rounded to four digits, so that they are short as text; the largest and smallest stay as they are."""
    magnitude = np.abs(numbers)
    usual = (magnitude > 1e-18) & (magnitude < 1e18)  # there, powers of ten are exact
    digits = 3 - np.floor(np.log10(np.where(usual, magnitude, 1.0))).astype(np.intp)
    up, down = _TENS[np.maximum(digits, 0)], _TENS[np.maximum(-digits, 0)]
    return np.where(usual, np.rint(numbers * up / down) / up * down, numbers)
