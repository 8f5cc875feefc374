"""How far two values may be apart and still agree.

Note [How rounding is allowed for]
  Two runs of the same computation on different kernels, or with sums in another order, differ by rounding. The
  tolerances of a dtype are those of `torch.testing.assert_close`, of the coarser dtype of both values. They are
  relative to the largest magnitude of the array: a small element beside large ones has the error of the large ones.
  Errors of single operations are independent, so that they grow with the square root of their number: what is computed
  from a value that agrees within t agrees within √(t² + rtol²).
  Where large numbers cancel (a sum of gradients, the difference of two values, the backward of a normalisation), what
  remains may be nothing but rounding. There the tolerance is relative to the numbers that were added up. It is relative
  to the operands, too, where a function makes them smaller without making their errors smaller, as tanh does.
  Values that are equal to the bit leave no room: what is computed from them must agree within a single rounding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from microtape.recording.comparing.measuring import Measured
from microtape.recording.model.model import Value

RTOL = {
    "float16": 1e-3, "bfloat16": 1.6e-2, "float32": 1.3e-6, "float64": 1e-7,
    "complex32": 1e-3, "complex64": 1.3e-6, "complex128": 1e-7,
}  # fmt: skip
_FLOAT8 = 0.25  # half of the distance between two neighbours, relative to them
_KEEPING = re.compile(r"(Add|Sub|Rsub|Sum|Mean|Cumsum|Tanh|Sigmoid|Sin|Cos|Erf|\w*Softmax|\w*Norm)Backward")
"""Nodes whose result is off by as much as their operands, however small it is: sums, and functions with slopes up to 1.
A normalisation begins with the difference from the mean."""
UPDATE = "SubBackward0"
"""An update of a leaf adds to it, too."""
_RAISING = re.compile(r"(Exp|Expm1|Exp2)Backward")
"""Nodes whose result is off by a part of itself that is as large as the error of their operand."""
_SUMMING = re.compile(r"mm|Matmul|Linear|Softmax|Norm|Conv|Mv|Dot|Var|Std|Attention|Cumsum|Einsum", re.IGNORECASE)
"""Nodes whose backward adds up; for other nodes, only where broadcasting is undone."""


class Tolerance(NamedTuple):
    """The user's tolerances; None stands for those of the dtype."""

    rtol: float | None = None
    atol: float | None = None

    @property
    def asks_for_bits(self) -> bool:
        """Whether only identical values agree."""
        return self.rtol == 0 and not self.atol

    def of(self, dtypes: Iterable[str]) -> float:
        """The relative tolerance for values of these dtypes: that of the coarsest."""
        return self.rtol if self.rtol is not None else max(map(_rtol, dtypes), default=0.0)

    def agrees(self, found: Measured, allowed: float) -> bool:
        """Whether values agree that may be apart by `allowed` because of rounding."""
        if found.how in ("shape", "missing", "unknown"):
            return False
        if self.asks_for_bits:
            return found.identical
        return found.absolute <= allowed + (self.atol or 0.0)

    def together(self, rtol: float, *before: float) -> float:
        """The relative tolerance of what is computed from values with those tolerances."""
        return rtol if self.rtol is not None else math.hypot(rtol, *before)


def _rtol(dtype: str) -> float:
    return _FLOAT8 if dtype.startswith("float8") else RTOL.get(dtype, 0.0)


LARGEST_STEP = 1e-6
"""More than `smallest_step` of any dtype."""


@cache
def smallest_step(dtype: np.dtype[Any] | str) -> float:
    """The distance between two numbers of a dtype near 0: 6e-8 for float16, next to nothing for wider ones."""
    try:
        known = np.dtype(dtype)
    except TypeError:  # one that numpy does not have
        return 0.0
    return float(np.finfo(known).smallest_subnormal) if known.kind in "fc" else 0.0


def carried_over(name: str, operands: Iterable[float], result: float) -> float:
    """The magnitude that the relative tolerance of a node's result refers to, given those of its operands; or 0."""
    kind = _kind_of(name)
    return max(operands, default=0.0) * (result if kind == "raises" else 1.0) if kind else 0.0


def summed_up(name: str, gradient: Value, arrived: Iterable[Value | None], largest: Callable[[Value], float]) -> float:
    """The largest magnitude that a node's backward adds up to compute a gradient; 0 if it adds up nothing."""
    known = [one for one in arrived if one is not None]
    if _sums(name) or any(math.prod(gradient.shape) < math.prod(one.shape) for one in known):
        return max(map(largest, known), default=0.0)
    return 0.0


@cache
def _kind_of(name: str) -> str:
    return "keeps" if _KEEPING.match(name) else "raises" if _RAISING.match(name) else ""


@cache
def _sums(name: str) -> bool:
    return bool(_SUMMING.search(name))
