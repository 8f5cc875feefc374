"""No write between forward and backward changes a gradient unnoticed, and none is refused that torch lets pass."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import microtape
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS
from tests.parity_ops.test_table import like, outputs, plain, same

pytestmark = pytest.mark.parity

CALLS = [row for row in ROWS if not (row.name.startswith("wrong") or row.in_place or row.differs)]
REFUSED = {
    "logaddexp": "PyTorch's backward uses the operands, ours the result",
    "erfinv": "likewise",
    "polar": "PyTorch computes and saves the sine and cosine, ours saves the angle",
    "attention": "PyTorch saves the scaled queries and keys, ours as they were given",
    "kron": "PyTorch's product of these shapes saves copies",
    "einsum of sizes 1": "likewise",
    "cdist of many stacks": "likewise",
    "take_along_dim": "PyTorch saves the indices counted from the front",
}
"""The rows, by the beginnings of their names, of which a write is refused here alone."""


@pytest.mark.parametrize("row", CALLS, ids=[row.name for row in CALLS])
def test_a_write_is_refused_as_in_torch_or_makes_no_difference(row, torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not gradients(row, torch):
            return
        expected = gradients(row, microtape)
        for written in (*range(len(row.inputs)), "result"):
            theirs, ours = gradients(row, torch, written), gradients(row, microtape, written)
            if isinstance(ours, Exception):
                assert isinstance(ours, RuntimeError), f"{written}: {ours!r}"
                if isinstance(theirs, RuntimeError):
                    assert str(ours)[:40] == str(theirs)[:40], f"{written}: in other words"
                else:
                    assert row.name.startswith(tuple(REFUSED)), f"{written}: {ours}"
            else:  # what is not needed is not saved
                assert all(same(a, b, True) for a, b in zip(expected, ours, strict=True)), f"{written}: {theirs}"


def gradients(row, mt, written=None):
    """The gradients, or what backward raises, once an operand or the first result has got other numbers."""
    try:
        xs = operands(row, mt)
        zs = outputs(row.call(mt, *xs))
    except Exception:
        return []  # other tests compare what is raised
    leaves, roots = ([one for one in ones if one.requires_grad] for ones in (xs, zs))
    if not leaves or not roots:
        return []
    random = np.random.default_rng(3)
    seeds = [mt.tensor(like(random, z)) for z in roots]
    if written is not None:
        change(mt, zs[0] if written == "result" else xs[written])
    try:
        return [plain(g) for g in mt.autograd.grad(roots, leaves, seeds, allow_unused=True)]
    except Exception as error:
        return error


def change(mt, tensor):
    """Write other numbers into a tensor: 0 and 1 for indices, which stay within bounds."""
    try:
        with mt.no_grad():
            if tensor.dtype in (mt.bool, mt.int64):
                tensor.copy_(mt.logical_not(tensor))
            else:
                tensor.add_(1)
    except RuntimeError:
        pass  # an expanded result takes no writes
