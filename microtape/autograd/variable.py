"""torch's `autograd.variable` namespace: the old name of tensors, which still leads to the engine."""

from __future__ import annotations

from typing import Any

from microtape.tensors.tensor import Tensor
from microtape.transforms.graph import queue_callback


class _ExecutionEngine:
    """The engine, as far as torch's programs call it by name."""

    queue_callback = staticmethod(queue_callback)


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """A Tensor, under the name that it had once: every tensor is an instance, and making one makes a tensor."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        """`data` without history, as a leaf."""
        return data.detach().requires_grad_(requires_grad)


__all__ = ["Variable"]
