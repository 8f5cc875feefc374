"""Rows: what has no gradient: comparisons, logic, positions and counts. Their results never require grad."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.parity_ops import rows
from tests.parity_ops.inputs import below, complex_, exactly, fixed, mask, real

row = partial(rows.row, smooth=False)
NAN = exactly([1.0, np.nan, np.inf, -np.inf, 0.0])

for name in ["eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "isclose"]:
    row(f"{name} of tensors", lambda mt, x, y, n=name: getattr(mt, n)(x, y), exactly([1.0, 2]), exactly([[1.0], [3]]))
    row(f"{name} with NaN", lambda mt, x, n=name: getattr(mt, n)(x, x), NAN, twice=False)
for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
    row(f"{name} number", lambda mt, x, n=name: getattr(x, n)(1), exactly([0.5, 1.0, 2.0]))
for name, compare in {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}.items():
    row(f"x {name} y", lambda mt, x, y, c=compare: c(x, y), real(2, 3), real(3))
    row(f"x {name} 0.5", lambda mt, x, c=compare: c(x, 0.5), real(2, 3))
    row(f"0.5 {name} x", lambda mt, x, c=compare: c(0.5, x), real(2, 3))
for name in ["logical_and", "logical_or", "logical_xor"]:
    row(name, lambda mt, x, y, n=name: getattr(mt, n)(x, y), exactly([0.0, 2.0]), exactly([[1.0], [0.0]]))
for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    row(name, lambda mt, x, y, n=name: getattr(mt, n)(x, y), below(8, 4), below(8, 3, 1))
    row(f"{name} of bools", lambda mt, x, y, n=name: getattr(mt, n)(x, y), mask(4), mask(3, 1))
for name in ["isnan", "isinf", "isfinite", "logical_not"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x), NAN)
row("bitwise_not", lambda mt, x: mt.bitwise_not(x), below(8, 4))
row("~", lambda mt, x: ~x, mask(4))
for name, join in {"&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y}.items():
    row(f"x {name} y", lambda mt, x, y, j=join: j(x, y), mask(4), mask(4))
    row(f"x {name} 5", lambda mt, x, j=join: j(x, 5), below(8, 4))
for name in ["any", "all"]:
    for shape in ((2, 3), (), (0, 2)):
        row(f"{name} of {shape}", lambda mt, x, n=name: getattr(mt, n)(x), mask(*shape))
        row(f"{name} of floats {shape}", lambda mt, x, n=name: getattr(x, n)(), real(*shape))
    row(f"{name} along", lambda mt, x, n=name: getattr(mt, n)(x, 1), mask(2, 3))
    row(f"{name} along two", lambda mt, x, n=name: getattr(x, n)((0, -1), keepdim=True), mask(2, 3, 2))
for name in ["argmax", "argmin"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x), real(2, 3))
    row(f"{name} along", lambda mt, x, n=name: getattr(mt, n)(x, -1), real(2, 3))
    row(f"{name} keepdim", lambda mt, x, n=name: getattr(x, n)(dim=0, keepdim=True), real(2, 3))
    row(f"{name} all keepdim", lambda mt, x, n=name: getattr(x, n)(keepdim=True), real(2, 3))
    row(f"{name} of a scalar", lambda mt, x, n=name: getattr(x, n)(0), real())
    row(f"{name} at ties", lambda mt, x, n=name: getattr(x, n)(1), exactly([[2.0, 1, 2], [1, 2, 1]]))
    row(f"{name} with NaN", lambda mt, x, n=name: getattr(x, n)(), NAN)
row("argsort", lambda mt, x: mt.argsort(x, 0), real(3, 2))
row("argsort descending", lambda mt, x: x.argsort(descending=True), real(3, 2))
row("argsort stable", lambda mt, x: mt.argsort(x, stable=True), exactly([1.0, 0, 1, 0]))
row("count_nonzero", lambda mt, x: mt.count_nonzero(x), exactly([[0.0, 1], [2, 3]]))
row("count_nonzero along", lambda mt, x: x.count_nonzero(0), exactly([[0.0, 1], [2, 3]]))
row("nonzero", lambda mt, x: mt.nonzero(x), exactly([[0.0, 1], [2, 0]]))
row("nonzero as_tuple", lambda mt, x: x.nonzero(as_tuple=True), exactly([[0.0, 1], [2, 0]]))
row("nonzero of a scalar", lambda mt, x: x.nonzero(), real())
row("isclose tolerances", lambda mt, x, y: mt.isclose(x, y, 0.1, 0.01), exactly([1.0, 0.0]), exactly([1.05, 0.02]))
row("isclose equal_nan", lambda mt, x: mt.isclose(x, x, equal_nan=True), NAN)
row("allclose", lambda mt, x: mt.tensor([mt.allclose(x, x), mt.allclose(x, x + 1)]), real(3))
row("equal", lambda mt, x: mt.tensor([mt.equal(x, x), mt.equal(x, x[:2]), mt.equal(x, x + 1)]), real(3))
row("one_hot", lambda mt, i: mt.nn.functional.one_hot(i), fixed([[2, 0], [1, 1]]))
row("one_hot classes", lambda mt, i: mt.nn.functional.one_hot(i, 5), fixed([2, 0]))
for name in ["bool", "byte", "char", "short", "int", "long"]:
    row(f"{name}()", lambda mt, x, n=name: getattr(x, n)(), exactly([0.0, 1.5, 100.0]))
row("tril_indices", lambda mt: mt.tril_indices(3, 4, -1))
row("triu_indices", lambda mt: mt.triu_indices(3, 4, 1))
row("bincount", lambda mt, x: mt.bincount(x), fixed([1, 3, 1, 0]))
row("bincount minlength", lambda mt, x: x.bincount(minlength=6), fixed([1, 3]))
row("bincount weights", lambda mt, x, w: mt.bincount(x, w), fixed([1, 3, 1]), fixed([0.5, 1.5, 2.5]))
row("bincount of nothing", lambda mt, x: mt.bincount(x), fixed([], np.int64))
row("wrong: bincount of negative", lambda mt, x: mt.bincount(x), fixed([-1]))
row("wrong: bincount of a matrix", lambda mt, x: mt.bincount(x), below(3, 2, 2))
row("wrong: bincount of floats", lambda mt, x: mt.bincount(x), fixed([1.0]))
row("histc", lambda mt, x: mt.histc(x, 4), fixed([0.0, 1.0, 1.0, 4.0]))
row("histc within", lambda mt, x: x.histc(bins=3, min=0.5, max=3), fixed([0.0, 1.0, 1.0, 4.0, 2.9]))
row("unique", lambda mt, x: mt.unique(x), below(3, 7))
row("unique with counts", lambda mt, x: x.unique(return_inverse=True, return_counts=True), below(3, 2, 4))
row("unique along", lambda mt, x: mt.unique(x, dim=0), fixed([[1, 2], [0, 1], [1, 2]]))
row("isin", lambda mt, x, y: mt.isin(x, y), below(5, 2, 3), below(5, 2))
row("isin a number", lambda mt, x: mt.isin(x, 2, invert=True), below(5, 2, 3))
row("bucketize", lambda mt, x, b: mt.bucketize(x, b), fixed([[0.5, 1.0], [2.5, 9.0]]), fixed([1.0, 2.0, 3.0]))
row("bucketize right", lambda mt, x, b: mt.bucketize(x, b, right=True), fixed([0.5, 1.0]), fixed([1.0, 2.0]))
row("wrong: bucketize a matrix", lambda mt, x: mt.bucketize(x, x), real(2, 2))
row("is_tensor", lambda mt, x: mt.tensor([mt.is_tensor(x), mt.is_tensor(1)]), real(2))
row("numel", lambda mt, x: mt.tensor([mt.numel(x), x.nelement(), x.ndimension()]), real(2, 3))
row("is_complex", lambda mt, x, z: mt.tensor([mt.is_complex(x), mt.is_complex(z)]), real(2), complex_(2))
row(
    "is_floating_point",
    lambda mt, x, i: mt.tensor([mt.is_floating_point(x), mt.is_floating_point(i)]),
    real(),
    below(2),
)
row("broadcast_shapes", lambda mt: mt.tensor(mt.broadcast_shapes((2, 1), (3,), (1, 1, 3))))
row("wrong: broadcast_shapes", lambda mt: mt.tensor(mt.broadcast_shapes((2, 1), (3, 3))))
row("finfo", lambda mt: mt.tensor([float(mt.finfo(mt.float32).eps), float(mt.finfo(mt.float64).max)], dtype=mt.float64))
row("iinfo", lambda mt: mt.tensor([mt.iinfo(mt.int64).max, mt.iinfo(mt.uint8).min]))
row("wrong: histc bins", lambda mt, x: mt.histc(x, 0), fixed([1.0]))
row("wrong: histc bounds", lambda mt, x: mt.histc(x, 3, 5, 1), fixed([1.0]))
