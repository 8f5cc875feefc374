"""Rows: special functions, angles, and what looks at NaN and signs; comparisons and shapes in place."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.parity_ops import rows
from tests.parity_ops.inputs import exactly, fixed, inside, mask, positive, real
from tests.parity_ops.rows import broadcast, each_function, each_shape, row

written = partial(rows.row, in_place=True)

# Each element by itself

each_function("deg2rad rad2deg sinc digamma", real)
each_function("lgamma", real)
each_function("erfinv", inside)
each_shape("logit", lambda mt, x: mt.logit(x), lambda *shape: real(*shape, low=0.1, high=0.8))
row("logit eps", lambda mt, x: x.logit(0.2), exactly([-1.0, 0.1, 0.3, 0.7, 0.9, 2.0]), smooth=False)
row("logit outside", lambda mt, x: mt.logit(x), exactly([-1.0, 0.0, 1.0, 2.0]), smooth=False, twice=False)
row("sinc at 0", lambda mt, x: mt.sinc(x), exactly([0.0, -0.0, 1.0]), smooth=False, twice=False)
POLES = exactly([0.0, -0.0, -1.0, -2.0, 1.0, 2.0, np.inf, np.nan])
row("lgamma at its poles", lambda mt, x: mt.lgamma(x.detach()), POLES, smooth=False)
row("digamma at its poles", lambda mt, x: mt.digamma(x.detach()), POLES, smooth=False)
FAR = exactly([-30.3, -7.5, 0.01, 12.0, 150.0, 1e6])
row("lgamma far out", lambda mt, x: mt.lgamma(x), FAR, smooth=False, twice=False)
row("digamma far out", lambda mt, x: mt.digamma(x), FAR, smooth=False, twice=False)
for order in (0, 1, 2, 4):
    row(f"polygamma {order}", lambda mt, x, n=order: mt.polygamma(n, x), positive(4))
row("polygamma as a method", lambda mt, x: x.polygamma(1), positive(3))
row(
    "erfinv at the edge",
    lambda mt, x: mt.erfinv(x),
    exactly([-1.0, 1.0, 0.0, 0.999999, 2.0]),
    smooth=False,
    twice=False,
)
broadcast("logaddexp2", lambda mt, x, y: mt.logaddexp2(x, y), real, real)
broadcast("fmax", lambda mt, x, y: mt.fmax(x, y), real, real)
broadcast("fmin", lambda mt, x, y: mt.fmin(x, y), real, real)
broadcast("copysign", lambda mt, x, y: mt.copysign(x, y), real, real)
NAN = exactly([np.nan, 1.0, np.nan, 2.0])
for name in ("fmax", "fmin"):
    call = lambda mt, x, y, n=name: getattr(mt, n)(x, y)  # noqa: E731
    row(f"{name} of NaN", call, NAN, exactly([1.0, np.nan, np.nan, 2.0]), smooth=False, twice=False)
row(
    "copysign of zeros",
    lambda mt, x, y: mt.copysign(x, y),
    exactly([0.0, -0.0, 1.0]),
    exactly([-1.0, 1, -0.0]),
    smooth=False,
)
for number in (-2.0, 3):
    row(f"copysign {number}", lambda mt, x, n=number: mt.copysign(x, n), real(3))
row("float_power", lambda mt, x: mt.float_power(x, 2), real(3), node=True)
row("float_power of tensors", lambda mt, x, y: x.float_power(y), positive(3), real(3))
row("float_power of a number", lambda mt, x: mt.float_power(2, x), real(3))
for name in ("isposinf", "isneginf", "isreal", "signbit"):
    ends = exactly([np.inf, -np.inf, 0.0, -0.0, np.nan, -3.0])
    row(f"{name}", lambda mt, x, n=name: getattr(mt, n)(x), ends, smooth=False)
row("1 << 3", lambda mt, x, y: (x << y, x >> y, x << 2), fixed([1, 5, 9]), fixed([3, 0, 2]), smooth=False)
row(
    "shifts by name",
    lambda mt, x: (mt.bitwise_left_shift(x, 1), mt.bitwise_right_shift(x, 1)),
    fixed([1, 5, 9]),
    smooth=False,
)
row("gcd, lcm", lambda mt, x, y: (mt.gcd(x, y), mt.lcm(x, y)), fixed([12, 5, 0]), fixed([18, 10, 4]), smooth=False)

# In place

for name in ("deg2rad_", "rad2deg_", "sinc_", "lgamma_", "digamma_"):
    written(name, lambda mt, x, n=name: getattr(x.clone(), n)(), real(2, 3))
written("erfinv_", lambda mt, x: x.clone().erfinv_(), inside(3))
written("logit_", lambda mt, x: x.clone().logit_(0.1), real(3, low=0.2, high=0.8))
written("hypot_", lambda mt, x, y: x.clone().hypot_(y), real(3), real(3))
written("xlogy_", lambda mt, x, y: x.clone().xlogy_(y), real(3), positive(3))
written("arccosh_", lambda mt, x: (x + 1).detach().arccosh_(), positive(3), smooth=False)
for name in ("eq_", "ne_", "lt_", "le_", "gt_", "ge_", "greater_", "less_equal_"):
    values, others = exactly([1.0, 2.0, 3.0]), exactly([1.0, 3.0, 2.0])
    written(f"{name}", lambda mt, x, y, n=name: getattr(x.clone(), n)(y), values, others, smooth=False)
    written(f"{name} 2", lambda mt, x, n=name: getattr(x.clone(), n)(2), values, smooth=False)
for name in ("logical_and_", "logical_or_", "logical_xor_"):
    written(
        name,
        lambda mt, x, y, n=name: getattr(x.clone(), n)(y),
        fixed([1.0, 0.0, 2.0]),
        fixed([0.0, 0.0, 1.0]),
        smooth=False,
    )
written("logical_not_", lambda mt, x: x.clone().logical_not_(), fixed([1.0, 0.0]), smooth=False)
for name in ("bitwise_and_", "bitwise_or_", "bitwise_xor_", "bitwise_left_shift_", "bitwise_right_shift_"):
    written(name, lambda mt, x, n=name: getattr(x.clone(), n)(2), fixed([1, 6, 3]), smooth=False)
written("bitwise_not_", lambda mt, x: x.clone().bitwise_not_(), mask(3), smooth=False)
for name, arguments in (
    ("t_", ()),
    ("transpose_", (0, -1)),
    ("swapaxes_", (1, 0)),
    ("unsqueeze_", (1,)),
    ("squeeze_", ()),
    ("squeeze_", (0,)),
    ("squeeze_", ((0, 1),)),
):  # not `smooth`: such a tensor may not carry a tangent
    title = f"{name} {arguments}"
    change = lambda x, n=name, a=arguments: getattr(x, n)(*a)  # noqa: E731
    written(title, lambda mt, x, n=name, a=arguments: getattr(x * 2, n)(*a), real(1, 3), smooth=False)
    written(f"{title} of a view", lambda mt, x, f=change: (y := x * 2, f(y[0:1]) * 3), real(2, 3), smooth=False)
    written(f"{title}, then a write", lambda mt, x, f=change: wrote_after(x * 2, f), real(1, 3), smooth=False)
written("wrong: t_", lambda mt, x: (x * 1).t_(), real(1, 2, 3), smooth=False)
written("wrong: t_ of a leaf", lambda mt, x: x.t_(), real(2, 3), smooth=False)
written("wrong: t_ of a leaf's view", lambda mt, x: x[:1].t_(), real(2, 3), smooth=False)


def wrote_after(x, change):
    """A write into a view that was given another shape; the base takes the write's node."""
    view = x[:]
    change(view)
    view.mul_(3)
    return x, view


# Short questions and copies

row("adjoint", lambda mt, x: x.adjoint(), real(2, 3))
row("detach by name", lambda mt, x: mt.detach(x), real(2), smooth=False)
row("apply_", lambda mt, x: x.apply_(lambda one: one * 2), fixed([1, 2]), smooth=False)
row("map_", lambda mt, x, y: x.map_(y, lambda a, b: a * b), fixed([1, 2]), fixed([3, 4]), smooth=False)
row("wrong: apply_", lambda mt, x: x.apply_(abs), real(2), smooth=False)
row("share_memory_", lambda mt, x: x.share_memory_(), fixed([1]), smooth=False)
for name in ("arccosh", "arcsinh", "arctanh"):
    row(f"{name} by that name", lambda mt, x, n=name: getattr(mt, n)(x * 0.3 + (n == "arccosh")), positive(3))
row("randint_like", lambda mt, x: mt.randint_like(x, 1), fixed([1, 2]), smooth=False)
