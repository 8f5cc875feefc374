"""Rows: arithmetic, and functions of each element by itself."""

from __future__ import annotations

import numpy as np

from tests.parity_ops.inputs import complex_, exactly, fixed, inside, mask, positive, real
from tests.parity_ops.rows import broadcast, each_function, each_shape, row

EDGES = exactly([np.inf, -np.inf, 0.0, 2.0, -2.0])
MULTIPLES = fixed(np.tile([[4.0], [-4.0], [0.0], [-0.0]], (300, 1)))

# Arithmetic

broadcast("add", lambda mt, x, y: x + y, real, real)
broadcast("sub", lambda mt, x, y: x - y, real, real)
broadcast("mul", lambda mt, x, y: x * y, real, real)
broadcast("div", lambda mt, x, y: x / y, real, positive)
broadcast("pow", lambda mt, x, y: x**y, positive, real)
broadcast("remainder", lambda mt, x, y: x % y, real, positive)
broadcast("fmod", lambda mt, x, y: mt.fmod(x, y), real, positive)
broadcast("atan2", lambda mt, x, y: mt.atan2(x, y), real, positive)
broadcast("maximum", lambda mt, x, y: mt.maximum(x, y), real, real)
broadcast("minimum", lambda mt, x, y: mt.minimum(x, y), real, real)
broadcast("logaddexp", lambda mt, x, y: mt.logaddexp(x, y), real, real)
broadcast("xlogy", lambda mt, x, y: mt.xlogy(x, y), real, positive)
broadcast("add alpha", lambda mt, x, y: mt.add(x, y, alpha=0.5), real, real)
broadcast("sub alpha", lambda mt, x, y: x.sub(y, alpha=3), real, real)
broadcast("rsub", lambda mt, x, y: mt.rsub(x, y, alpha=2), real, real)
broadcast("div floor", lambda mt, x, y: mt.div(x, y, rounding_mode="floor"), real, positive)
broadcast("div trunc", lambda mt, x, y: mt.div(x, y, rounding_mode="trunc"), real, positive)
broadcast("mul complex", lambda mt, x, y: x * y, complex_, complex_)
broadcast("div complex", lambda mt, x, y: x / y, complex_, complex_)
broadcast("mul real complex", lambda mt, x, y: x * y, real, complex_)
for operands in (((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), (2, 1)), ((), (), ())):
    x, y, w = operands
    row(f"addcmul {operands}", lambda mt, x, y, w: mt.addcmul(x, y, w, value=0.5), real(*x), real(*y), real(*w))
    row(f"addcdiv {operands}", lambda mt, x, y, w: mt.addcdiv(x, y, w, value=-2), real(*x), real(*y), positive(*w))
    row(f"lerp {operands}", lambda mt, x, y, w: mt.lerp(x, y, w), real(*x), real(*y), real(*w))
    row(f"lerp number {operands}", lambda mt, x, y: mt.lerp(x, y, 0.3), real(*x), real(*y))
for name in ["mul", "div", "pow", "remainder", "matmul"]:
    row(f"{name} by name", lambda mt, x, y, n=name: getattr(mt, n)(x, y), positive(3), real(3))
    row(f"{name} as a method", lambda mt, x, y, n=name: getattr(x, n)(y), positive(3), real(3))
row("mul by a number", lambda mt, x: mt.mul(x, 3), real(3))
for name in ["remainder", "fmod", "floor_divide"]:  # of many elements, and of zeros, infinities, huge quotients
    options = {"smooth": False, "twice": name != "floor_divide"}
    call = lambda mt, x, y, n=name: getattr(mt, n)(x.detach() if n == "floor_divide" else x, y.detach())  # noqa: E731
    row(f"{name} of many", call, real(30, 40), exactly(np.tile([0.7, -0.3, 1e-5, -4.0, 2.5], 8)), **options)
    row(f"{name} at the edge", call, exactly(np.tile([5.0, -5, 0, np.inf, np.nan, -4], 200)[:, None]), EDGES, **options)
    row(
        f"1 / {name} of multiples",
        lambda mt, x, y, n=name: 1 / getattr(mt, n)(x, y),
        MULTIPLES,
        fixed([2.0, -2.0]),
        smooth=False,
    )
