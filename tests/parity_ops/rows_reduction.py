"""Rows: many elements into one, and running ones."""

from __future__ import annotations

import numpy as np

from tests.parity_ops.inputs import complex_, exactly, fixed, real
from tests.parity_ops.rows import row

# Many into one

NAN = exactly([1.0, np.nan, 2.0])
SORTED = "max min amax amin median sort argsort cumsum softmax logsumexp"

for name in ["sum", "mean"]:
    for shape in ((2, 3), (), (0, 2)):
        row(f"{name} {shape}", lambda mt, x, name=name: getattr(mt, name)(x), real(*shape), smooth=0 not in shape)
for name in ["sum", "mean", "amax", "amin", "var", "std", "logsumexp"]:
    for dim in (0, -1, (0, 2)):
        row(f"{name} dim {dim}", lambda mt, x, n=name, d=dim: getattr(mt, n)(x, d), real(2, 3, 2))
        row(f"{name} dim {dim} keepdim", lambda mt, x, n=name, d=dim: getattr(mt, n)(x, d, keepdim=True), real(2, 3, 2))
row("sum dtype", lambda mt, x: x.sum(0, dtype=mt.float32), real(2, 3), smooth=False)
row("sum complex", lambda mt, x: x.sum(0), complex_(2, 3))
row("mean complex", lambda mt, x: x.mean(), complex_(2, 3))
row("var unbiased=False", lambda mt, x: x.var(0, unbiased=False), real(4, 2))
row("var correction", lambda mt, x: x.var(correction=2), real(4, 2))
row("var complex", lambda mt, x: x.var(), complex_(4))
row("std correction", lambda mt, x: x.std(1, correction=0, keepdim=True), real(2, 4))
row("std of equals", lambda mt, x: x.std(), exactly([2.0, 2.0]), smooth=False, twice=False)
row("var_mean", lambda mt, x: mt.var_mean(x, 1), real(2, 4))
row("std_mean", lambda mt, x: mt.std_mean(x, 1), real(2, 4))
for name in ["max", "min", "amax", "amin", "median"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x), real(5))
    row(f"{name} at ties", lambda mt, x, n=name: getattr(mt, n)(x), exactly([2.0, 1, 2, 1, 1]), smooth=False)
for name in ["max", "min", "median"]:
    row(f"{name} dim", lambda mt, x, n=name: getattr(mt, n)(x, 1), real(2, 5))
    row(f"{name} dim keepdim", lambda mt, x, n=name: getattr(mt, n)(x, dim=0, keepdim=True), real(3, 2))
    row(f"{name} dim scalar", lambda mt, x, n=name: getattr(mt, n)(x, 0), real())
row("max dim at ties", lambda mt, x: x.max(0), exactly([1.0, 2, 2]), smooth=False)
row("kthvalue", lambda mt, x: mt.kthvalue(x, 2), real(2, 5))
row("sort", lambda mt, x: mt.sort(x), real(2, 4))
row("sort descending", lambda mt, x: mt.sort(x, 0, descending=True), real(4, 2))
row("sort stable", lambda mt, x: mt.sort(x, stable=True), exactly([1.0, 0, 1, 0]), smooth=False)
row("topk", lambda mt, x: mt.topk(x, 2), real(2, 5))
row("topk smallest", lambda mt, x: mt.topk(x, 2, 0, largest=False), real(5, 2))
for name in ["cumsum", "cumprod"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x, 1), real(2, 4))
    row(f"{name} scalar", lambda mt, x, n=name: getattr(mt, n)(x, 0), real())
row("cumprod zeros", lambda mt, x: mt.cumprod(x, 0), exactly([2.0, 0, 3, 0, 4]), smooth=False)
for name, operand in {"": real(4), " of 0-d": real(), " of nothing": real(0)}.items():
    row(f"prod{name}", lambda mt, x: mt.prod(x), operand)
for zeros in ([2.0, 0, 3], [0.0, 5, 0], [0.0]):
    row(f"prod {zeros}", lambda mt, x: mt.prod(x), exactly(zeros), smooth=False)
row("prod dim", lambda mt, x: mt.prod(x, 1, keepdim=True), real(2, 3))
row("prod dim zeros", lambda mt, x: mt.prod(x, 0), exactly([[0.0, 1], [2, 0], [3, 4]]), smooth=False)
for p in (1, 2, 3, 1.5, 0.5, float("inf"), float("-inf"), -1):
    row(f"norm {p}", lambda mt, x, p=p: x.norm(p), real(4))
    row(f"norm {p} dim", lambda mt, x, p=p: x.norm(p, 1, keepdim=True), real(2, 3))
