"""The functions of `torch.nn.functional` that microtape has."""

from __future__ import annotations

import math
from typing import Any

from microtape.absent import lacking as _lacking
from microtape.basics.dtypes import bool as bool_dtype
from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.activation import (
    elu,
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
from microtape.ops.elementwise.gated import glu, hardsigmoid, hardswish, mish, softsign
from microtape.ops.elementwise.gaussian import gelu
from microtape.ops.elementwise.mask import masked_fill
from microtape.ops.elementwise.piecewise import celu, hardshrink, prelu, softshrink, tanhshrink, threshold
from microtape.ops.elementwise.random_numbers import dropout
from microtape.ops.elementwise.selection import clamp_min
from microtape.ops.elementwise.trigonometric import tanh
from microtape.ops.indexing.padding import pad
from microtape.ops.linear.einsum import einsum
from microtape.ops.linear.product import addmm, matmul
from microtape.ops.network.adaptive_pooling import adaptive_avg_pool2d
from microtape.ops.network.convolution import conv1d, conv2d, conv_transpose1d, conv_transpose2d
from microtape.ops.network.distance import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    pairwise_distance,
    triplet_margin_loss,
)
from microtape.ops.network.embedding import embedding, one_hot
from microtape.ops.network.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from microtape.ops.network.nll import cross_entropy, nll_loss
from microtape.ops.network.normalization import batch_norm, group_norm, layer_norm, rms_norm
from microtape.ops.network.patches import fold, unfold
from microtape.ops.network.pooling import avg_pool1d, avg_pool2d, max_pool1d, max_pool2d
from microtape.ops.reduction.softmax import log_softmax, softmax
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.reshaping import broadcast_tensors, expand, reshape
from microtape.ops.shape.transposition import t, transpose
from microtape.ops.shared.tensor_arguments import naming_tensors as _naming_tensors


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.T + bias`, (..., out); input: (..., in), weight: (out, in), bias: (out,) or None.

    All have one dtype. Raises RuntimeError for shapes or dtypes that do not fit.
    """
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    rows = reshape(input, (math.prod(input.shape[:-1]), input.shape[-1]))
    return reshape(addmm(bias, rows, t(weight)), (*input.shape[:-1], weight.shape[0]))


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x · Wₖ · y + bₖ for each k: (..., out) of (..., in1) and (..., in2).

    weight: (out, in1, in2), bias: (out,) or None.     Raises RuntimeError for shapes that do not fit.
    """
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for dim, sizes in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if sizes[0] != sizes[1]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {sizes[0]} and {sizes[1]}"
            )
    for name, one, size in (("input1", input1, weight.shape[1]), ("input2", input2, weight.shape[2])):
        if one.shape[-1] != size:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {one.shape[-1]} but expected {size}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    result = einsum("...i,kij,...j->...k", input1, weight, input2)
    return result if bias is None else result + bias


def softmin(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Softmax of `-input` along `dim`: the smallest element gets the largest share. The shape is that of `input`."""
    return softmax(-input, dim, dtype=dtype)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`: x1 · x2 / (max(|x1|, eps) · max(|x2|, eps)).

    x1 and x2 are floating point and are broadcast; the result lacks `dim`. Raises RuntimeError for other dtypes.
    NB: as in torch, the derivative is that of the length even where `eps` replaces it.
    """
    if x1.dtype.kind != "f":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_name(x1.dtype)}")
    x1, x2 = broadcast_tensors(x1, x2)
    first, second = (vector_norm(x, 2, dim, True) for x in (x1, x2))
    first, second = (length + clamp_min(eps - length.detach(), 0) for length in (first, second))
    return sum((x1 / first) * (x2 / second), dim)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """`softmax(query · keyᵀ · scale + mask) · value`; scale: 1 / √features by default (Vaswani et al., 2017).

    query: (..., L, features), key: (..., S, features), value: (..., S, size); the result is (..., L, size). `attn_mask`
    (..., L, S) is either bool, True where attention is allowed, or added to the scores; with `is_causal`, position i
    attends to positions up to i. Raises RuntimeError for both at once, and for shapes that do not fit.
    """
    scores = matmul(query, transpose(key, -2, -1)) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        attn_mask = scores.new_ones(scores.shape[-2:], dtype=bool_dtype).tril()
    if attn_mask is not None:
        allowed = attn_mask.dtype == bool_dtype
        scores = masked_fill(scores, ~attn_mask, -math.inf) if allowed else scores + attn_mask
    return matmul(dropout(softmax(scores, -1), dropout_p), value)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """`input` divided by max(its p-norm along `dim`, eps); same shape and dtype as `input`, which may be complex."""
    length = clamp_min(vector_norm(input, p, dim, True), eps)
    return input / expand(length, input.shape)


__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "unfold",
]

for _name in __all__:
    globals()[_name] = _naming_tensors(globals()[_name])

__getattr__ = _lacking(__name__)
