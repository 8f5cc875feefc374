"""torch's `autograd.function` namespace."""

from microtape.functions.function import Function, once_differentiable
from microtape.functions.function_node import Context as FunctionCtx

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
