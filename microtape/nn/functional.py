"""The functions of `torch.nn.functional` that exist here."""

from __future__ import annotations

import math
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
from microtape.ops.convolution import conv1d, conv2d, conv_transpose1d, conv_transpose2d
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
from microtape.ops.normalization import batch_norm, group_norm, layer_norm
from microtape.ops.pooling import adaptive_avg_pool2d, avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
from microtape.ops.product import addmm, matmul
from microtape.ops.rearrange import pad
from microtape.ops.selection import clamp_min
from microtape.ops.shape import expand, reshape
from microtape.ops.softmax import log_softmax, softmax
from microtape.ops.statistics import vector_norm
from microtape.ops.transposition import t
from microtape.ops.trigonometric import tanh


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.T + bias`; input: (..., in), weight: (out, in), bias: (out,) or None."""
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    rows = reshape(input, (math.prod(input.shape[:-1]), input.shape[-1]))
    return reshape(addmm(bias, rows, t(weight)), (*input.shape[:-1], weight.shape[0]))


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """`input` divided by its norm along `dim`, or by `eps` where that is larger."""
    length = clamp_min(vector_norm(input, p, dim, True), eps)
    return input / expand(length, input.shape)


__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "max_pool1d",
    "max_pool2d",
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
