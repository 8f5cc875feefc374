"""Rows: arguments out of their range, and calls at the edge of what is allowed: scalars, nothing, a whole range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity_ops.inputs import Input, below, complex_, exactly, fixed, mask, real
from tests.parity_ops.rows import row


def wrong(name: str, call: Callable[..., Any], *inputs: Input, differs: str = "") -> None:
    """A call that raises."""
    row(f"wrong: {name}", call, *inputs, smooth=False, twice=False, differs=differs)


def edge(name: str, call: Callable[..., Any], *inputs: Input, node: bool = True) -> None:
    """A call at the edge of what is allowed."""
    row(f"edge: {name}", call, *inputs, smooth=False, node=node)


MATRIX, VECTOR, SCALAR, CUBE = real(2, 3), real(3), real(), real(2, 2, 2)
PICTURE, KERNEL = real(1, 2, 5, 5), real(4, 2, 3, 3)

# Elementwise

wrong("hardtanh bounds", lambda mt, x: mt.nn.functional.hardtanh(x, 1, -1), MATRIX)
wrong("add complex alpha", lambda mt, x, y: mt.add(x, y, alpha=1j), MATRIX, MATRIX)
wrong("add bool alpha", lambda mt, x, y: mt.add(x, y, alpha=True), MATRIX, MATRIX)
wrong("rsub of a bool", lambda mt, x: True - x, mask(3))
wrong("isclose rtol", lambda mt, x, y: mt.isclose(x, y, rtol=-1), MATRIX, MATRIX)
wrong("isclose atol", lambda mt, x, y: mt.isclose(x, y, atol=-1), MATRIX, MATRIX)
wrong("imag of real", lambda mt, x: x.imag, MATRIX)
wrong("view_as_real of real", lambda mt, x: mt.view_as_real(x), MATRIX)
wrong("view_as_complex of three", lambda mt, x: mt.view_as_complex(x), MATRIX)
wrong("softshrink", lambda mt, x: mt.nn.functional.softshrink(x, -1.0), MATRIX)
wrong("celu", lambda mt, x: mt.nn.functional.celu(x, 0.0), MATRIX)
wrong("prelu dtypes", lambda mt, x, w: mt.nn.functional.prelu(x, w.float()), MATRIX, VECTOR)
wrong("prelu of a scalar", lambda mt, x, w: mt.nn.functional.prelu(x, w), SCALAR, VECTOR)
wrong("prelu channels", lambda mt, x, w: mt.nn.functional.prelu(x, w), MATRIX, real(4))
wrong("prelu matrix", lambda mt, x, w: mt.nn.functional.prelu(x, w), MATRIX, real(1, 3))
wrong(
    "bernoulli",
    lambda mt, x: mt.bernoulli(x),
    exactly([0.5, 2.0]),
    differs="The error leaves out that PyTorch asks for a better message.",
)
wrong("heaviside dtypes", lambda mt, x, y: mt.heaviside(x, y.float()), fixed([1.0, 2.0]), fixed([1.0, 2.0]))
wrong("polygamma", lambda mt, x: mt.polygamma(-1, x), MATRIX)
edge("fmod of a number", lambda mt, x: mt.fmod(x, 1.5), MATRIX)
edge("acosh of complex", lambda mt, x: mt.acosh(x), complex_(3))
wrong("where of shapes", lambda mt, m, x, y: mt.where(m, x, y), mask(2, 2), MATRIX, MATRIX)

# Indices

wrong("gather other sides", lambda mt, x, i: x.gather(1, i), MATRIX, below(2, 3, 2))
wrong("scatter source rank", lambda mt, x, i, y: x.scatter(1, i, y), MATRIX, below(2, 2, 2), VECTOR)
wrong("scatter source", lambda mt, x, i, y: x.scatter(1, i, y), MATRIX, below(2, 2, 3), real(2, 2))
wrong("index_select of a matrix", lambda mt, x, i: x.index_select(0, i), MATRIX, below(2, 2, 2))
wrong("index_add of a matrix", lambda mt, x, i, y: x.index_add(0, i, y), MATRIX, below(2, 2, 2), MATRIX)
wrong("index_add float", lambda mt, x, i, y: x.index_add(0, i.double(), y), MATRIX, below(2, 2), MATRIX)
wrong("index_add count", lambda mt, x, i, y: x.index_add(0, i, y), MATRIX, below(2, 3), MATRIX)
wrong("index_add kind", lambda mt, x, i, y: x.index_add(0, i, y.float()), MATRIX, below(2, 2), MATRIX)
for name in ("index_copy", "index_add"):
    given = name
    wrong(f"{name}, index of a matrix", lambda mt, x, i, n=given: getattr(x, n)(0, i, x), MATRIX, below(2, 2, 2))
    wrong(f"{name}, index of floats", lambda mt, x, i, n=given: getattr(x, n)(0, i.double(), x), MATRIX, below(2, 2))
    wrong(f"{name}, too long an index", lambda mt, x, i, n=given: getattr(x, n)(0, i, x), MATRIX, below(2, 3))
wrong("index_fill of a matrix", lambda mt, x, i: x.index_fill(0, i, 1.0), MATRIX, below(2, 2, 2))
wrong("index_fill float", lambda mt, x, i: x.index_fill(0, i.double(), 1.0), MATRIX, below(2, 2))
wrong("index_select float", lambda mt, x, i: x.index_select(0, i.double()), MATRIX, below(2, 2))
wrong("trace of a cube", lambda mt, x: x.trace(), CUBE)
wrong("tril of a vector", lambda mt, x: x.tril(), VECTOR)
wrong("diag of a cube", lambda mt, x: x.diag(), CUBE)
wrong("scatter_reduce word", lambda mt, x, i, y: x.scatter_reduce(1, i, y, "most"), MATRIX, below(3, 2, 3), MATRIX)
edge("unfold of a scalar", lambda mt, x: x.unfold(0, 1, 1), SCALAR)
edge("unfold of a scalar to nothing", lambda mt, x: x.unfold(0, 0, 1), SCALAR)
wrong("unfold size", lambda mt, x: x.unfold(0, -1, 1), VECTOR)
wrong("unfold step", lambda mt, x: x.unfold(0, 1, 0), VECTOR)
wrong("fill_diagonal_ of a vector", lambda mt, x: (x * 1).fill_diagonal_(0.0), VECTOR)
wrong("fill_diagonal_ of unequal sides", lambda mt, x: (x * 1).fill_diagonal_(0.0), real(2, 2, 3))
edge("fill_diagonal_ of a cube", lambda mt, x: (x * 1).fill_diagonal_(0.0), CUBE, node=False)
edge("index_fill with a tensor", lambda mt, x, i, v: x.index_fill(0, i, v), MATRIX, below(2, 1), SCALAR)
edge("take_along_dim backwards", lambda mt, x, i: mt.take_along_dim(x, i, 1), MATRIX, fixed([[-1, 0], [1, -3]]))
edge("x[list] = a row", lambda mt, x, y: _put(x * 1, [0, 1], y), MATRIX, VECTOR, node=False)

# Linear algebra

wrong("matrix_norm order", lambda mt, x: mt.linalg.matrix_norm(x, 3), MATRIX)
wrong("einsum letter", lambda mt, x: mt.einsum("é->é", x), VECTOR)
edge("inner of a scalar", lambda mt, x, y: mt.inner(x, y), SCALAR, VECTOR)
wrong("cross of ranks", lambda mt, x, y: mt.linalg.cross(x, y), MATRIX, VECTOR)
wrong("renorm p", lambda mt, x: mt.renorm(x, -1, 0, 1.0), MATRIX)
wrong("renorm maxnorm", lambda mt, x: mt.renorm(x, 2, 0, -1.0), MATRIX)
wrong("renorm of a vector", lambda mt, x: mt.renorm(x, 2, 0, 1.0), VECTOR)
wrong("matrix_power of no square", lambda mt, x: mt.linalg.matrix_power(x, 2), MATRIX)
edge("matrix_power 0", lambda mt, x: mt.linalg.matrix_power(x, 0), real(2, 2), node=False)
wrong("add 1.0 to integers", lambda mt, x: mt.add(x, x, alpha=1.0), below(3, 2))
wrong("addmv of matrices", lambda mt, x, y, z: mt.addmv(x, y, z), VECTOR, MATRIX, MATRIX)
wrong("addmv vector", lambda mt, x, y, z: mt.addmv(x, y, z), real(2), MATRIX, real(2))
wrong("addmv input", lambda mt, x, y, z: mt.addmv(x, y, z), real(5), MATRIX, VECTOR)
wrong("addmv to a matrix", lambda mt, x, y: mt.addmv(x, x, y), MATRIX, VECTOR)
wrong("addmv dtypes", lambda mt, x, y, z: mt.addmv(x, y, z.float()), real(2), MATRIX, VECTOR)
edge("addmv to one", lambda mt, x, y, z: mt.addmv(x, y, z), real(1), MATRIX, VECTOR)
edge("addmv to a scalar", lambda mt, x, y, z: mt.addmv(x, y, z), SCALAR, MATRIX, VECTOR)
wrong("addbmm of matrices", lambda mt, x, y: mt.addbmm(x, y, y), real(2, 2), real(2, 2))
wrong("addbmm batches", lambda mt, x, y, z: mt.addbmm(x, y, z), real(2, 2), CUBE, real(3, 2, 2))
wrong("addbmm sizes", lambda mt, x, y, z: mt.addbmm(x, y, z), real(2, 2), CUBE, real(2, 3, 2))
wrong("addbmm dtypes", lambda mt, x, y: mt.addbmm(x, y, y.float()), real(2, 2), CUBE)

# Networks

CONV = {"stride": 0, "dilation": 0, "padding": -1, "groups": 0}
for name, value in CONV.items():
    given = {name: value}
    wrong(f"conv2d {name} {value}", lambda mt, x, w, g=given: mt.nn.functional.conv2d(x, w, **g), PICTURE, KERNEL)
wrong("conv2d same, strided", lambda mt, x, w: mt.nn.functional.conv2d(x, w, stride=2, padding="same"), PICTURE, KERNEL)
wrong("conv2d groups", lambda mt, x, w: mt.nn.functional.conv2d(x, w, groups=3), real(1, 6, 5, 5), KERNEL)
wrong("conv2d bias dtype", lambda mt, x, w, b: mt.nn.functional.conv2d(x, w, b.float()), PICTURE, KERNEL, real(4))
wrong("embedding of a vector", lambda mt, i, w: mt.nn.functional.embedding(i, w), below(2, 2), VECTOR)
wrong("one_hot negative", lambda mt, i: mt.nn.functional.one_hot(i), fixed([0, -1]))
edge("smooth_l1 beta 0", lambda mt, x, y: mt.nn.functional.smooth_l1_loss(x, y, beta=0.0), MATRIX, MATRIX)
wrong("huber delta", lambda mt, x, y: mt.nn.functional.huber_loss(x, y, delta=0.0), MATRIX, MATRIX)
wrong("nll of scalars", lambda mt, x, i: mt.nn.functional.nll_loss(x, i), SCALAR, fixed(0))
wrong("group_norm of a vector", lambda mt, x: mt.nn.functional.group_norm(x, 1), VECTOR)
wrong("avg_pool divisor", lambda mt, x: mt.nn.functional.avg_pool2d(x, 2, divisor_override=0), PICTURE)
POOL = {"stride": 0, "dilation": 0, "padding": -1}
for name, value in POOL.items():
    given = {name: value}
    wrong(f"max_pool2d {name} {value}", lambda mt, x, g=given: mt.nn.functional.max_pool2d(x, 2, **g), PICTURE)
wrong("bilinear ranks", lambda mt, x, y, w: mt.nn.functional.bilinear(x, y, w), MATRIX, VECTOR, real(2, 3, 3))
wrong("bilinear rows", lambda mt, x, y, w: mt.nn.functional.bilinear(x, y, w), MATRIX, real(3, 3), real(2, 3, 3))
wrong("bilinear size", lambda mt, x, y, w: mt.nn.functional.bilinear(x, y, w), MATRIX, MATRIX, real(2, 4, 3))
wrong(
    "bilinear bias",
    lambda mt, x, y, w, b: mt.nn.functional.bilinear(x, y, w, b), MATRIX, MATRIX, real(2, 3, 3), VECTOR,
)  # fmt: skip
wrong(
    "attention with two masks",
    lambda mt, x, m: mt.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=m, is_causal=True),
    real(1, 2, 3), mask(2, 2),
)  # fmt: skip

# Order and counting

wrong("bincount minlength", lambda mt, i: mt.bincount(i, minlength=-1), below(3, 4))
wrong("bincount weights", lambda mt, i, w: mt.bincount(i, w), below(3, 4), fixed([1.0, 2.0]))
wrong("histc of infinity", lambda mt, x: mt.histc(x, 3), fixed([1.0, float("inf")]))
wrong("unique of complex", lambda mt, x: mt.unique(x), fixed([1j, 2j]))
wrong("isin of bools", lambda mt, x, y: mt.isin(x, y), mask(3), mask(3))
wrong("quantile dtypes", lambda mt, x, q: mt.quantile(x, q.float()), VECTOR, fixed([0.5]))
wrong("quantile range", lambda mt, x, q: mt.quantile(x, q), VECTOR, fixed([1.5]))
wrong("quantile word", lambda mt, x: mt.quantile(x, 0.5, interpolation="odd"), VECTOR)
wrong("histogram bins", lambda mt, x: mt.histogram(x, 0), fixed([1.0, 2.0]))
wrong("histogram weight", lambda mt, x, w: mt.histogram(x, 2, weight=w), fixed([1.0, 2.0]), fixed([1.0]))
wrong("searchsorted side", lambda mt, x, y: mt.searchsorted(x, y, side="up"), fixed([1.0, 2.0]), fixed([1.0]))
wrong("searchsorted rows", lambda mt, x, y: mt.searchsorted(x, y), fixed([[1.0, 2.0]]), fixed([[1.0], [2.0]]))

# Reduction

wrong("diff order", lambda mt, x: x.diff(-1), VECTOR)
edge("diff order 0", lambda mt, x: x.diff(0), VECTOR, node=False)
edge("diff with ends", lambda mt, x, y, z: x.diff(prepend=y, append=z), VECTOR, real(1), real(2), node=False)
edge("trapezoid of a vector", lambda mt, x: mt.trapezoid(x), VECTOR, node=False)
wrong("gradient of too few", lambda mt, x: mt.gradient(x, edge_order=2)[0], real(2))
wrong("cov of a cube", lambda mt, x: mt.cov(x), CUBE)
wrong("cov weights", lambda mt, x, w: mt.cov(x, fweights=w), MATRIX, below(3, 3, 1))
edge("corrcoef of a vector", lambda mt, x: mt.corrcoef(x), VECTOR, node=False)
edge("var without correction", lambda mt, x: x.var(False), VECTOR)

# Shapes

wrong("fliplr of a vector", lambda mt, x: mt.fliplr(x), VECTOR)
wrong("flipud of a scalar", lambda mt, x: mt.flipud(x), SCALAR)
wrong("roll of unequal", lambda mt, x: x.roll((1, 2), (0,)), MATRIX)
wrong("rot90 of a vector", lambda mt, x: mt.rot90(x, 1, (0, 1)), VECTOR)
wrong("rot90 in one dimension", lambda mt, x: mt.rot90(x, 1, (0, 0)), MATRIX)
wrong("reshape of nothing", lambda mt, x: x.reshape(0, -1), real(0, 3))
wrong("flatten backwards", lambda mt, x: x.flatten(1, 0), MATRIX)
wrong("unflatten sizes", lambda mt, x: x.unflatten(1, (2, 2)), MATRIX)
wrong("expand -1 in front", lambda mt, x: x.expand(-1, 2, 3), MATRIX)
wrong("split of a scalar", lambda mt, x: x.split(1), SCALAR)
wrong("split into 0", lambda mt, x: x.split(0), VECTOR)
wrong("tensor_split of a scalar", lambda mt, x: x.tensor_split(2), SCALAR)
wrong("select of a scalar", lambda mt, x: x.select(0, 0), SCALAR)
wrong("narrow of a scalar", lambda mt, x: x.narrow(0, 0, 1), SCALAR)
wrong("narrow length", lambda mt, x: x.narrow(0, 0, -1), VECTOR)
wrong("narrow start", lambda mt, x: x.narrow(0, 5, 1), VECTOR)
wrong("diagonal in one dimension", lambda mt, x: x.diagonal(0, 0, 0), MATRIX)
wrong("movedim of unequal", lambda mt, x: x.movedim((0, 1), (0,)), MATRIX)
wrong("movedim twice", lambda mt, x: x.movedim((0, 0), (0, 1)), MATRIX)
wrong("out= of another kind", lambda mt, x, i: mt.add(x, x, out=i), fixed([1.0]), below(2, 1))

# What makes tensors

wrong("full of a number", lambda mt: mt.full(3, 1.0))
wrong("zeros of nothing", lambda mt: mt.zeros())
wrong("arange step 0", lambda mt: mt.arange(0, 3, 0))
wrong("arange backwards", lambda mt: mt.arange(0, 3, -1))
wrong("a large number", lambda mt: mt.tensor([2**70]))
wrong(
    "finfo of integers", lambda mt: mt.finfo(mt.int64), differs="The error names the dtype; PyTorch's names the class."
)
wrong(
    "iinfo of floats", lambda mt: mt.iinfo(mt.float32), differs="The error names the dtype; PyTorch's names the class."
)
wrong("default dtype", lambda mt: mt.set_default_dtype(mt.int32))


def _put(x: Any, places: Any, values: Any) -> Any:
    x[places] = values
    return x
