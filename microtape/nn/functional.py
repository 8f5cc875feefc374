"""The functions of `torch.nn.functional` that exist here."""

from typing import Any

from microtape.ops.elementwise import relu, sigmoid, softplus, tanh
from microtape.ops.loss import cross_entropy, log_softmax, mse_loss, nll_loss, softmax
from microtape.ops.product import matmul


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """`x @ weight.T + bias`; x: (..., in), weight: (out, in), bias: (out,) or None."""
    product = matmul(x, weight.t())
    return product if bias is None else product + bias


__all__ = [
    "cross_entropy",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "tanh",
]
