"""Rows: writing into a tensor that is part of a graph; `call_` is tried on a clone, a leaf may not be written to."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.parity_ops import rows
from tests.parity_ops.inputs import Input, below, exactly, fixed, inside, mask, positive, real

row = partial(rows.row, in_place=True)


def in_place(name: str, *inputs: Input, arguments: tuple[Any, ...] = (), **options: Any) -> None:
    """A method that writes into the first operand. `options` are keywords of the method."""
    title = " ".join([name, *map(str, arguments), *(f"{key}={value}" for key, value in options.items())])
    row(
        f"{title} of {len(inputs)}",
        lambda mt, x, *others, name=name, a=arguments, o=options: getattr(x.clone(), name)(*a, *others, **o),
        *inputs,
    )


def each(names: str, *inputs: Input) -> None:
    """`in_place`, for methods without other arguments."""
    for name in names.split():
        in_place(name, *inputs)


# Arithmetic

each("add_ sub_ mul_ div_ atan2_ fmod_ remainder_", real(2, 3), positive(3))
each("pow_", positive(2, 3), real(3))
for number in (2, -0.5, 0):
    for name in ("add_", "sub_", "mul_", "pow_", "fill_"):
        in_place(name, positive(3), arguments=(number,))
in_place("div_", real(3), arguments=(2,))
in_place("remainder_", real(3), arguments=(0.7,))
in_place("fmod_", real(3), arguments=(0.7,))
in_place("add_", real(3), real(3), alpha=2)
in_place("sub_", real(3), real(1), alpha=0.5)
in_place("div_", real(3), positive(3), rounding_mode="floor")
in_place("addmm_", real(2, 2), real(2, 3), real(3, 2), beta=0.5, alpha=2)
in_place("addcmul_", real(3), real(3), real(3), value=0.5)
in_place("addcdiv_", real(3), real(3), positive(3), value=0.5)
row("lerp_", lambda mt, x, y: x.clone().lerp_(y, 0.3), real(3), real(3))
row("lerp_ by a tensor", lambda mt, x, y, w: x.clone().lerp_(y, w), real(3), real(3), real(3))
in_place("baddbmm_", real(1, 2, 2), real(1, 2, 3), real(1, 3, 2))
for name, change in {
    "+=": lambda x, y: x.__iadd__(y),
    "-=": lambda x, y: x.__isub__(y),
    "*=": lambda x, y: x.__imul__(y),
    "/=": lambda x, y: x.__itruediv__(y),
    "**=": lambda x, y: x.__ipow__(y),
    "%=": lambda x, y: x.__imod__(y),
    "//=": lambda x, y: x.__ifloordiv__(y),
}.items():
    smooth = name != "//="
    row(f"x {name} y", lambda mt, x, y, c=change: c(x.clone(), y), positive(2, 3), positive(3), smooth=smooth)
    row(f"x {name} 3", lambda mt, x, c=change: c(x.clone(), 3), positive(2, 3), smooth=smooth)

# Each element by itself

each("exp_ exp2_ expm1_ sin_ cos_ tan_ sinh_ cosh_ tanh_ atan_ sigmoid_ erf_ erfc_ relu_ abs_ neg_", real(2, 3))
each("square_ floor_ ceil_ trunc_ frac_ round_ sign_ sgn_ zero_", real(2, 3))
each("log_ log2_ log10_ log1p_ sqrt_ rsqrt_ reciprocal_", positive(2, 3))
each("asin_ acos_", inside(4))
NONE_IN_TORCH = "asinh_, acosh_ and atanh_ have derivatives here, where torch has none for them"
row("asinh_", lambda mt, x: x.clone().asinh_(), real(3), differs=NONE_IN_TORCH)
row("acosh_", lambda mt, x: (x + 1).acosh_(), positive(3), differs=NONE_IN_TORCH)
row("atanh_", lambda mt, x: x.clone().atanh_(), inside(3), differs=NONE_IN_TORCH)
each("absolute_ arcsin_ arccos_ arctan_ fix_ negative_", inside(3))
in_place("fill_", real(2, 3), real())
row("floor_divide_", lambda mt, x, y: x.clone().floor_divide_(y), real(2, 3), positive(), smooth=False)
row("floor_divide_ 0.7", lambda mt, x: x.clone().floor_divide_(0.7), real(3), smooth=False)
in_place("copy_", real(2, 3), real(3))
row("copy_ of a scalar", lambda mt, x, y: x.clone().copy_(y), real(2, 3), real())
in_place("clamp_", real(5), arguments=(-1, 1))
in_place("clamp_", real(5), min=0.1)
in_place("clip_", real(5), max=0.1)
in_place("clamp_min_", real(5), arguments=(0.1,))
in_place("clamp_max_", real(5), arguments=(0.1,))
in_place("clamp_min_", real(5), real(5))
for name in ("relu", "relu6", "leaky_relu", "elu", "selu", "silu", "hardtanh", "celu"):
    row(
        f"{name} inplace=True",
        lambda mt, x, name=name: getattr(mt.nn.functional, name)(x.clone(), inplace=True),
        real(2, 3),
    )

for value in (20.0, -1.0):
    name = f"threshold inplace=True with {value}"
    row(name, lambda mt, x, v=value: mt.nn.functional.threshold(x.clone(), 0.1, v, inplace=True), real(6))
row("threshold_", lambda mt, x: mt.threshold_(x.clone(), 0.1, 0.5), real(6))
row("celu_", lambda mt, x: mt.celu_(x.clone(), 0.5), real(6))
row("renorm_", lambda mt, x: x.clone().renorm_(2, 0, 1.0), real(3, 4), node=False)

# Along dimensions

in_place("cumsum_", real(2, 3), arguments=(1,))
in_place("cumprod_", real(2, 3), arguments=(-1,))
in_place("tril_", real(3, 3))
in_place("triu_", real(3, 3), arguments=(1,))

# Picking and placing

row("x[0] = y", lambda mt, x, y: written(x.clone(), 0, y), real(3, 2), real(2))
row("x[:, 1:] = 2", lambda mt, x: written(x.clone(), (slice(None), slice(1, None)), 2), real(3, 2))
row("x[i] = y", lambda mt, x, i, y: written(x.clone(), i, y), real(3, 2), fixed([2, 0]), real(2))
row("x[mask] = y", lambda mt, x, m, y: written(x.clone(), m, y), real(3, 2), mask(3, 2), real())
row("x[mask] = 0", lambda mt, x, m: written(x.clone(), m, 0), real(3, 2), mask(3, 2))
row("x[...] = y", lambda mt, x, y: written(x.clone(), ..., y), real(3, 2), real(2))
row("x[0][1] += y", lambda mt, x, y: added_inside(x.clone(), y), real(3, 2), real())
row("scatter_", lambda mt, x, i, y: x.clone().scatter_(0, i, y), real(3, 2), fixed([[2, 0]]), real(1, 2))
row("scatter_ 2", lambda mt, x, i: x.clone().scatter_(1, i, 2.0), real(2, 3), fixed([[2], [0]]))
row("scatter_add_", lambda mt, x, i, y: x.clone().scatter_add_(0, i, y), real(3, 2), below(3, 4, 2), real(4, 2))
row("index_add_", lambda mt, x, i, y: x.clone().index_add_(0, i, y, alpha=2), real(3, 2), fixed([1, 1]), real(2, 2))
row("index_copy_", lambda mt, x, i, y: x.clone().index_copy_(0, i, y), real(3, 2), fixed([2, 0]), real(2, 2))
row("index_fill_", lambda mt, x, i: x.clone().index_fill_(1, i, 0.5), real(2, 3), fixed([2, 2]))
row("index_put_", lambda mt, x, i, y: x.clone().index_put_((i,), y), real(4, 2), fixed([3, 0]), real(2, 2))
row(
    "index_put_ accumulate",
    lambda mt, x, i, y: x.clone().index_put_((i,), y, accumulate=True),
    real(4),
    fixed([1, 1]),
    real(2),
)
row("masked_fill_", lambda mt, x, m: x.clone().masked_fill_(m, 2.0), real(2, 3), mask(3))
row("masked_fill_ y", lambda mt, x, m, y: x.clone().masked_fill_(m, y), real(2, 3), mask(2, 3), real())
for kind in ("sum", "prod", "mean", "amax", "amin"):
    row(
        f"scatter_reduce_ {kind}",
        lambda mt, x, i, y, kind=kind: x.clone().scatter_reduce_(0, i, y, kind),
        real(3, 2),
        below(3, 4, 2),
        real(4, 2),
    )
row("masked_scatter_", lambda mt, x, m, y: x.clone().masked_scatter_(m, y), real(2, 3), mask(2, 3), real(7))
row("copy_ into a view", lambda mt, x, y: into_view(x.clone(), y), real(2, 3), real(3))
row("mul_ of a view of a view", lambda mt, x, y: scaled_corner(x.clone(), y), real(3, 3), real())
row("relu_ at 0", lambda mt, x: x.clone().relu_(), exactly([0.0, -1.0, 1.0]), smooth=False)


def written(x: Any, key: Any, value: Any) -> Any:
    """`x[key] = value`, as an expression."""
    x[key] = value
    return x


def added_inside(x: Any, y: Any) -> Any:
    x[0][1] += y
    return x


def into_view(x: Any, y: Any) -> Any:
    x[1].copy_(y)
    return x


def scaled_corner(x: Any, y: Any) -> Any:
    x[1:][:, :2].mul_(y)
    return x
