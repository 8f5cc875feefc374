"""torch's `autograd` namespace: `backward`, `grad`, `Function`, the grad modes, anomaly mode, gradcheck."""

from microtape.absent import lacking as _lacking
from microtape.autograd import anomaly_mode, forward_ad, function, functional, grad_mode, graph, variable
from microtape.autograd.function import Function
from microtape.autograd.grad_mode import _force_original_view_tracking, _unsafe_preserve_version_counter
from microtape.autograd.variable import Variable
from microtape.basics.settings import is_view_replay_enabled, set_multithreading_enabled
from microtape.tape.grad_mode import enable_grad, no_grad, set_grad_enabled
from microtape.tape.inference import inference_mode
from microtape.tensors.differentiate import backward, grad
from microtape.transforms.anomaly import detect_anomaly, set_detect_anomaly
from microtape.transforms.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Variable",
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_view_replay_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

__getattr__ = _lacking(__name__)
