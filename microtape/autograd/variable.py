"""torch's `autograd.variable` namespace: the former name of tensors, and the engine under it."""

from __future__ import annotations

from typing import Any

from microtape.tensors.tensor import Tensor
from microtape.transforms.graph import queue_callback


class _ExecutionEngine:
    """The part of torch's engine object that programs call by name."""

    queue_callback = staticmethod(queue_callback)


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """The former name of Tensor: every tensor is an instance, and `Variable(data)` makes a tensor."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        """A leaf that shares memory with `data`, without its history; of the same shape and dtype."""
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
