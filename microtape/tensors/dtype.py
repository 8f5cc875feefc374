"""Dtypes as users see them: `microtape.float32` prints and asks as torch's does.

Note [Two kinds of dtypes]
  Inside, dtypes are numpy's: `x.array.dtype`. Users get these from `x.dtype`. Each holds numpy's as its attribute
  `dtype`, which is where numpy looks: it takes one wherever it takes a dtype, and `==` and `hash` agree between both
  kinds. Operations never make one, so they cost nothing there.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from microtape.basics import dtypes

__all__ = [
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
    "double",
    "dtype",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "long",
    "promote_types",
    "short",
    "uint8",
]


class dtype:  # noqa: N801 - torch's name
    """The element type of a tensor: `microtape.float32` and its like. There is one object for each."""

    __slots__ = ("dtype", "itemsize", "kind", "name")

    dtype: dtypes.DType
    """numpy's."""

    def __init__(self, of: Any) -> None:
        self.dtype = np.dtype(of)
        self.itemsize, self.kind, self.name = self.dtype.itemsize, self.dtype.kind, self.dtype.name

    @property
    def is_floating_point(self) -> Any:
        """Whether it has fractions, and no imaginary part."""
        return self.kind == "f"

    @property
    def is_complex(self) -> Any:
        """Whether it has an imaginary part."""
        return self.kind == "c"

    @property
    def is_signed(self) -> Any:
        """Whether it has negative numbers."""
        return self.kind in "ifc"

    def to_real(self) -> Any:
        """The dtype of the real parts."""
        return public(np.zeros((), self.dtype).real.dtype)

    def to_complex(self) -> Any:
        """The complex dtype with parts of this one. NB: complex numbers of half precision do not exist here."""
        return public(np.promote_types(self.dtype, np.complex64))

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> Any:
        return self is other or self.dtype == other

    def __hash__(self) -> Any:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"microtape.{self.name}"

    def __reduce__(self) -> Any:
        return public, (self.dtype,)


_KNOWN: dict[Any, dtype] = {}


def public(of: Any) -> dtype:
    """The public dtype of one of numpy's."""
    found = _KNOWN.get(of)
    if found is None:
        found = _KNOWN[of] = dtype(of)
    return found


bool, uint8, int8 = public(dtypes.bool), public(dtypes.uint8), public(dtypes.int8)
int16, int32, int64 = public(dtypes.int16), public(dtypes.int32), public(dtypes.int64)
float16, float32, float64 = public(dtypes.float16), public(dtypes.float32), public(dtypes.float64)
complex64, complex128 = public(dtypes.complex64), public(dtypes.complex128)
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
cfloat, cdouble = complex64, complex128


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats: float32 unless `set_default_dtype` has changed it."""
    return public(dtypes.get_default_dtype())


def promote_types(type1: Any, type2: Any) -> dtype:
    """The dtype in which operands of both dtypes are computed: an integer never widens a float."""
    return public(dtypes.promote_types(np.dtype(type1), np.dtype(type2)))


def can_cast(from_: Any, to: Any) -> Any:
    """Whether a result of one dtype may be written into a tensor of the other: not from complex to float, say."""
    a, b = np.dtype(from_), np.dtype(to)
    order = "biufc"
    kinds = {"u": "i"}
    first, second = (order.index(kinds.get(one.kind, one.kind)) for one in (a, b))
    return first <= second or (a.kind in "iu" and b.kind in "iu")


class _Limits:
    """Common: the fields, and how they are printed."""

    fields: tuple[str, ...]

    def __repr__(self) -> str:
        values = [getattr(self, name) for name in self.fields]
        texts = [f"{value:.6g}" if isinstance(value, builtins.float) else str(value) for value in values]
        return f"{type(self).__name__}({', '.join(map('='.join, zip(self.fields, texts, strict=True)))})"


class finfo(_Limits):  # noqa: N801 - torch's name
    """The limits of a floating dtype: `eps`, `max`, `min`, `smallest_normal` and `tiny`, `resolution`, `bits`.

    Raises TypeError for another dtype.
    """

    fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny", "dtype")

    def __init__(self, type: Any = None) -> None:
        kind = np.dtype(dtypes.get_default_dtype() if type is None else type)
        if kind.kind not in "fc":
            raise TypeError(
                f"microtape.finfo() requires a floating point input type. Use microtape.iinfo to handle '{kind.name}'"
            )
        limits = np.finfo(kind)
        self.bits: Any = limits.bits
        self.eps, self.max, self.min = limits.eps.item(), limits.max.item(), limits.min.item()
        self.tiny = self.smallest_normal = limits.tiny.item()
        self.resolution = 10.0**-limits.precision
        self.dtype = limits.dtype.name


class iinfo(_Limits):  # noqa: N801 - torch's name
    """The limits of an integer dtype: `max`, `min`, `bits`. Raises TypeError for another dtype."""

    fields = ("min", "max", "dtype")

    def __init__(self, type: Any) -> None:
        kind = np.dtype(type)
        if kind.kind not in "iu":
            raise TypeError(
                f"microtape.iinfo() requires an integer input type. Use microtape.finfo to handle '{kind.name}'"
            )
        limits = np.iinfo(kind)
        self.bits: Any = limits.bits
        self.max, self.min = limits.max, limits.min
        self.dtype = kind.name
