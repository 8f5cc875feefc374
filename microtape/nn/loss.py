"""Losses, and distances: the functions of `nn.functional` with their options. Each formula stands at the function."""

from __future__ import annotations

from typing import Any, ClassVar

from microtape.nn import functional
from microtape.nn.function_module import FunctionModule
from microtape.ops.shared.spellings import old_reduction

_OLD = {"size_average": None, "reduce": None}  # what `reduction` was called before 2018
_REDUCTION = {**_OLD, "reduction": "mean"}
_WEIGHTED = {"weight": None, **_REDUCTION}
_CLASSES = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean"}


class _Loss(FunctionModule):
    """Common: `reduction` is "mean", "sum" or "none"; a weight is a buffer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        size_average, reduce = self.__dict__.pop("size_average", None), self.__dict__.pop("reduce", None)
        if (reduction := old_reduction(size_average, reduce)) is not None:
            self.reduction = reduction

    def _set_option(self, name: str, value: Any) -> None:
        if name.endswith("weight"):
            self.register_buffer(name, value)
        else:
            super()._set_option(name, value)

    def given(self) -> dict[str, Any]:
        """The options that the function gets."""
        return {name: getattr(self, name) for name in self.options if name not in _OLD}


class L1Loss(_Loss):
    """|input - target|."""

    function, options = functional.l1_loss, _REDUCTION


class MSELoss(_Loss):
    """(input - target)²."""

    function, options = functional.mse_loss, _REDUCTION


class SmoothL1Loss(_Loss):
    """(input - target)² / (2 · beta) below `beta`, else |input - target| - beta / 2."""

    function, options = functional.smooth_l1_loss, {**_REDUCTION, "beta": 1.0}


class HuberLoss(_Loss):
    """(input - target)² / 2 below `delta`, else delta · (|input - target| - delta / 2)."""

    function, options = functional.huber_loss, {"reduction": "mean", "delta": 1.0}


class KLDivLoss(_Loss):
    """target · (log target - input): how far the distribution exp(input) is from `target`."""

    function, options = functional.kl_div, {**_REDUCTION, "log_target": False}


class BCELoss(_Loss):
    """-target · log(input) - (1 - target) · log(1 - input), for probabilities."""

    function, options = functional.binary_cross_entropy, _WEIGHTED


class BCEWithLogitsLoss(_Loss):
    """BCELoss of σ(input), computed without overflow; `pos_weight` is the weight of the class 1."""

    function, options = functional.binary_cross_entropy_with_logits, {**_WEIGHTED, "pos_weight": None}


class NLLLoss(_Loss):
    """-input[target]: the negative log-likelihood of class numbers, (N, C) and (N,)."""

    function, options = functional.nll_loss, _CLASSES


class CrossEntropyLoss(_Loss):
    """NLLLoss of log_softmax(input): (N, C) scores, and class numbers (N,) or probabilities (N, C)."""

    function, options = functional.cross_entropy, {**_CLASSES, "label_smoothing": 0.0}


class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(0, margin - input) where it is -1."""

    function, options = functional.hinge_embedding_loss, {"margin": 1.0, **_REDUCTION}


class CosineEmbeddingLoss(_Loss):
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1."""

    function, options = functional.cosine_embedding_loss, {"margin": 0.0, **_REDUCTION}


class MarginRankingLoss(_Loss):
    """max(0, -target · (input1 - input2) + margin)."""

    function, options = functional.margin_ranking_loss, {"margin": 0.0, **_REDUCTION}


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with d the p-distance of rows."""

    function = functional.triplet_margin_loss
    options: ClassVar = {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **_REDUCTION}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")


class PairwiseDistance(FunctionModule):
    """The p-norm of x1 - x2 + eps, for each pair of rows."""

    function, options = functional.pairwise_distance, {"p": 2.0, "eps": 1e-6, "keepdim": False}


class CosineSimilarity(FunctionModule):
    """The cosine of the angle between vectors along `dim`."""

    function, options = functional.cosine_similarity, {"dim": 1, "eps": 1e-8}
