"""torch's `autograd` namespace: `backward`, `grad`, `Function`, the grad modes, anomaly mode, gradcheck."""

from microtape.anomaly import detect_anomaly, set_detect_anomaly
from microtape.autograd import anomaly_mode, forward_ad, function, functional, graph, variable
from microtape.autograd.function import Function
from microtape.autograd.variable import Variable
from microtape.differentiate import backward, grad
from microtape.grad_mode import enable_grad, no_grad, set_grad_enabled
from microtape.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "variable",
]
