"""Transforms of functions under the names of `torch.func`; see Note [Transforms without levels]."""

from microtape.absent import lacking as _lacking
from microtape.transforms.function_transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from microtape.transforms.vmap import functional_call, stack_module_state, vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]

__getattr__ = _lacking(__name__)