row("remainder by a number", lambda mt, x: mt.remainder(x, 0.7), real(3))
row("pow of a number", lambda mt, x: mt.pow(2, x), real(3))
row("pow to a number", lambda mt, x: x.pow(-2), real(3))
row("floor_divide", lambda mt, x, y: mt.floor_divide(x, y), real(3), positive(3), smooth=False)
row("x // 0.7", lambda mt, x: x // 0.7, real(3), smooth=False)
row("3 // x", lambda mt, x: 3 // x, real(3), smooth=False)
for number in (2, -1.5, 0):
    row(f"x + {number}", lambda mt, x, n=number: x + n, real(3))
    row(f"{number} + x", lambda mt, x, n=number: n + x, real(3))
    row(f"x - {number}", lambda mt, x, n=number: x - n, real(3))
    row(f"{number} - x", lambda mt, x, n=number: n - x, real(3))
    row(f"x * {number}", lambda mt, x, n=number: x * n, real(3))
    row(f"{number} / x", lambda mt, x, n=number: n / x, positive(3))
    row(f"x ** {number}", lambda mt, x, n=number: x**n, positive(3))
    row(f"x % {number}", lambda mt, x, n=number or 1: x % n, real(3))
row("x / 2", lambda mt, x: x / 2, real(3))
row("2 ** x", lambda mt, x: 2**x, real(3))
row("0 ** x", lambda mt, x: 0.0**x, exactly([-1.0, 0.0, 1.0, 2.0]), smooth=False, twice=False)
row(
    "0 tensor ** x", lambda mt, x, y: x**y, exactly([0.0, 0, 0, 0]), exactly([-1.0, 0, 1, 2]), smooth=False, twice=False
)
row("x ** 0 at 0", lambda mt, x: x**0, exactly([0.0, 1.0]), smooth=False)
row("x ** 0.5 at 0", lambda mt, x: x**0.5, exactly([0.0, 4.0]), smooth=False, twice=False)
row("logaddexp complex", lambda mt, x, y: mt.logaddexp(x, y), complex_(3), complex_(3))
row("x ** 3 complex", lambda mt, x: x**3, complex_(3))
row("x ** y complex", lambda mt, x, y: x**y, complex_(3), complex_(3))
each_shape("neg", lambda mt, x: -x, real)
row("neg by name", lambda mt, x: mt.neg(x) + x.neg(), real(3))
row("positive", lambda mt, x: +x * 1 + mt.positive(x) * 2, real(3))

# Each element by itself

each_function("exp exp2 expm1 sin cos tan sinh cosh tanh asinh atan sigmoid erf erfc square relu", real)
each_function("abs floor ceil trunc", real)
each_function("log log2 log10 log1p sqrt rsqrt reciprocal frac sign sgn round", positive)
each_function("asin acos atanh", inside)
for name in ["exp", "sin", "cos", "tanh", "sigmoid", "sqrt", "log", "reciprocal", "abs", "sgn", "square", "sinh"]:
    row(f"{name} complex", lambda mt, x, name=name: getattr(mt, name)(x), complex_(4))
row("acosh", lambda mt, x: mt.acosh(x + 1), positive(3))
row("round decimals", lambda mt, x: mt.round(x, decimals=1), real(5))
each_shape("softplus", lambda mt, x: mt.nn.functional.softplus(x), real)
row("softplus beta", lambda mt, x: mt.nn.functional.softplus(x, 2.0, 1.5), real(6), node=True)
each_shape("leaky_relu", lambda mt, x: mt.nn.functional.leaky_relu(x, 0.1), real)
each_shape("elu", lambda mt, x: mt.nn.functional.elu(x, 1.5), real)
each_shape("selu", lambda mt, x: mt.selu(x), real)
each_shape("gelu", lambda mt, x: mt.nn.functional.gelu(x), real)
each_shape("gelu tanh", lambda mt, x: mt.nn.functional.gelu(x, approximate="tanh"), real)
each_shape("silu", lambda mt, x: mt.nn.functional.silu(x), real)
each_shape("logsigmoid", lambda mt, x: mt.nn.functional.logsigmoid(x), real)
each_shape("relu6", lambda mt, x: mt.nn.functional.relu6(x), real)
each_shape("hardtanh", lambda mt, x: mt.nn.functional.hardtanh(x), real)
each_shape("celu", lambda mt, x: mt.celu(x, 1.5), real)
each_shape("hardshrink", lambda mt, x: x.hardshrink(0.3), real)
each_shape("softshrink", lambda mt, x: mt.nn.functional.softshrink(x, 0.3), real)
each_shape("tanhshrink", lambda mt, x: mt.nn.functional.tanhshrink(x), real)
each_shape("threshold", lambda mt, x: mt.threshold(x, 0.1, 20.0), real)
each_shape("prelu of one weight", lambda mt, x: mt.prelu(x, x.new_tensor([0.3])), real)
row("prelu", lambda mt, x, w: mt.prelu(x, w), real(2, 3, 2), real(3))
row("prelu as a method", lambda mt, x, w: x.prelu(w), real(2, 3), real())
row("prelu of a vector", lambda mt, x, w: mt.nn.functional.prelu(x, w), real(4), real(1))
each_shape("clamp", lambda mt, x: x.clamp(-1, 1), real)
row("clamp min", lambda mt, x: x.clamp(min=0.2), real(5))
row("clamp_max", lambda mt, x: x.clamp_max(0.2), real(5))
row("clamp_min tensor", lambda mt, x, y: x.clamp_min(y), real(5), real(5))
row("clamp tensors", lambda mt, x, a, b: mt.clamp(x, a, b), real(6), real(6), real(6))
row("clamp at its bounds", lambda mt, x: x.clamp(0, 1), exactly([0.0, 1.0, 0.5, -1.0, 2.0]), smooth=False)
for name in ["relu", "abs", "sign", "sgn", "sqrt", "floor"]:
    kink = exactly([0.0, -0.0, 1.0])
    row(f"{name} at 0", lambda mt, x, name=name: getattr(mt, name)(x), kink, smooth=False, twice=False)
row("maximum at ties", lambda mt, x, y: mt.maximum(x, y), exactly([1.0, 2.0]), exactly([1.0, 3.0]), smooth=False)
row("minimum at ties", lambda mt, x, y: mt.minimum(x, y), exactly([1.0, 2.0]), exactly([1.0, 3.0]), smooth=False)
row("where", lambda mt, c, x, y: mt.where(c, x, y), mask(2, 3), real(2, 3), real(3))
row("where number", lambda mt, c, x: mt.where(c, x, 1.5), mask(4), real(4))
row("exp of large", lambda mt, x: mt.exp(x), exactly([1000.0, -1000.0]), smooth=False, twice=False)
row("log of 0", lambda mt, x: mt.log(x), exactly([0.0, -1.0]), smooth=False, twice=False)
row("div by 0", lambda mt, x, y: x / y, exactly([1.0, 0.0]), exactly([0.0, 0.0]), smooth=False, twice=False)
KINK = {"smooth": False, "twice": False}
row("where both numbers", lambda mt, c: mt.where(c, 1.5, 2.5), mask(4), smooth=False)
row("where whole numbers", lambda mt, c: mt.where(c, 1, 2), mask(4), smooth=False)
row("where number first", lambda mt, c, x: mt.where(c, 0, x), mask(4), real(4))
row("where as a method", lambda mt, c, x, y: x.where(c, y), mask(4), real(4), real(4))
row("where condition alone", lambda mt, c: mt.where(c), mask(3, 2), smooth=False)
row("max of two", lambda mt, x, y: mt.max(x, y), real(3), real(3))
row("min of two", lambda mt, x, y: x.min(y), real(3), real(3))
row("add alpha of numbers", lambda mt, x: mt.add(x, 2, alpha=3), real(3))
row("div rounding of numbers", lambda mt, x: x.div(0.7, rounding_mode="trunc"), real(3))
row("prod of complex", lambda mt, x: x.prod(), complex_(3))
row("cumprod of complex", lambda mt, x: x.cumprod(0), complex_(3))
row("std of complex", lambda mt, x: x.std(), complex_(4))
row("logsumexp of complex", lambda mt, x: mt.logsumexp(x, 0), complex_(3))
row("softplus of large", lambda mt, x: mt.nn.functional.softplus(x), exactly([100.0, -100.0, 20.0]), smooth=False)
row("sigmoid of large", lambda mt, x: mt.sigmoid(x), exactly([1000.0, -1000.0]), smooth=False)
row("tanh of large", lambda mt, x: mt.tanh(x), exactly([1000.0, -1000.0]), smooth=False)
row("relu of NaN", lambda mt, x: mt.relu(x), exactly([np.nan, np.inf, -np.inf]), smooth=False, twice=False)
row("clamp of NaN", lambda mt, x: x.clamp(0, 1), exactly([np.nan, np.inf, -np.inf]), smooth=False, twice=False)
row("clamp with crossed bounds", lambda mt, x: x.clamp(1, 0), exactly([-1.0, 0.5, 2.0]), smooth=False)
row(
    "xlogy at 0",
    lambda mt, x, y: mt.xlogy(x, y),
    exactly([0.0, 0.0, 1.0]),
    exactly([0.0, 2.0, 0.0]),
    smooth=False,
    twice=False,
)
row("atan2 at 0", lambda mt, x, y: mt.atan2(x, y), exactly([0.0, 0.0]), exactly([0.0, 1.0]), smooth=False, twice=False)
row(
    "logaddexp of -inf",
    lambda mt, x, y: mt.logaddexp(x, y),
    exactly([-np.inf]),
    exactly([-np.inf]),
    smooth=False,
    twice=False,
)
for kink in (
    "leaky_relu",
    "elu",
    "hardtanh",
    "relu6",
    "gelu",
    "silu",
    "softplus",
    "logsigmoid",
    "celu",
    "hardshrink",
    "softshrink",
):
    row(
        f"{kink} at its kinks",
        lambda mt, x, n=kink: getattr(mt.nn.functional, n)(x),
        exactly([0.0, -0.0, -1.0, 1.0, 6.0, -0.5, 0.5]),
        smooth=False,
        twice=False,
    )
broadcast("hypot", lambda mt, x, y: mt.hypot(x, y), real, positive)
row("hypot as a method", lambda mt, x, y: x.hypot(y), real(3), real(3))
ODD = exactly([1.0, float("nan"), float("inf"), -float("inf"), -2.0])
row("nan_to_num", lambda mt, x: mt.nan_to_num(x), ODD, smooth=False)
row("nan_to_num given", lambda mt, x: x.nan_to_num(1.0, posinf=5.0, neginf=-5.0), ODD, smooth=False)
row("heaviside", lambda mt, x, y: mt.heaviside(x, y), fixed([-1.0, 0.0, 2.0]), fixed([0.5, 0.25, 0.5]), smooth=False)
row("heaviside has no derivative", lambda mt, x, y: mt.heaviside(x, y), real(3), real(3), smooth=False)
for name in ["sign", "sgn", "floor", "ceil", "trunc", "round", "angle"]:
    backwards = lambda mt, x, n=name: 1 / (getattr(mt, n)(x) - getattr(mt, n)(x.detach()))  # noqa: E731
    row(f"{name} of an infinite gradient", backwards, real(3), smooth=False, twice=False)
for name, call in {
    "x ** 0": lambda x: x**0,
    "fill_": lambda x: x.clone().fill_(1.0),
    "copy_": lambda x: x.clone().copy_(x.detach() ** 0),
}.items():
    row(f"{name} of an infinite gradient", lambda mt, x, f=call: 1 / (f(x) - 1), real(3), smooth=False, twice=False)
row("angle of real zeros", lambda mt, x: mt.angle(x), fixed([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0]), smooth=False)
row("real x ** 1j", lambda mt, x: x.to(mt.float64) ** 1j, real(3))
row("real ** complex", lambda mt, x, y: mt.pow(x, y), real(3), complex_(3), twice=False)
BYTES = fixed([3, 7, 200], np.uint8)
SINGLE = exactly([0.5, -1.5, 2.0], np.float32)
row("bytes ** x", lambda mt, x, y: mt.pow(x, y), BYTES, SINGLE, smooth=False)
row("xlogy of bytes", lambda mt, x, y: mt.xlogy(x, y), SINGLE, BYTES, smooth=False)
row("bytes % -1", lambda mt, x: mt.remainder(x, -1), BYTES, smooth=False)
row("nothing % 0", lambda mt, x: mt.remainder(x, 0), fixed([], np.int64), smooth=False)
row(
    "acosh outside",
    lambda mt, x: mt.acosh(x),
    exactly([-2.0, -1.0, 0.5, 1.0, np.inf, -np.inf]),
    smooth=False,
    twice=False,
)
row(
    "lerp all the way",
    lambda mt, x, y: mt.lerp(x, y, 1.0) - y,
    exactly([1e20, 1.0]),
    exactly([1.0, 1e-9]),
    smooth=False,
)
row("lerp far by tensor", lambda mt, x, y, w: mt.lerp(x, y, w), real(3), real(3), exactly([0.4, 0.5, 1.0]))
row("wrong: lerp end", lambda mt, x, y: mt.lerp(x, y.to(mt.float32), 0.5), real(2), real(2), smooth=False)
row("wrong: lerp weight", lambda mt, x, y: mt.lerp(x, x, y.to(mt.float32)), real(2), real(2), smooth=False)
row("wrong: heaviside of a number", lambda mt, x: mt.heaviside(x, 1.0), real(2), smooth=False)
row("wrong: squeeze twice", lambda mt, x: x.squeeze((0, 0)), real(1, 2), smooth=False)
for name in ["remainder", "fmod"]:  # whose derivative divides whole numbers by floats
    for left in (fixed([7, -7, 3]), fixed([True, False, True])):
        kind = left.make(np.random.default_rng(0)).dtype
        call = lambda mt, x, y, n=name: getattr(mt, n)(x, y)  # noqa: E731
        row(f"{name} of {kind} by floats", call, left, exactly([1e-30, 2.5, 0.7]), smooth=False)
