"""Combinations of three operands: addcmul, addcdiv, and lerp between two points."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.dtypes import cpp_name
from microtape.ops.shared.kinds import Promoting, named, refusing
from microtape.tape.in_place import call_
from microtape.tape.operation import call
from microtape.tape.tensor_state import TensorState

__all__ = ["addcdiv", "addcmul", "lerp"]


@refusing(b="addcmul_cpu_out")
class AddcmulBackward0(Promoting):
    __slots__ = ("value",)
    operands = ("x", "y", "w")
    formula = "z = x + v · y · w    ∂z/∂x = 1,  ∂z/∂y = v · w,  ∂z/∂w = v · y"

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        return x + x.dtype.type(self.value) * y * w

    def grad_x(self, g: Any, _y: Any, _w: Any) -> Any:
        return g

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return g * (w * self.value)

    def grad_w(self, g: Any, y: Any, _w: Any) -> Any:
        return g * (y * self.value)


class AddcdivBackward0(Promoting):
    __slots__ = ("value",)
    operands = ("x", "y", "w")
    formula = "z = x + v · y / w    ∂z/∂x = 1,  ∂z/∂y = v / w,  ∂z/∂w = -v · y / w²"

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        if x.dtype.kind in "biu":
            raise RuntimeError(
                "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
                "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + "
                "value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * "
                "tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: "
                "(input + value * tensor1 / tensor2), for all dtypes."
            )
        return x + x.dtype.type(self.value) * y / w

    def grad_x(self, g: Any, _y: Any, _w: Any) -> Any:
        return g

    def grad_y(self, g: Any, _y: Any, w: Any) -> Any:
        return g * (self.value / w)

    def grad_w(self, g: Any, y: Any, w: Any) -> Any:
        return -g * (self.value * y / (w * w))


@refusing(biu="lerp_kernel_scalar")
class LerpBackward0(Promoting):
    """With a weight that is a number."""

    __slots__ = ("weight",)
    operands = ("x", "y")
    formula = "z = x + w · (y - x)    ∂z/∂x = 1 - w,  ∂z/∂y = w"

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: Any, y: Any) -> Any:
        w = x.dtype.type(self.weight)
        return x + w * (y - x) if np.abs(w) < 0.5 else y - (y - x) * (1 - w)

    def grad_x(self, g: Any) -> Any:
        return g * (1 - self.weight)

    def grad_y(self, g: Any) -> Any:
        return g * self.weight


@refusing(biu="lerp_kernel_tensor")
@named("LerpBackward1")
class LerpByTensor(Promoting):
    """With a weight that is a tensor."""

    operands = ("x", "y", "w")
    formula = "z = x + w · (y - x)    ∂z/∂x = 1 - w,  ∂z/∂y = w,  ∂z/∂w = y - x"

    def forward(self, x: Any, y: Any, w: Any) -> Any:
        return np.where(np.abs(w) < 0.5, x + w * (y - x), y - (y - x) * (1 - w))

    def grad_x(self, g: Any, _x: Any, _y: Any, w: Any) -> Any:
        return g * (1 - w)

    def grad_y(self, g: Any, _x: Any, _y: Any, w: Any) -> Any:
        return g * w

    def grad_w(self, g: Any, x: Any, y: Any, _w: Any) -> Any:
        return g * (y - x)


def _check_ends(x: Any, y: Any, w: Any) -> None:
    """Raise RuntimeError if end or weight has another dtype: lerp does not promote."""
    for name, one in (("end", y), ("weight", w)):
        if isinstance(one, TensorState) and one.array.dtype != x.dtype and (name == "end" or one.array.ndim):
            found = cpp_name(one.array.dtype)
            raise RuntimeError(f"expected dtype {cpp_name(x.dtype)} for `{name}` but got dtype {found}")


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """`input + value · tensor1 · tensor2`."""
    return call(AddcmulBackward0(value), input, tensor1, tensor2)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """`input + value · tensor1 / tensor2`. Raises RuntimeError for integers."""
    return call(AddcdivBackward0(value), input, tensor1, tensor2)


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """`input + weight · (end - input)`, computed from the nearer end; the weight is a number or a tensor."""
    _check_ends(input, end, weight)
    if isinstance(weight, TensorState):
        return call(LerpByTensor(), input, end, weight)
    return call(LerpBackward0(weight), input, end)


def addcmul_(x: TensorState, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """Add `value · tensor1 · tensor2` in place."""
    return call_(AddcmulBackward0(value), x, tensor1, tensor2)


def addcdiv_(x: TensorState, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """Add `value · tensor1 / tensor2` in place."""
    return call_(AddcdivBackward0(value), x, tensor1, tensor2)


def lerp_(x: TensorState, end: Any, weight: Any) -> Any:
    """Move towards `end`, `weight` of the way, in place."""
    _check_ends(x, end, weight)
    if isinstance(weight, TensorState):
        return call_(LerpByTensor(), x, end, weight)
    return call_(LerpBackward0(weight), x, end)
