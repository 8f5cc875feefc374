"""Rows: what neural networks are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.parity_ops.inputs import below, exactly, fixed, positive, real
from tests.parity_ops.rows import row

LOW = exactly(np.full((1, 1, 2, 2), -np.inf))
ATTENTION = (real(2, 3, 4), real(2, 4, 4), real(2, 4, 2))

# Neural networks

row("linear", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b), real(2, 3), real(4, 3), real(4))
row("linear without bias", lambda mt, x, w: mt.nn.functional.linear(x, w), real(2, 3), real(4, 3))
row("linear of a vector", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b), real(3), real(4, 3), real(4))
row("linear of a stack", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b), real(2, 2, 3), real(4, 3), real(4))
row("embedding", lambda mt, i, w: mt.nn.functional.embedding(i, w, padding_idx=0), below(4, 2, 3), real(4, 2))
for reduction in ("mean", "sum", "none"):
    for name in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits"]:
        row(
            f"{name} {reduction}",
            lambda mt, x, y, n=name, r=reduction: getattr(mt.nn.functional, n)(x, y, reduction=r),
            real(2, 3),
            real(2, 3),
        )
    for name in ["mse_loss", "l1_loss", "huber_loss"]:
        row(
            f"{name} weighted {reduction}",
            lambda mt, x, y, w, n=name, r=reduction: getattr(mt.nn.functional, n)(x, y, reduction=r, weight=w),
            real(2, 3),
            real(2, 3),
            positive(2, 3),
        )
    row(
        f"binary_cross_entropy {reduction}",
        lambda mt, x, y, r=reduction: mt.nn.functional.binary_cross_entropy(x, y, reduction=r),
        real(3, low=0.1, high=0.8),
        real(3, low=0.1, high=0.8),
    )
    row(
        f"nll_loss {reduction}",
        lambda mt, x, t, r=reduction: mt.nn.functional.nll_loss(x, t, reduction=r),
        real(4, 3),
        below(3, 4),
    )
    row(
        f"cross_entropy {reduction}",
        lambda mt, x, t, r=reduction: mt.nn.functional.cross_entropy(x, t, reduction=r),
        real(4, 3),
        below(3, 4),
    )
    row(
        f"cross_entropy smoothed {reduction}",
        lambda mt, x, t, r=reduction: mt.nn.functional.cross_entropy(x, t, label_smoothing=0.1, reduction=r),
        real(4, 3),
        below(3, 4),
        node=reduction == "none",
    )
    row(
        f"cross_entropy of probabilities {reduction}",
        lambda mt, x, y, r=reduction: mt.nn.functional.cross_entropy(x, y, reduction=r),
        real(4, 3),
        positive(4, 3),
        node=reduction == "mean",
    )
    row(
        f"nll_loss ignoring {reduction}",
        lambda mt, x, t, r=reduction: mt.nn.functional.nll_loss(x, t, ignore_index=1, reduction=r),
        real(4, 3),
        fixed([0, 1, 1, 2]),
    )
row("nll_loss one", lambda mt, x, t: mt.nn.functional.nll_loss(x, t), real(3), fixed(2))
row("nll_loss pictures", lambda mt, x, t: mt.nn.functional.nll_loss(x, t), real(2, 3, 2, 2), below(3, 2, 2, 2))
row("cross_entropy rows", lambda mt, x, t: mt.nn.functional.cross_entropy(x, t), real(2, 3, 4), below(3, 2, 4))
row(
    "nll_loss weight",
    lambda mt, x, t, w: mt.nn.functional.nll_loss(x, t, weight=w),
    real(4, 3),
    below(3, 4),
    fixed([1.0, 2.0, 0.5]),
)
row(
    "bce_with_logits weights",
    lambda mt, x, y, w: mt.nn.functional.binary_cross_entropy_with_logits(x, y, weight=w, pos_weight=w),
    real(2, 3),
    real(2, 3),
    fixed([1.0, 2.0, 0.5]),
)
row(
    "kl_div",
    lambda mt, x, y: mt.nn.functional.kl_div(x, y, reduction="batchmean"),
    real(2, 3),
    positive(2, 3),
    node=False,
)
row("normalize", lambda mt, x: mt.nn.functional.normalize(x), real(2, 3))
for options in ({}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"padding": "same"}, {"stride": 2, "padding": 2}):
    row(
        f"conv1d {options}",
        lambda mt, x, w, b, o=options: mt.nn.functional.conv1d(x, w, b, **o),
        real(2, 2, 6),
        real(3, 2, 3),
        real(3),
    )
row("conv1d groups", lambda mt, x, w: mt.nn.functional.conv1d(x, w, groups=2), real(1, 4, 5), real(2, 2, 3))
row("conv1d unbatched", lambda mt, x, w: mt.nn.functional.conv1d(x, w), real(2, 5), real(3, 2, 2))
row("conv2d", lambda mt, x, w, b: mt.nn.functional.conv2d(x, w, b), real(2, 2, 4, 3), real(3, 2, 2, 2), real(3))
row(
    "conv2d options",
    lambda mt, x, w: mt.nn.functional.conv2d(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2),
    real(1, 2, 5, 5),
    real(2, 1, 3, 2),
)
row(
    "conv_transpose2d",
    lambda mt, x, w, b: mt.nn.functional.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
    real(1, 2, 3, 3),
    real(2, 2, 3, 3),
    real(2),
)
row("conv_transpose1d", lambda mt, x, w: mt.nn.functional.conv_transpose1d(x, w), real(1, 2, 3), real(2, 2, 2))
row("max_pool1d", lambda mt, x: mt.nn.functional.max_pool1d(x, 2), real(1, 2, 5))
row("max_pool2d", lambda mt, x: mt.nn.functional.max_pool2d(x, 2), real(2, 2, 4, 5))
row("max_pool2d options", lambda mt, x: mt.nn.functional.max_pool2d(x, 3, 2, 1, ceil_mode=True), real(1, 2, 5, 6))
row("max_pool2d at ties", lambda mt, x: mt.nn.functional.max_pool2d(x, 2), exactly(np.ones((1, 1, 2, 4))), smooth=False)
row("avg_pool1d", lambda mt, x: mt.nn.functional.avg_pool1d(x, 2), real(1, 2, 5))
row("avg_pool2d", lambda mt, x: mt.nn.functional.avg_pool2d(x, 2, 1, 1), real(1, 2, 3, 4))
row(
    "avg_pool2d options",
    lambda mt, x: mt.nn.functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    real(1, 2, 4, 5),
)
row("adaptive_avg_pool2d", lambda mt, x: mt.nn.functional.adaptive_avg_pool2d(x, 1), real(1, 2, 3, 4))
row("layer_norm", lambda mt, x: mt.nn.functional.layer_norm(x, (4,)), real(3, 4))
row(
    "layer_norm affine",
    lambda mt, x, w, b: mt.nn.functional.layer_norm(x, (2, 4), w, b),
    real(3, 2, 4),
    real(2, 4),
    real(2, 4),
)
row("batch_norm", lambda mt, x: mt.nn.functional.batch_norm(x, None, None, training=True), real(4, 2))
row(
    "batch_norm affine",
    lambda mt, x, w, b: mt.nn.functional.batch_norm(x, None, None, w, b, training=True),
    real(3, 2, 4),
    real(2),
    real(2),
)
row(
    "batch_norm learnt",
    lambda mt, x, m, v, w, b: mt.nn.functional.batch_norm(x, m, v, w, b),
    real(3, 2),
    fixed([0.1, 0.2]),
    fixed([1.0, 2.0]),
    real(2),
    real(2),
)
row("softmin", lambda mt, x: mt.nn.functional.softmin(x, 1), real(2, 3))
row(
    "bilinear",
    lambda mt, x, y, w, b: mt.nn.functional.bilinear(x, y, w, b),
    real(2, 5, 3),
    real(2, 5, 4),
    real(2, 3, 4),
    real(2),
    node=False,
)
row("bilinear of vectors", lambda mt, x, y, w: mt.bilinear(x, y, w), real(3), real(4), real(2, 3, 4), node=False)
row("glu", lambda mt, x: mt.nn.functional.glu(x, 1), real(2, 4))
row("glu last", lambda mt, x: mt.nn.functional.glu(x), real(4))
row("cosine_similarity", lambda mt, x, y: mt.nn.functional.cosine_similarity(x, y), real(2, 3), real(2, 3), node=False)
row("attention", lambda mt, *x: mt.nn.functional.scaled_dot_product_attention(*x), *ATTENTION, node=False)
row(
    "attention causal",
    lambda mt, *x: mt.nn.functional.scaled_dot_product_attention(*x, is_causal=True),
    *ATTENTION,
    node=False,
)
row(
    "attention masked",
    lambda mt, *x: mt.nn.functional.scaled_dot_product_attention(*x, scale=0.3),
    *ATTENTION,
    fixed([[True, False, True, False], [True, True, False, True], [False, True, True, True]]),
    node=False,
)
row(
    "attention biased",
    lambda mt, *x: mt.nn.functional.scaled_dot_product_attention(*x),
    *ATTENTION,
    real(3, 4),
    node=False,
)
row("group_norm plain", lambda mt, x: mt.nn.functional.group_norm(x, 3), real(2, 6))
row(
    "group_norm bias",
    lambda mt, *x: mt.nn.functional.group_norm(x[0], 1, x[1], x[2]),
    real(2, 3, 2, 2),
    real(3),
    real(3),
)
row(
    "wrong: group_norm weight", lambda mt, x, w: mt.nn.functional.group_norm(x, 1, w), real(2, 3), real(2), smooth=False
)
row(
    "wrong: layer_norm weight",
    lambda mt, x, w: mt.nn.functional.layer_norm(x, (3,), w),
    real(2, 3),
    real(2),
    smooth=False,
)
for size in ((2, 3), (None, 2), 3, (5, 7)):
    row(
        f"adaptive_avg_pool2d {size}",
        lambda mt, x, s=size: mt.nn.functional.adaptive_avg_pool2d(x, s),
        real(2, 1, 5, 7),
    )
row(
    "wrong: adaptive_avg_pool2d -1",
    lambda mt, x: mt.nn.functional.adaptive_avg_pool2d(x, -1),
    real(1, 5, 7),
    smooth=False,
)
row("dropout inplace", lambda mt, x: mt.nn.functional.dropout(x.clone(), 1.0, inplace=True), real(3))
row("group_norm", lambda mt, x, w: mt.nn.functional.group_norm(x, 2, w), real(2, 4, 3), real(4))
for options in ({}, {"momentum": 0.3}, {"momentum": 0.0, "eps": 1e-3}, {"momentum": 1.0}):
    row(
        f"batch_norm moves the running mean and variance {options}",
        lambda mt, x, m, v, o=options: normalized_and_moved(mt, x, m.clone(), v.clone(), **o),
        real(5, 2, 3),
        fixed([0.1, -0.2]),
        fixed([1.0, 2.0]),
    )
row("max_pool2d return_indices", lambda mt, x: mt.nn.functional.max_pool2d(x, 2, return_indices=True), real(1, 2, 4, 4))
row(
    "max_pool1d return_indices",
    lambda mt, x: mt.nn.functional.max_pool1d(x, 2, 1, return_indices=True),
    real(2, 5),
    node=False,
)
row("max_pool2d dilation", lambda mt, x: mt.nn.functional.max_pool2d(x, 2, 1, dilation=2), real(1, 1, 5, 5))
row(
    "max_pool2d of -inf",
    lambda mt, x: mt.nn.functional.max_pool2d(x, 2),
    exactly(np.full((1, 1, 2, 2), -np.inf)),
    smooth=False,
)
row("avg_pool2d divisor", lambda mt, x: mt.nn.functional.avg_pool2d(x, 2, divisor_override=3), real(1, 1, 4, 4))
row(
    "cross_entropy all ignored",
    lambda mt, x, t: mt.nn.functional.cross_entropy(x, t),
    real(2, 3),
    fixed([-100, -100]),
    smooth=False,
)
row("nll_loss of nothing", lambda mt, x, t: mt.nn.functional.nll_loss(x, t), real(0, 3), fixed([], int), smooth=False)
for reduction in ("mean", "sum", "none"):
    row(
        f"cross_entropy everything {reduction}",
        lambda mt, x, t, w, r=reduction: mt.nn.functional.cross_entropy(
            x, t, w, ignore_index=1, label_smoothing=0.2, reduction=r
        ),
        real(4, 3),
        fixed([0, 1, 2, 2]),
        fixed([1.0, 2.0, 0.5]),
        node=False,
    )
    row(
        f"cross_entropy of probabilities, weighted {reduction}",
        lambda mt, x, y, w, r=reduction: mt.nn.functional.cross_entropy(x, y, w, label_smoothing=0.1, reduction=r),
        real(4, 3),
        positive(4, 3),
        fixed([1.0, 2.0, 0.5]),
        node=False,
    )
    row(
        f"binary_cross_entropy weight {reduction}",
        lambda mt, x, y, w, r=reduction: mt.nn.functional.binary_cross_entropy(x, y, weight=w, reduction=r),
        real(2, 3, low=0.1, high=0.8),
        real(2, 3, low=0.1, high=0.8),
        fixed([1.0, 2.0, 0.5]),
    )
for name in ("smooth_l1_loss", "huber_loss"):
    key = {"smooth_l1_loss": "beta", "huber_loss": "delta"}[name]
    row(
        f"{name} {key}",
        lambda mt, x, y, n=name, k=key: getattr(mt.nn.functional, n)(x, y, **{k: 0.4}),
        real(6),
        real(6),
    )
for reduction in ("mean", "sum", "none", "batchmean"):
    for log in (False, True):
        row(
            f"kl_div {reduction} {log}",
            lambda mt, x, y, r=reduction, g=log: mt.nn.functional.kl_div(x, y, reduction=r, log_target=g),
            real(2, 3),
            positive(2, 3),
            node=False,
        )
row("mse_loss broadcast", lambda mt, x, y: mt.nn.functional.mse_loss(x, y), real(2, 3), real(3), smooth=False)
row(
    "linear of nothing",
    lambda mt, x, w, b: mt.nn.functional.linear(x, w, b),
    real(0, 3),
    real(2, 3),
    real(2),
    smooth=False,
)
row(
    "embedding padding -1",
    lambda mt, i, w: mt.nn.functional.embedding(i, w, padding_idx=-1),
    fixed([3, 0, 3]),
    real(4, 2),
    smooth=False,  # the padding row counts as constant
)
row("layer_norm eps", lambda mt, x: mt.nn.functional.layer_norm(x, (3,), eps=0.1), real(2, 3))
row("layer_norm of nothing", lambda mt, x: mt.nn.functional.layer_norm(x, (3,)), real(0, 3), smooth=False)
row("normalize p=1", lambda mt, x: mt.nn.functional.normalize(x, p=1.0, dim=0), real(2, 3))


def normalized_and_moved(mt: Any, x: Any, mean: Any, variance: Any, **options: float) -> list[Any]:
    """batch_norm in training, and what it made of the running statistics."""
    z = mt.nn.functional.batch_norm(x, mean, variance, training=True, **options)
    return [z, mean, variance]
