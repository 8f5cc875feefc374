"""Every row with real operands, on operands of other dtypes: results, promotion and refusals are torch's."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import microtape
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS
from tests.parity_ops.test_table import outputs, plain, raised_differently

pytestmark = pytest.mark.parity
DTYPES = ("float32", "float16", "int64", "int32", "uint8", "bool", "complex64")

# on which dtypes, in which rows -> how microtape is different there on purpose
DIFFERENCES = {
    (r"u?int\d+|bool", r"cl(am|i)p_.*"): "clamp_ names dtypes as other functions do, where torch names C++'s",
    (r"u?int(32|8)|bool", r"(conv|pad re).*"): "convolution and padding take whole numbers, torch only int64",
    (r"u?int(32|8)|complex64", r"avg_pool.*"): "what is averaged can have any dtype, torch has few kernels",
    (
        r"bool",
        r"matmul .*|tensordot",
    ): "matmul and tensordot refuse bools in the name of the product inside, also of nothing",
    (r"bool", r"sub_ alpha.*"): "of two mistakes in sub_, the dtype of alpha is named first",
    (r"bool", r"cholesky.*"): "cholesky rounds a matrix that is just definite as numpy's LAPACK does",
    (
        r"u?int.*|bool|complex64",
        r"(max_pool1d|group_norm).*",
    ): "max_pool1d and group_norm refuse in the name of max_pool2d and layer_norm",
    (r"uint8", r"fill_ -0.5 .*"): "fill_ takes a number that does not fit modulo 256",
    (r"uint8", r"topk.*|kthvalue.*"): "topk leaves equal elements in their order, torch's is not specified",
    (
        r"u?int.*|bool|complex64",
        r".* of nothing|linear of nothing|einsum .*\(0, 3\).*",
    ): "an empty tensor of a dtype that is refused is refused, too",
    (r"u?int.*|bool", r"attention.*"): "attention refuses what products of matrices refuse, in their words",
    (r"bool|complex64", r"(uniform|normal|random)_"): "complex random numbers, and bools, are drawn in another order",
    (r"float16", r"normal_"): "random numbers of half precision are rounded at each step",
    (r"float16", r"det.*|solve.*|cholesky.*|svd.*|eig.*"): "half precision is refused in one sentence by all of linalg",
    (
        r"float16",
        r"(complex|polar|view_as_complex|mul real complex).*",
    ): "complex numbers of half precision become complex64",
    (r"complex64", r"0 .*\*\* x"): "0 to a complex power is numpy's NaN, which torch has elsewhere",
    (r"complex64", r"cross_entropy of .*"): "cross_entropy of two complex operands refuses the first",
}


def in_dtype(row, mt, dtype):
    """The row's operands, the real ones in another dtype: rounded, if that is one of whole numbers."""
    made = []
    for one in operands(row, mt):
        array = one.detach().numpy()
        if array.dtype.kind == "f":
            array = (np.round(array * 2) if dtype not in ("float32", "float16", "complex64") else array).astype(dtype)
        made.append(mt.tensor(array))
    return made


def observed(row, mt, dtype):
    """The results, or what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [plain(z) for z in outputs(row.call(mt, *in_dtype(row, mt, dtype)))]
        except Exception as error:
            return error


def difference(row, torch, dtype):
    """What differs, as text; nothing where nothing does."""
    theirs, ours = observed(row, torch, dtype), observed(row, microtape, dtype)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return "; ".join(raised_differently(*[x if isinstance(x, Exception) else None for x in (theirs, ours)]))
    tolerance = 2e-3 if dtype == "float16" else 1e-4
    for a, b in zip(theirs, ours, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"torch gave {a.dtype} {a.shape}, microtape {b.dtype} {b.shape}"
        if not np.allclose(b, a, tolerance, tolerance, equal_nan=True):
            return f"torch gave {a.tolist()}, microtape {b.tolist()}"
    return ""


RIGHT = [row for row in ROWS if not row.differs and not row.name.startswith("wrong")]
REAL = [row for row in RIGHT if any(one.make(np.random.default_rng(0)).dtype.kind == "f" for one in row.inputs)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_row_is_as_in_torch_on(dtype, torch):
    found = {row.name: difference(row, torch, dtype) for row in REAL}
    known = [rows for dtypes, rows in DIFFERENCES if re.fullmatch(dtypes, dtype)]
    unknown = [
        f"{name}: {text}"
        for name, text in found.items()
        if text and not any(re.fullmatch(rows, name) for rows in known)
    ]
    gone = [rows for rows in known if not any(text and re.fullmatch(rows, name) for name, text in found.items())]
    assert not unknown, "\n".join(unknown)
    assert not gone, f"nothing differs any more on {dtype} in: {gone}"
