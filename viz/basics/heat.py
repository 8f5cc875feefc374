"""An array as a small matrix for a heat map: its elements if it is small, else the means of a few blocks."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize

LARGEST_SIDE = 12  # of a matrix that is shown number by number

Cell: TypeAlias = "float | str | None"
"""A number to four digits; `nan`, `inf` or `-inf`; None for a block of a large array without finite elements."""


class Heat(NamedTuple):
    """A matrix of cells, whether the cells are single elements, and the largest finite magnitude."""

    cells: tuple[tuple[Cell, ...], ...]
    exact: bool
    largest: float


def heat(value: Value) -> Heat:
    """The array as a matrix, with leading dimensions stacked; complex numbers are shown by their magnitude."""
    if isinstance(value, Summary):
        return _as_heat(value.thumbnail, False)
    columns = value.shape[-1] if value.ndim else 1
    if not value.size or columns > LARGEST_SIDE or value.size // columns > LARGEST_SIDE:
        return _as_heat(summarize(value).thumbnail, False)
    numbers = np.abs(value) if value.dtype.kind == "c" else value
    return _as_heat(tuple(map(tuple, numbers.reshape(-1, columns).tolist())), True)


def _as_heat(rows: tuple[tuple[float | None, ...], ...], exact: bool) -> Heat:
    cells = tuple(tuple(None if number is None else _cell(float(number)) for number in row) for row in rows)
    finite = [abs(cell) for row in cells for cell in row if isinstance(cell, float)]
    return Heat(cells, exact, max(finite, default=0.0))


def _cell(number: float) -> Cell:
    if not np.isfinite(number):
        return str(number)
    rounded = float(format_number(number))
    return rounded if np.isfinite(rounded) else number  # the largest floats round up to infinity
