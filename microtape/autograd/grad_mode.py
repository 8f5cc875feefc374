"""torch's `autograd.grad_mode` namespace."""

from microtape.basics.settings import _force_original_view_tracking, set_multithreading_enabled
from microtape.tape.grad_mode import enable_grad, no_grad, set_grad_enabled
from microtape.tape.inference import inference_mode
from microtape.transforms.graph import _unsafe_preserve_version_counter

__all__ = [
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
