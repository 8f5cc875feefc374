"""The same numbers in other memory: copies, casts to another dtype, and writing over a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics import devices
from microtape.ops.shared.kinds import named, nothing
from microtape.tape.in_place import call_, places
from microtape.tape.operands import as_operand, number_as
from microtape.tape.operation import Operation, Unary, call, unary
from microtape.tape.tensor_state import TensorState

__all__ = [
    "clone",
    "fill_",
    "zero_",
]


class CloneBackward0(Unary):
    formula = "z = x    ∂z/∂x = 1"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return np.array(x, order="C") if 0 in x.strides else np.array(x)  # numpy lays repeated elements out differently

    def grad_x(self, g: Any) -> Any:
        return g


@named("CloneBackward0")
class ContiguousCopy(Unary):
    """A copy in row-major order, which `contiguous` and some reshapes make."""

    formula = "z = x    ∂z/∂x = 1"
    floating = False

    @staticmethod
    def forward(x: Any) -> Any:
        return np.array(x, order="C")

    def grad_x(self, g: Any) -> Any:
        return g


class CopyBackwards(Operation):
    """y, broadcast and cast to the shape and dtype of x, which it overwrites."""

    operands = ("x", "y")
    formula = "z = y    ∂z/∂x = 0,  ∂z/∂y = 1"
    op = "copy"

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::CopyBackwards"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)).astype(x.dtype)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)

    def grad_y(self, g: Any) -> Any:
        return g


class ToCopyBackward0(Operation):
    __slots__ = ("to_dtype",)
    formula = "z = x in another dtype    ∂z/∂x = 1"
    op = "to"

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.to_dtype = dtype

    def forward(self, x: Any) -> Any:
        return x.astype(self.to_dtype)

    def grad_x(self, g: Any) -> Any:
        return g


class ZeroBackward0(Unary):
    formula = "z = 0    ∂z/∂x = 0"
    floating = False
    forward = staticmethod(np.zeros_like)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)


class FillBackward2(Operation):
    __slots__ = ("number",)
    formula = "z = n everywhere    ∂z/∂x = 0"

    def __init__(self, number: Any) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Any) -> Any:
        return np.full_like(x, number_as(self.number, x.dtype))

    def grad_x(self, g: Any) -> Any:
        return nothing(g)


class FillBackward3(Operation):
    operands = ("x", "y")
    formula = "z = y everywhere    ∂z/∂x = 0,  ∂z/∂y = 1"

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return np.full_like(x, y)

    def grad_x(self, g: Any) -> Any:
        return nothing(g)

    def grad_y(self, g: Any) -> Any:
        return g


def clone(input: Any) -> Any:
    """A copy that gradients flow through."""
    return unary(CloneBackward0, input)


def contiguous(x: Any) -> Any:
    """x itself if its memory is in row-major order, else a copy that is."""
    return x if x.array.flags.c_contiguous else unary(ContiguousCopy, x)


def cast(x: Any, dtype: Any, copy: bool = False) -> Any:
    """x in another dtype; x itself if it has that one, unless `copy`."""
    dtype = np.dtype(dtype)
    return x if x.array.dtype == dtype and not copy else call(ToCopyBackward0(dtype), x)


def to(x: TensorState, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False) -> Any:
    """x in another dtype: `x.to(dtype)`, `x.to(other_tensor)`. The only device is the CPU.

    Raises RuntimeError for another device.
    """
    for argument in (*args, device):
        if isinstance(argument, TensorState):
            dtype = argument.array.dtype
        elif isinstance(argument, str | devices.device) and str(argument).partition(":")[0] in devices.KINDS:
            devices.check_device(argument)
        elif isinstance(argument, bool) or argument is None:
            pass  # `non_blocking`
        else:
            dtype = argument
    return x if dtype is None and not copy else cast(x, x.array.dtype if dtype is None else dtype, copy)


def copy_(x: TensorState, other: Any) -> Any:
    """Write `other`, broadcast and cast, into x."""
    other = as_operand(other, x, "copy_")
    same = places(x.array) == places(other.array)  # copying onto the same elements changes nothing
    return call_(CopyBackwards(), x, other, sharing="repeated" if same else "same")


def fill_(x: TensorState, value: Any) -> Any:
    """Write one number, or a tensor without dimensions, everywhere into x."""
    if isinstance(value, TensorState):
        if value.array.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions."
            )
        return call_(FillBackward3(), x, value, sharing="any")
    return call_(FillBackward2(value), x, sharing="repeated")


def zero_(x: TensorState) -> Any:
    """Write zeros into x."""
    return call_(ZeroBackward0(), x, sharing="repeated")


def casting(dtype: Any) -> Callable[[TensorState], Any]:
    """A method such as `x.double()`, for a dtype."""

    def method(x: TensorState) -> Any:
        return cast(x, dtype)

    method.__doc__ = f"This tensor cast to {np.dtype(dtype).name}; the tensor itself if that is its dtype."
    return method