for p in (1, 2, 3, 0.5, float("inf")):
    row(f"norm {p} at 0", lambda mt, x, p=p: x.norm(p), exactly([0.0, 0.0]), smooth=False, twice=False)
row("vector_norm", lambda mt, x: mt.linalg.vector_norm(x, 3, 0), real(2, 3))
row("norm complex", lambda mt, x: x.norm(), complex_(3))
row("norm fro", lambda mt, x: mt.norm(x), real(2, 3))
for name in ["softmax", "log_softmax"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x, 1), real(2, 3))
    row(f"{name} dim 0", lambda mt, x, n=name: getattr(mt, n)(x, 0), real(2, 3))
    row(f"{name} scalar", lambda mt, x, n=name: getattr(mt, n)(x, 0), real())
    row(f"{name} of large", lambda mt, x, n=name: getattr(mt, n)(x, 0), exactly([1000.0, 0, -1000]), smooth=False)
row("logsumexp of -inf", lambda mt, x: mt.logsumexp(x, 0), exactly([-np.inf, -np.inf]), smooth=False, twice=False)
for name in SORTED.split():
    row(
        f"{name} with NaN",
        lambda mt, x, n=name: getattr(mt, n)(x, 0),
        exactly([1.0, np.nan, 2.0]),
        smooth=False,
        twice=False,
    )
row("median of an even number", lambda mt, x: x.median(), exactly([4.0, 1.0, 3.0, 2.0]), smooth=False)
row("median dim of an even number", lambda mt, x: x.median(0), exactly([4.0, 1.0, 3.0, 2.0]), smooth=False)
row(
    "sort with ties descending",
    lambda mt, x: x.sort(stable=True, descending=True),
    exactly([1.0, 2, 1, 2]),
    smooth=False,
)
row("sort of nothing", lambda mt, x: x.sort(0), real(0, 2), smooth=False)
row("topk of 0", lambda mt, x: x.topk(0), real(3), smooth=False)
row("max of inf", lambda mt, x: x.max(0), exactly([np.inf, -np.inf, np.inf]), smooth=False)
row("kthvalue keepdim", lambda mt, x: x.kthvalue(1, 0, True), real(3, 2))
row("var of one", lambda mt, x: x.var(), exactly([2.0]), smooth=False, twice=False)
row("var_mean correction", lambda mt, x: mt.var_mean(x, dim=0, correction=0, keepdim=True), real(3, 2))
row("std_mean unbiased", lambda mt, x: mt.std_mean(x, 0, False), real(3, 2))
row("std dims", lambda mt, x: x.std((0, 2)), real(2, 3, 2))
row("sum of dims given as ()", lambda mt, x: x.sum(()), real(2, 3))
row("mean of dtype", lambda mt, x: x.mean(0, dtype=mt.float32), real(2, 3), smooth=False)
row("prod of dtype", lambda mt, x: x.detach().prod(0, dtype=mt.float32), real(2, 3), smooth=False)
row("cumsum of dtype", lambda mt, x: x.detach().cumsum(0, dtype=mt.float32), real(2, 3), smooth=False)
row("cumsum of nothing", lambda mt, x: x.cumsum(0), real(0, 2), smooth=False)
row("softmax of dtype", lambda mt, x: x.detach().softmax(0, dtype=mt.float32), real(2, 3), smooth=False)
row("softmax of nothing", lambda mt, x: x.softmax(0), real(0, 2), smooth=False)
row("softmax of -inf", lambda mt, x: x.softmax(0), exactly([-np.inf, 0.0, 1.0]), smooth=False)
row("log_softmax of -inf alone", lambda mt, x: x.log_softmax(0), exactly([-np.inf]), smooth=False, twice=False)
row("amax of dims at ties", lambda mt, x: x.amax((0, 1)), exactly([[1.0, 2], [2, 0]]), smooth=False)
row("axis and keepdims", lambda mt, x: mt.sum(x, axis=1, keepdims=True), real(2, 3))
HOLES = exactly([[1.0, float("nan"), 3.0], [float("nan"), 2.0, 4.0]])
for name in ["nansum", "nanmean"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x), HOLES, smooth=False)
    row(f"{name} along", lambda mt, x, n=name: getattr(x, n)(1, keepdim=True), HOLES, smooth=False)
    row(f"{name} without NaN", lambda mt, x, n=name: getattr(mt, n)(x, (0, 1)), real(2, 3))
