"""torch's `autograd.forward_ad` namespace."""

from microtape.transforms.forward_ad import (
    UnpackedDualTensor,
    _is_fwd_grad_enabled,
    _set_fwd_grad_enabled,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)

__all__ = [
    "UnpackedDualTensor",
    "_is_fwd_grad_enabled",
    "_set_fwd_grad_enabled",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
