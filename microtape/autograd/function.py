"""torch's `autograd.function` namespace."""

from microtape.function import Function, once_differentiable
from microtape.function_node import Context as FunctionCtx

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