for name in ["cummax", "cummin"]:
    row(name, lambda mt, x, n=name: getattr(mt, n)(x, 1), real(2, 5))
    row(f"{name} at ties", lambda mt, x, n=name: getattr(x, n)(0), exactly([1.0, 2, 2, 1, 1]), smooth=False)
    row(f"{name} with NaN", lambda mt, x, n=name: getattr(x, n)(-1), exactly([1.0, float("nan"), 2]), smooth=False)
    row(f"{name} of a scalar", lambda mt, x, n=name: getattr(x, n)(0), real())
LONG = real(2, 1030, 3)
MANY = np.random.default_rng(1).permutation(60).reshape(20, 3) / 2.0
for key, values in (
    ("", MANY),
    (" and NaN", np.where(MANY == 3, np.nan, MANY)),
    (" and inf", np.where(MANY == 9, np.inf, np.where(MANY == 4, -np.inf, MANY))),
):
    row(f"topk of many{key}", lambda mt, x: x.topk(3, 0), exactly(values), smooth=False)
    row(f"topk of many{key}, smallest", lambda mt, x: x.topk(2, 0, largest=False), exactly(values), smooth=False)
    row(f"kthvalue of many{key}", lambda mt, x: x.kthvalue(19, 0), exactly(values), smooth=False)
    row(f"median of many{key} along", lambda mt, x: x.median(0), exactly(values), smooth=False)
    for name in ["median", "max", "min", "amax", "amin"]:
        row(f"{name} of many{key}", lambda mt, x, n=name: getattr(x, n)(), exactly(values), smooth=False)
for zeros in ([0], [3], [1, 3], [0, 4], [1, 2, 4]):
    numbers = np.array([1.5, -2.0, 0.5, 3.0, -1.0])
    numbers[zeros] = 0
    row(f"cumprod with zeros at {zeros}", lambda mt, x: x.cumprod(0), exactly(numbers))
    row(f"cumprod along with zeros at {zeros}", lambda mt, x: x.cumprod(1), exactly(np.stack([numbers, numbers + 1])))
    row(f"prod with zeros at {zeros}", lambda mt, x: x.prod(), exactly(numbers))
for name in ["cumsum", "cumprod", "cummax", "cummin"]:  # many short rows, and two long ones
    row(f"{name} of many", lambda mt, x, n=name: getattr(x, n)(1), real(300, 4), smooth=False, twice=False)
    row(f"{name} of long ones", lambda mt, x, n=name: getattr(x, n)(1), real(2, 300), smooth=False, twice=False)
for name in ["sum", "mean", "nansum", "var", "std"]:  # long columns, which are summed in parts; and in half precision
    row(f"{name} of a long column", lambda mt, x, n=name: getattr(mt, n)(x, 0), real(1100, 2), smooth=False)
    row(f"{name} of a long column inside", lambda mt, x, n=name: getattr(mt, n)(x, -2, True), LONG, smooth=False)
for order in (1, 2, 3):
    norm = lambda mt, x, p=order: mt.linalg.vector_norm(x, p, 0)  # noqa: E731
    row(f"vector_norm {order} of a long column", norm, real(1100, 2), smooth=False)
row("var_mean of a long column", lambda mt, x: mt.var_mean(x, 0), real(1100, 2), smooth=False)
row("sum of a long column of whole numbers", lambda mt, x: x.sum(0), fixed(np.full((2500, 2), 7)), smooth=False)
for name in ["all", "any"]:
    row(f"{name} over no dimensions", lambda mt, x, n=name: getattr(x, n)(()), real(2, 3), smooth=False)
for correction in (1, 2, 3):  # more than there are elements
    row(f"var of too few, {correction}", lambda mt, x, c=correction: x.var(correction=c), real(2), smooth=False)
    row(f"std of too few, {correction}", lambda mt, x, c=correction: x.std(0, correction=c), real(2, 2), smooth=False)
row("var_mean of one", lambda mt, x: mt.var_mean(x), real(1), smooth=False)
for name in ["sum", "mean", "prod", "amax", "all", "std", "count_nonzero"]:
    row(f"wrong: {name} of a scalar along 1", lambda mt, x, n=name: getattr(x, n)(1), real(), smooth=False)
for order in (np.inf, -np.inf, -1):
    for dim in (None, 0, (-1, 0)):
        call = lambda mt, x, p=order, d=dim: mt.linalg.vector_norm(x, p, d)  # noqa: E731
        row(f"wrong: vector_norm {order} of nothing along {dim}", call, real(0, 3), smooth=False)
