"""The functions of `torch.nn.functional` that exist here."""

from __future__ import annotations

from typing import Any

from microtape.ops.activation import (
    elu,
    gelu,
    hardtanh,
    leaky_relu,
    logsigmoid,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softplus,
)
from microtape.ops.embedding import embedding, one_hot
from microtape.ops.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from microtape.ops.nll import cross_entropy, nll_loss
from microtape.ops.noise import dropout
from microtape.ops.product import addmm, matmul
from microtape.ops.rearrange import pad
from microtape.ops.selection import clamp_min
from microtape.ops.shape import expand, reshape, t
from microtape.ops.softmax import log_softmax, softmax
from microtape.ops.statistics import vector_norm
from microtape.ops.trigonometric import tanh


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.T + bias`; input: (..., in), weight: (out, in), bias: (out,) or None."""
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    rows = reshape(input, (-1, input.shape[-1]))
    return reshape(addmm(bias, rows, t(weight)), (*input.shape[:-1], weight.shape[0]))


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """`input` divided by its norm along `dim`, or by `eps` where that is larger."""
    length = clamp_min(vector_norm(input, p, dim, True), eps)
    return input / expand(length, input.shape)


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tanh",
]
