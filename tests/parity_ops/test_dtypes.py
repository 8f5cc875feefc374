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

# patterns of dtypes and of rows -> how microtape differs there on purpose
DIFFERENCES = {
    (
        r"u?int\d+|bool",
        r"cl(am|i)p_.*",
    ): "the errors of clamp_ name dtypes as other errors do, where torch gives their C++ names",
    (
        r"u?int(32|8)|bool",
        r"(conv|pad re).*",
    ): "convolution and padding accept all integer dtypes and bool, torch refuses some",
    (r"u?int(32|8)|complex64", r"avg_pool.*"): "average pooling accepts any dtype, torch has kernels for only a few",
    (
        r"bool",
        r"matmul .*|tensordot|addr",
    ): "matmul, tensordot and addr refuse bools, even in empty tensors; the error names the inner matrix product",
    (r"bool", r"sub_ alpha.*"): "if a call of sub_ has two mistakes, the error is about the dtype of alpha",
    (r"bool", r"cholesky.*"): "cholesky of a barely positive definite matrix rounds as numpy's LAPACK does",
    (
        r"u?int.*|bool|complex64",
        r"(max_pool1d|group_norm).*",
    ): "max_pool1d and group_norm refuse the dtypes of max_pool2d and layer_norm, with their messages",
    (r"uint8", r"topk.*|kthvalue.*"): "topk keeps equal elements in their order, torch's order is not specified",
    (
        r"u?int.*|bool|complex64",
        r".* of nothing|linear of nothing|einsum .*\(0, 3\).*",
    ): "if a dtype is refused, an empty tensor of that dtype is refused too",
    (
        r"u?int.*|bool",
        r"attention.*",
    ): "attention refuses the dtypes that matrix products refuse, with the same message",
    (r"bool|complex64", r"(uniform|normal|random)_"): "complex and bool random numbers are drawn in another order",
    (r"float16", r"normal.*"): "random numbers of half precision are rounded after each step of their computation",
    (r"uint8", r"normal std"): "normal refuses whole standard deviations before it looks at the mean",
    (r"bool", r"random_ below|b.*_with_logits.*"): "errors about bools name the first step that refuses them",
    (
        r"complex64",
        r"bernoulli_? of .*|random_ below",
    ): "random_ and bernoulli accept complex tensors",
    (
        r"float16",
        r"det.*|solve.*|cholesky.*|svd.*|eig.*|qr.*|cond",
    ): "all functions of linalg refuse half precision with the same message",
    (
        r"float16",
        r"(complex|polar|view_as_complex|mul real complex).*",
    ): "complex numbers of half precision become complex64",
    (r"complex64", r"0 .*\*\* x"): "0 to a complex power is numpy's: 0 ** 0 is 1, which is NaN in torch",
}


def in_dtype(row, mt, dtype):
    """The row's operands, with the real ones in another dtype (rounded for integer dtypes)."""
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
    """The difference as text, "" if there is none."""
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
