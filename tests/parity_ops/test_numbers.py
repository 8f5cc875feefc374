"""Numbers that a dtype cannot hold: each operation wraps them around, makes them infinite or refuses them."""

from __future__ import annotations

import math

import pytest

import microtape

pytestmark = pytest.mark.parity

NUMBERS = [300, -1, 256, 255, -255, -256, 1.5, -0.5, True, 2**40, 1e40, math.inf, math.nan]
CALLS = {
    "where": lambda mt, x, n: mt.where(mt.tensor([True, False]), x, n),
    "where of a number": lambda mt, x, n: x.where(mt.tensor([False, True]), n) + mt.where(x > 1, n, x),
    "where of numbers": lambda mt, x, n: mt.where(x > 1, n, n),
    "clamp": lambda mt, x, n: x.clamp(min=n),
    "clamp_max": lambda mt, x, n: x.clamp_max(n),
    "scatter": lambda mt, x, n: x.scatter(0, mt.tensor([0]), n),
    "pad": lambda mt, x, n: mt.nn.functional.pad(x, (1, 0), value=n),
    "masked_fill": lambda mt, x, n: x.masked_fill(x > 1, n),
    "index_fill": lambda mt, x, n: x.index_fill(0, mt.tensor([0]), n),
    "fill_": lambda mt, x, n: x.fill_(n),
    "full_like": lambda mt, x, n: mt.full_like(x, n),
    "x[0] =": lambda mt, x, n: x.__setitem__(0, n) or x,
    "add": lambda mt, x, n: x + n,
    "alpha": lambda mt, x, n: mt.add(x, x, alpha=3 if n is True else n),
    "rsub": lambda mt, x, n: n - x,
    "**": lambda mt, x, n: x**n if isinstance(n, int) and x.dtype != mt.float16 else x,
    "== and <": lambda mt, x, n: (x == n) ^ (x < n),
    "maximum": lambda mt, x, n: mt.maximum(x, mt.tensor(n)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_number_beside_a_tensor_is_as_in_torch(name, torch):
    def outcome(mt, dtype, number):
        try:
            found = CALLS[name](mt, mt.tensor([1, 2]).to(getattr(mt, dtype)), number)
        except (RuntimeError, TypeError) as error:
            return type(error), str(error)
        return repr(found.tolist()), str(found.dtype).removeprefix(f"{mt.__name__}.")

    for dtype in ("uint8", "int8", "int32", "int64", "float16", "float32", "float64", "bool"):
        for number in NUMBERS:
            theirs, ours = outcome(torch, dtype, number), outcome(microtape, dtype, number)
            assert theirs == ours, (dtype, number)
