"""torch's `autograd.function` namespace."""

from microtape.function import Function, once_differentiable

__all__ = ["Function", "once_differentiable"]
