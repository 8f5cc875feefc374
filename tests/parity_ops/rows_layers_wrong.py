"""Rows: layers and losses called with sizes and options that do not go together, and with nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.parity_ops.inputs import Input, exactly, fixed, real
from tests.parity_ops.rows import row


def wrong(name: str, call: Callable[..., Any], *inputs: Input) -> None:
    """A call that raises."""
    row(f"wrong: {name}", lambda mt, *xs: call(mt.nn.functional, *xs), *inputs, smooth=False, twice=False)


def edge(name: str, call: Callable[..., Any], *inputs: Input, node: bool = True) -> None:
    """A call at the edge of what is allowed."""
    row(name, lambda mt, *xs: call(mt.nn.functional, *xs), *inputs, smooth=False, node=node)


PICTURES, WEIGHT, ROWS = real(2, 4, 5, 5), real(6, 4, 3, 3), real(3, 7)

wrong("conv2d padding word", lambda nn, x, w: nn.conv2d(x, w, padding="bad"), PICTURES, WEIGHT)
for name in ("stride", "padding", "dilation"):
    three = {name: (1, 2, 3)}
    wrong(f"conv2d {name} of three", lambda nn, x, w, given=three: nn.conv2d(x, w, **given), PICTURES, WEIGHT)
wrong("conv2d bias size", lambda nn, x, w, b: nn.conv2d(x, w, b), PICTURES, WEIGHT, real(5))
wrong("conv2d bias ranks", lambda nn, x, w, b: nn.conv2d(x, w, b), PICTURES, WEIGHT, real(1, 6))
for name, options in {
    "channels": {},
    "stride": {"stride": 0},
    "padding": {"padding": -1},
    "output padding": {"output_padding": -1},
    "groups": {"groups": 4},
}.items():
    call = lambda nn, x, w, given=options: nn.conv_transpose2d(x, w, **given)  # noqa: E731
    wrong(f"conv_transpose2d {name}", call, PICTURES, WEIGHT)
TURNED = real(4, 6, 3, 3)
wrong("conv_transpose2d bias", lambda nn, x, w, b: nn.conv_transpose2d(x, w, b), PICTURES, TURNED, real(5))
wrong("conv_transpose2d more around", lambda nn, x, w: nn.conv_transpose2d(x, w, output_padding=1), PICTURES, TURNED)
wrong(
    "conv_transpose1d more around",
    lambda nn, x, w: nn.conv_transpose1d(x, w, output_padding=1),
    real(2, 4, 5),
    real(4, 6, 3),
)

for name in ("kernel_size", "stride", "padding", "dilation"):
    given = {"kernel_size": 2} | {name: (1, 2, 3)}
    wrong(f"max_pool2d {name} of three", lambda nn, x, given=given: nn.max_pool2d(x, **given), PICTURES)
    if name != "dilation":
        wrong(f"avg_pool2d {name} of three", lambda nn, x, given=given: nn.avg_pool2d(x, **given), PICTURES)
wrong("max_pool2d padding beside dilation", lambda nn, x: nn.max_pool2d(x, 3, padding=2, dilation=2), PICTURES)
wrong("max_pool1d padding", lambda nn, x: nn.max_pool1d(x, 3, padding=2), ROWS)
wrong("max_pool1d padding, indices", lambda nn, x: nn.max_pool1d(x, 3, padding=2, return_indices=True), ROWS)
for name in ("max_pool1d", "avg_pool1d"):
    wrong(f"{name} of a picture", lambda nn, x, n=name: getattr(nn, n)(x, 2), PICTURES)
for name in ("max_pool2d", "avg_pool2d"):
    wrong(f"{name} of no channels", lambda nn, x, n=name: getattr(nn, n)(x, 2), real(2, 0, 4, 4))
    edge(f"{name} of no pictures", lambda nn, x, n=name: getattr(nn, n)(x, 2), real(0, 3, 4, 4))
LEAST = exactly(np.where(np.eye(4) > 0, 1.0, -np.inf)[None, None])
edge(
    "max_pool2d of -inf beside padding",
    lambda nn, x: nn.max_pool2d(x, 2, 2, 1, return_indices=True),
    exactly(np.full((1, 3, 3), -np.inf)),
    node=False,
)
edge("max_pool2d with -inf", lambda nn, x: nn.max_pool2d(x, 3, 1, 1, return_indices=True), LEAST)
edge("unfold of no pictures", lambda nn, x: nn.unfold(x, 2), real(0, 2, 4, 5))
edge("fold of no pictures", lambda nn, x: nn.fold(x, (4, 5), 2), real(0, 8, 12))
wrong("adaptive_avg_pool2d of a matrix", lambda nn, x: nn.adaptive_avg_pool2d(x, (2, 2)), ROWS)

for mode in ("reflect", "replicate", "circular"):
    wrong(f"pad {mode} too many cut off", lambda nn, x, m=mode: nn.pad(x, (-4, -4), mode=m), ROWS)
    wrong(f"pad {mode} of empty rows", lambda nn, x, m=mode: nn.pad(x, (1, 1), mode=m), real(2, 3, 0))
    edge(f"pad {mode} of no pictures", lambda nn, x, m=mode: nn.pad(x, (1, 1), mode=m), real(0, 3, 4), node=False)
wrong("pad circular twice round", lambda nn, x: nn.pad(x, (8, 0), mode="circular"), ROWS)
wrong("pad reflect rows", lambda nn, x: nn.pad(x, (0, 1, 2, 3), mode="reflect"), real(2, 3, 4))
wrong("pad mode, and too many widths", lambda nn, x: nn.pad(x, (1,) * 6, mode="bad"), ROWS)
wrong("pad constant too many cut off", lambda nn, x: nn.pad(x, (-4, -4)), ROWS)

wrong("layer_norm of no dimensions", lambda nn, x: nn.layer_norm(x, ()), ROWS)
wrong("rms_norm of no dimensions", lambda nn, x: nn.rms_norm(x, ()), ROWS)
wrong("batch_norm of a vector", lambda nn, x: nn.batch_norm(x, None, None, training=True), real(3))
wrong("batch_norm means", lambda nn, x, y: nn.batch_norm(x, y, y), ROWS, fixed([1.0, 2.0]))
wrong("batch_norm weight", lambda nn, x, y: nn.batch_norm(x, None, None, y, training=True), ROWS, real(2))
wrong("group_norm of one number", lambda nn, x: nn.group_norm(x, 6), real(1, 6))


def moved_by_nothing(nn: Any, x: Any, mean: Any, variance: Any) -> Any:
    """What an empty batch makes of the running statistics."""
    nn.batch_norm(x, mean, variance, training=True)
    return mean, variance


edge("batch_norm of nothing", moved_by_nothing, real(2, 3, 0), fixed([1.0, 2.0, 3.0]), fixed([1.0, 2.0, 3.0]))
wrong("embedding padding_idx", lambda nn, i, x: nn.embedding(i, x, padding_idx=9), fixed([0, 1]), real(4, 3))
wrong("one_hot of nothing", lambda nn, i: nn.one_hot(i), fixed([], np.int64))

SURE = fixed([0.0, 1.0, 0.0, 1.0])
row(
    "binary_cross_entropy of the sure, by target",
    lambda mt, x, y: mt.nn.functional.binary_cross_entropy(x, y),
    SURE,
    real(4, low=0.2, high=0.8),
    smooth=False,
)
wrong("binary_cross_entropy target size", lambda nn, x, y: nn.binary_cross_entropy(x, y), real(3), real(2))
for name in ("huber_loss", "binary_cross_entropy_with_logits"):
    wrong(f"{name} reduction first", lambda nn, x, y, n=name: getattr(nn, n)(x, y, reduction="bad"), real(3), real(3))
for name in ("mse_loss", "l1_loss", "huber_loss"):
    wrong(f"{name} weight size", lambda nn, x, w, n=name: getattr(nn, n)(x, x, weight=w), real(2, 3), real(3))
edge("kl_div batchmean of a number", lambda nn, x, y: nn.kl_div(x, y, reduction="batchmean"), real(), real(low=0.1))
wrong("margin_ranking_loss ranks", lambda nn, x, y: nn.margin_ranking_loss(x, x, y), ROWS, real(7))
wrong("triplet_margin_loss ranks", lambda nn, x, y: nn.triplet_margin_loss(x, y, x), ROWS, real(7))
wrong("cosine_embedding_loss targets", lambda nn, x, y: nn.cosine_embedding_loss(x, x, y), ROWS, fixed([[1]]))
wrong("cosine_embedding_loss ranks", lambda nn, x, y: nn.cosine_embedding_loss(x, x, y), ROWS, fixed(1))

wrong("linear bias size", lambda nn, x, w, b: nn.linear(x, w, b), real(2, 3), real(4, 3), real(5))
IGNORED = fixed([1, 1], np.int64)
edge(
    "cross_entropy label smoothing, all ignored",
    lambda nn, x, t: nn.cross_entropy(x, t, ignore_index=1, label_smoothing=0.1, reduction="sum"),
    real(2, 3),
    IGNORED,
)
for name in ("elu", "selu"):
    edge(f"{name} of NaN", lambda nn, x, name=name: getattr(nn, name)(x), exactly([np.nan, 1.0, -1.0]))

# Targets of another dtype or shape

TARGETS = {
    "floats": fixed([0.0, 1.0]),
    "half floats": fixed([0.0, 1.0], np.float16),
    "complex": fixed([0.0, 1.0j]),
    "bools": fixed([True, False]),
    "int32": fixed([0, 1], np.int32),
    "bytes too many": fixed([0, 1, 1], np.uint8),
    "too many": fixed([0, 1, 2]),
    "none": fixed([], np.int64),
    "one": fixed(1),
    "one float": fixed(1.0),
    "a column": fixed([[0], [1]]),
    "a column of floats": fixed([[0.0], [1.0]]),
    "a row": fixed([[0, 1]]),
    "a matrix": fixed([[0, 1, 0], [1, 0, 0]]),
    "a matrix of floats": fixed([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
    "a cube": fixed(np.zeros((2, 2, 1), np.int64)),
    "a cube of floats": fixed(np.zeros((2, 2, 2))),
}
for name in ("cross_entropy", "nll_loss"):
    for shape in ((3,), (2, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 1, 2, 2)):
        for what, target in TARGETS.items():
            wrong(f"{name} {shape}, {what}", lambda nn, x, t, n=name: getattr(nn, n)(x, t), real(*shape), target)
    wrong(f"{name} a list", lambda nn, x, n=name: getattr(nn, n)(x, [0, 1]), real(2, 3))
    weights = {"weights": fixed([1.0, 2.0]), "float weights": fixed([1.0, 2.0, 3.0], np.float32), "learnt": real(3)}
    for what, weight in weights.items():
        call = lambda nn, x, t, w, n=name: getattr(nn, n)(x, t, weight=w)  # noqa: E731
        wrong(f"{name} {what}", call, real(2, 3), fixed([0, 1]), weight)
        wrong(f"{name} {what} of images", call, real(2, 3, 1, 1), fixed([[[0]], [[1]]]), weight)
    edge(
        f"{name} of one row, one class",
        lambda nn, x, t, n=name: getattr(nn, n)(x, t),
        fixed([0.1, 0.2, 0.3]),
        fixed([1]),
    )
wrong("label smoothing of one row", lambda nn, x, t: nn.cross_entropy(x, t, label_smoothing=0.1), real(3), fixed([1]))
wrong("label smoothing of 2", lambda nn, x, t: nn.cross_entropy(x, t, label_smoothing=2.0), real(2, 3), fixed([0, 1]))
CHANCES = fixed([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
wrong("cross_entropy ignored chances", lambda nn, x, t: nn.cross_entropy(x, t, ignore_index=1), real(2, 3), CHANCES)
wrong("cross_entropy weighted chances", lambda nn, x, t: nn.cross_entropy(x, t, weight=t[0, :2]), real(2, 3), CHANCES)
for name in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
    for what in ("int32", "bools"):
        call = lambda nn, x, t, n=name: getattr(nn, n)(x, t)  # noqa: E731
        wrong(f"{name}, {what}", call, real(2, low=0.1, high=0.9), TARGETS[what])
    wrong(f"{name} of ints", call, fixed([0, 1]), TARGETS["floats"])
    call = lambda nn, x, w, n=name: getattr(nn, n)(x, x.detach(), weight=w)  # noqa: E731
    wrong(f"{name}, learnt weights", call, real(2, low=0.1, high=0.9), real(2))
call = lambda nn, x, w: nn.binary_cross_entropy_with_logits(x, x.detach(), pos_weight=w)  # noqa: E731
wrong("binary_cross_entropy_with_logits, learnt pos_weight", call, real(2), real(2))
FLOATS, SURE = fixed([0.0, 1.0], np.float32), real(2, low=0.1, high=0.9)
wrong("binary_cross_entropy, float beside double", lambda nn, x, t: nn.binary_cross_entropy(x, t), SURE, FLOATS)
wrong("binary_cross_entropy of 2", lambda nn, x, t: nn.binary_cross_entropy(x, t), SURE, fixed([0.0, 2.0]))
wrong("kl_div, complex", lambda nn, x, t: nn.kl_div(x, t), real(2), TARGETS["complex"])
for what in ("floats", "int32", "bools"):
    wrong(f"one_hot {what}", lambda nn, i: nn.one_hot(i), TARGETS[what])
    wrong(f"one_hot {what} of 3", lambda nn, i: nn.one_hot(i, 3), TARGETS[what])
