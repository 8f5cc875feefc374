"""torch's `autograd` namespace: `backward`, `grad`, `Function`, the grad modes, gradcheck."""

from microtape.autograd import function
from microtape.autograd.function import Function
from microtape.differentiate import backward, grad
from microtape.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["Function", "backward", "enable_grad", "function", "grad", "no_grad", "set_grad_enabled"]
