"""Where torch's result is contiguous, ours is: then `view` takes it in the same shapes."""

from __future__ import annotations

import warnings
import zlib

import numpy as np
import pytest

import microtape
from tests.parity_ops.table import ROWS

pytestmark = pytest.mark.parity

EXCEPTIONS = {
    "mul real complex": "PyTorch's product of an expanded real tensor and a complex one is row-major",
    "rms_norm": "PyTorch's is row-major",
    "einsum i...,j...->ij...": "PyTorch's product of expanded tensors is row-major",
    "huber_loss none": "PyTorch's loss of an expanded tensor and one laid out by columns is row-major",
    "huber_loss weighted none": "as without weights",
}
"""The rows, by the beginnings of their names, whose results are laid out like an operand here alone."""


def laid_out(mt, array, layout):
    """A tensor with these numbers: contiguous, laid out by columns, with gaps, or expanded (of the first ones)."""
    if layout == "columns":
        return mt.from_numpy(np.asfortranarray(array))
    if layout == "inner" and array.ndim > 1:
        return mt.from_numpy(np.moveaxis(np.moveaxis(array, -1, 0).copy(), 0, -1))
    if layout == "outer" and array.ndim > 1:
        return mt.from_numpy(array.swapaxes(0, 1).copy().swapaxes(0, 1))
    if layout == "gaps" and array.ndim:
        return mt.from_numpy(np.repeat(array, 2, -1)[..., ::2])
    if layout == "expanded" and array.ndim:
        return mt.from_numpy(array[:1].copy()).expand(array.shape)
    if layout == "expanded last" and array.ndim:
        return mt.from_numpy(array[..., :1].copy()).expand(array.shape)
    return mt.from_numpy(array.copy())


LAYOUTS = ("rows", "columns", "inner", "outer", "gaps", "expanded", "expanded last")


def layouts_of(count):
    """The layouts of so many operands: each of all, and mixed ones."""
    mixed = [("columns", "rows"), ("rows", "columns"), ("expanded", "columns"), ("outer", "inner"), ("gaps", "columns")]
    return [(one,) * count for one in LAYOUTS] + [(a, *[b] * (count - 1)) for a, b in mixed if count > 1]


def contiguous(row, mt, layouts):
    """Whether each result of a call with operands of these layouts is contiguous; None if it raises."""
    random = np.random.default_rng(zlib.crc32(row.name.encode()))
    operands = []
    for one, layout in zip(row.inputs, layouts, strict=True):
        array = np.asarray(one.make(random))
        tensor = laid_out(mt, array, layout)
        operands.append(tensor if one.fixed or array.dtype.kind not in "fc" else tensor.requires_grad_())
    try:
        found = row.call(mt, *operands)
    except Exception:
        return None
    return [
        one.is_contiguous()
        for one in (found if isinstance(found, tuple | list) else [found])
        if isinstance(one, mt.Tensor)
    ]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_results_are_contiguous_where_torchs_are(row, torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layouts in layouts_of(len(row.inputs)):
            theirs, ours = contiguous(row, torch, layouts), contiguous(row, microtape, layouts)
            if theirs is None or ours is None or row.name.startswith(tuple(EXCEPTIONS)):
                continue  # other tests compare what is raised
            assert all(b or not a for a, b in zip(theirs, ours, strict=True)), layouts
