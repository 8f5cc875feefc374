"""Every row of the table: values, dtypes, shapes, first and second derivatives, nodes and errors are torch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import microtape
from tests.parity.observe import as_microtape, matching_type
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS

pytestmark = pytest.mark.parity
NAMES = [row.name for row in ROWS]


def test_no_two_rows_have_one_name():
    assert [name for name in NAMES if NAMES.count(name) > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_row_is_as_in_torch(row, torch):
    found = differences(observed(row, torch), observed(row, microtape))
    if row.differs:
        assert found, f"this no longer differs: {row.differs}"
    elif found:
        pytest.fail("\n".join(found), pytrace=False)


def observed(row, mt):
    """What there is to compare: {what: value}, up to the first error."""
    seen = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for what, value in stages(row, mt):
                seen[what] = value
        except Exception as error:
            seen["raised"] = error
    return seen


def stages(row, mt):
    """The call and its derivatives, one after the other, as (what, value)."""
    xs = operands(row, mt)
    zs = outputs(row.call(mt, *xs))
    yield "values", [plain(z) for z in zs]
    yield "dtypes", [str(z.dtype).split(".")[-1] for z in zs]
    yield "requires_grad", [z.requires_grad for z in zs]
    if row.in_place:
        yield "versions", [z._version for z in zs]
    if row.node:
        yield "nodes", [z.grad_fn.name() if z.grad_fn else None for z in zs]
    leaves = [x for x in xs if x.requires_grad]
    roots = [z for z in zs if z.requires_grad]
    if not roots or not leaves:
        return
    random = np.random.default_rng(3)
    seeds = [mt.tensor(like(random, z)) for z in roots]
    first = mt.autograd.grad(roots, leaves, seeds, retain_graph=True, allow_unused=True)
    yield "first derivatives", [plain(g) for g in first]
    again = mt.autograd.grad(roots, leaves, seeds, create_graph=True, allow_unused=True)
    yield "first derivatives, recorded", [plain(g) for g in again]
    yield "second derivatives", second_derivatives(row, mt, random, again, leaves)


def second_derivatives(row, mt, random, firsts, leaves):
    """Those of the first derivatives; zeros where nothing is left to differentiate, which torch may record or not."""
    roots = [g for g in firsts if g is not None and g.requires_grad]
    seeds = [mt.tensor(like(random, g)) for g in roots]
    if not row.twice or not roots:
        return [0.0] * len(leaves)
    seconds = mt.autograd.grad(roots, leaves, seeds, allow_unused=True)
    return [0.0 if g is None else plain(g) for g in seconds]


def outputs(result):
    """The tensors that a call gave, in order."""
    return list(result) if isinstance(result, tuple | list) else [result]


def plain(tensor):
    """A tensor's numbers."""
    return None if tensor is None else np.asarray((tensor.detach() + 0).numpy())


def like(random, tensor):
    """A first gradient for a tensor."""
    numbers = random.normal(size=tuple(tensor.shape))
    dtype = plain(tensor).dtype
    if dtype.kind == "c":
        numbers = numbers + 1j * random.normal(size=tuple(tensor.shape))
    return numbers.astype(dtype)


def differences(theirs, ours):
    """What differs, one line each."""
    if "raised" in theirs or "raised" in ours:
        return raised_differently(theirs.get("raised"), ours.get("raised"))
    found = []
    for what, expected in theirs.items():
        got = ours.get(what)
        if what in ("dtypes", "requires_grad", "versions", "nodes"):
            if got != expected:
                found.append(f"{what}: torch {expected}, microtape {got}")
        elif got is None or len(got) != len(expected):
            found.append(f"{what}: torch {expected}, microtape {got}")
        else:
            pairs = zip(expected, got, strict=True)
            strict = what != "second derivatives"  # where a 0 stands for zeros
            found += [f"{what}: torch {a}, microtape {b}" for a, b in pairs if not same(a, b, strict)]
    return found


def raised_differently(theirs, ours):
    """What differs between two exceptions, either of which may be missing."""
    if (
        theirs is None
        or ours is None
        or not (
            matching_type(type(theirs), type(ours))
            or type(theirs).__name__ == f"_{type(ours).__name__}"  # _LinAlgError
        )
    ):
        return [f"torch raised {theirs!r}, microtape {ours!r}"]
    wanted, got = (as_microtape(getattr(one, "summary", None) or str(one)) for one in (theirs, ours))
    return [] if wanted == got else [f"torch said {wanted!r}, microtape {got!r}"]


def same(a, b, strict):
    """Whether two arrays are nearly equal; with `strict` in shape too."""
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if strict and (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    tolerance = 1e-5 if a.dtype in (np.float32, np.complex64) else 1e-8
    return bool(np.allclose(b, a, rtol=tolerance, atol=tolerance, equal_nan=True))
