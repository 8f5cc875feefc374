"""Formulas of torch's nodes: of those that microtape has none for, and those that the arguments of the call change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from microtape.ops.elementwise.arithmetic import ScaledAdd, ScaledSub
from microtape.ops.network.normalization import STANDARDISED, STANDARDISED_BY_RUNNING
from microtape.recording.model.formula_arguments import (
    reduced,
    with_constants,
    with_key,
    with_positive_weight,
    without_operands,
)

_ATTENTION = (
    "Z = P · V, P = softmax(Q · Kᵀ / √d + mask)    ∂V = Pᵀ · G,  with S = P · (G · Vᵀ - Σ G · Z) / √d:  ∂Q = S · K,  "
    "∂K = Sᵀ · Q"
)
_DROPOUT = "z = x · m / (1 - p), m 0 or 1 at random    ∂x = g · m / (1 - p)"
_ENLARGED = "z = x on a finer grid    ∂x = g added up by the same weights"
_CELLS = "z = the cells, one after the other    ∂x = from the last cell back to the first"
_NORM = "z = (Σ |x|ᵖ)^(1/p)    ∂z/∂x = x · |x|ᵖ⁻² / zᵖ⁻¹,  0 where z = 0"
_PARTS = "z₀, z₁, … = consecutive parts of x    ∂x = g₀, g₁, … concatenated"
_PICKED = "z = x[indices]    ∂x = g added up at the indices"

_ATTENTIONS = [
    f"ScaledDotProduct{kernel}Backward0"
    for kernel in (
        "FlashAttention", "EfficientAttention", "CudnnAttention", "FlashAttentionForCpu", "FusedAttentionOverrideable",
    )
]  # fmt: skip

FORMULAS = {
    **dict.fromkeys(_ATTENTIONS, _ATTENTION),
    "NativeDropoutBackward0": _DROPOUT,
    "FusedDropoutBackward0": _DROPOUT,
    "SafeSoftmaxBackward0": "z = eˣ / Σ eˣ, 0 where all x are -∞    ∂x = z · (g - Σ g · z)",
    "EmbeddingBagBackward0": "z = the rows of x at the indices, reduced in each bag    ∂x = g added up at the indices",
    **{f"UpsampleNearest{n}DBackward0": _ENLARGED for n in (1, 2, 3)},
    **{f"Upsample{kind}Backward0": _ENLARGED for kind in ("Linear1D", "Bilinear2D", "Bicubic2D", "Trilinear3D")},
    "PixelShuffleBackward0": "z = x, channels moved into space    ∂x = g, moved back",
    "PixelUnshuffleBackward0": "z = x, space moved into channels    ∂x = g, moved back",
    "MkldnnRnnLayerBackward0": _CELLS,
    "CudnnRnnBackward0": _CELLS,
    "MiopenRnnBackward0": _CELLS,
    "GridSampler2DBackward0": "z = x read between its points, at y    ∂x = g added at those around,  ∂y = g · slope",
    "ChunkBackward0": _PARTS,
    "RreluWithNoiseBackward0": "z = r · x, r = 1 where x > 0, else random    ∂x = g · r",
    "CtcLossBackward0": "z = -ln of the probability of all alignments with y    ∂x = eˣ - the share of each class, · g",
    "WeightNormInterfaceBackward0": "z = y · x / |x|    ∂x = y · (g - x · Σ g · x / |x|²) / |x|,  ∂y = Σ g · x / |x|",
    "FusedRmsNormBackward0": "z = x / r · w, r = √(mean x² + ε)    ∂x = (ĝ - x · mean(ĝ · x) / r²) / r, ĝ = g · w,  "
    "∂w = Σ g · x / r",
    "LinearBackward0": "Z = X · Wᵀ + b    ∂X = G · W,  ∂W = Gᵀ · X,  ∂b = Σ G",
    "MkldnnLinearBackward0": "Z = X · Wᵀ + b    ∂X = G · W,  ∂W = Gᵀ · X,  ∂b = Σ G",
    "SoftMarginLossBackward0": "z = mean ln(1 + e^(-x · y))    ∂x = -y / (1 + e^(x · y)) · g / N",
    "AdaptiveMaxPool2DBackward0": "z = the largest of each window    ∂x = g where it stood, 0 elsewhere",
    "MaxPool3DWithIndicesBackward0": "z = the largest of each window    ∂x = g where it stood, 0 elsewhere",
    "AvgPool3DBackward0": "z = the mean of each window    ∂x = g / N, added up over the windows",
    "AdaptiveAvgPool3DBackward0": "z = the mean of each window    ∂x = g / N, added up over the windows",
    "UnsafeIndexBackward0": _PICKED,
    "TakeBackward0": _PICKED,
    "VdotBackward0": "z = Σ conj x · y    ∂x = y · conj g,  ∂y = g · x",
    **{f"NormBackward{n}": _NORM for n in range(4)},
    "DistBackward0": "z = (Σ |d|ᵖ)^(1/p), d = x - y    ∂x = g · d · |d|ᵖ⁻² / zᵖ⁻¹,  ∂y = -∂x",
}
"""By torch's name of a node; those of microtape's own operations are in their classes."""


def formula_of(node: Any, usual: str) -> str:
    """The formula of this node of torch's, given the usual one of nodes of its type.

    Reads only arguments of the call: to read a saved tensor might run a hook of the program's.
    """
    adapt = ADAPTED.get(type(node).__name__)
    return usual if adapt is None else adapt(node, usual)


def _reduced(node: Any, usual: str) -> str:
    """A loss with `reduction="none"` or `"sum"` instead of the mean, and with the weights that it was given."""
    if _is_given(node, "pos_weight"):
        usual = with_positive_weight(usual)
    usual = reduced(usual, ("none", "mean", "sum")[node._saved_reduction])
    return usual if _is_given(node, "weight") else without_operands(usual, ("weight",))


def _is_given(node: Any, name: str) -> bool:
    """Whether a call was given an optional tensor, which is only looked at, so that no hook runs.

    Before torch 2.10 that cannot be looked at: it counts as absent.
    """
    return getattr(getattr(node, f"_raw_saved_{name}", None), "data", None) is not None


def _norm(node: Any, usual: str) -> str:
    return without_operands(usual, _absent(node))


def _absent(node: Any) -> tuple[str, ...]:
    """The parameters that a norm was not given."""
    _, (weight, _), (bias, _), *_ = node.next_functions
    if weight is not None or _is_given(node, "weight"):
        return ()
    return ("weight",) if bias is not None else ("weight", "bias")


def _batch_norm(node: Any, usual: str) -> str:
    return _norm(node, STANDARDISED if node._saved_training else STANDARDISED_BY_RUNNING)


def _convolution(node: Any, usual: str) -> str:
    if node._saved_transposed:
        usual = "z = x spread by w, + b    ∂x = g ∗ w,  ∂w = Σ g · x where they met,  ∂b = Σ g"
    return usual if any(node._saved_bias_sym_sizes_opt or ()) else without_operands(usual, ("bias",))


def _scaled(node: Any, usual: str) -> str:
    """`torch.add(x, y, alpha=2)`."""
    alpha = getattr(node, "_saved_alpha", 1)
    if alpha == 1:
        return usual
    return with_constants((ScaledSub if "x - y" in usual else ScaledAdd).formula, [("α", alpha)])


def _clamped(_node: Any, usual: str) -> str:
    """From torch 2.14 on, the bounds themselves get no gradient."""
    return usual.replace("≤", "<").replace("≥", ">") if bool(torch.__version__ >= "2.14") else usual


def _row(node: Any, usual: str) -> str:
    index = signed(node._saved_index)
    return with_key(usual, signed(node._saved_dim), index) if isinstance(index, int) else usual  # or it is symbolic


def _rows(node: Any, usual: str) -> str:
    start, end, step = signed((node._saved_start, node._saved_end, node._saved_step))
    part = slice(start, None if end == sys.maxsize else end, step)
    is_known = all(one is None or isinstance(one, int) for one in (start, end, step))
    return with_key(usual, signed(node._saved_dim), part) if is_known else usual


def signed(value: Any) -> Any:
    """A dimension, index or tuple of them: torch shows -1 as 2⁶⁴ - 1."""
    if isinstance(value, int):
        return value - 2**64 if value >= 2**63 else value
    return tuple(map(signed, value)) if isinstance(value, list | tuple) else value


def _distances(node: Any, _usual: str) -> str:
    """Of each row from each row: microtape has an operation on all differences instead."""
    rule = "gᵢⱼ · d · |d|ᵖ⁻² / zᵖ⁻¹"
    formula = f"zᵢⱼ = (Σ |d|ᵖ)^(1/p), d = xᵢ - yⱼ    ∂xᵢ = Σⱼ {rule},  ∂yⱼ = -Σᵢ {rule}"
    return with_constants(formula, [("p", node._saved_p)])


def _attention(node: Any, usual: str) -> str:
    """Attention with the mask of this call, or without one. Before torch 2.10 it is not known whether there is one."""
    if node._saved_is_causal:
        return usual.replace(" + mask", " + causal mask")
    masks = [getattr(node, raw) for raw in ("_raw_saved_attn_mask", "_raw_saved_attn_bias") if hasattr(node, raw)]
    return usual if any(getattr(one, "data", one) is not None for one in masks) else usual.replace(" + mask", "")


def _gelu(node: Any, usual: str) -> str:
    if node._saved_approximate == "none":
        return usual
    return (
        "z = x · (1 + t) / 2, t = tanh(√(2/π) · (x + 0.0447 · x³))    ∂x = g · ((1 + t) / 2 + x · (1 - t²) · √(2/π) · "
        "(1 + 0.134 · x²) / 2)"
    )


ADAPTED: dict[str, Callable[[Any, str], str]] = {
    **dict.fromkeys(
        (
            "MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0", "BinaryCrossEntropyBackward0",
            "BinaryCrossEntropyWithLogitsBackward0", "NllLossBackward0", "NllLoss2DBackward0",
            "SoftMarginLossBackward0",
        ),
        _reduced,
    ),
    "NativeBatchNormBackward0": _batch_norm,
    "NativeLayerNormBackward0": _norm,
    "NativeGroupNormBackward0": _norm,
    "ConvolutionBackward0": _convolution,
    "AddBackward0": _scaled,
    "SubBackward0": _scaled,
    "GeluBackward0": _gelu,
    "CdistBackward0": _distances,
    **dict.fromkeys(("ClampBackward1", "ClampMinBackward0", "ClampMaxBackward0"), _clamped),
    "SelectBackward0": _row,
    "SliceBackward0": _rows,
    **dict.fromkeys(_ATTENTIONS, _attention),
}  # fmt: skip
