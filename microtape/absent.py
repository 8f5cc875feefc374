"""What torch has and microtape does not have on purpose: one line each, with what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from microtape.basics.devices import ELSEWHERE

_COMPILER = "operations run as they are called, and nothing is compiled: leave the call out"
_PRECISION = "numbers keep their dtype: leave autocast and the scaler out"
_SPARSE = f"there are no sparse tensors: use dense ones, or {ELSEWHERE}"
_PROCESSES = f"a program is one process: leave it out, or {ELSEWHERE}"
_QUANTIZED = f"there are no quantized tensors; {ELSEWHERE}"

_UNEXPLAINED = (
    "adaptive_avg_pool1d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
    "affine_grid alpha_dropout as_strided avg_pool3d channel_shuffle conv3d conv_tbc conv_transpose3d ctc_loss "
    "dirac_ dropout1d dropout2d dropout3d eig eigvals embedding_bag feature_alpha_dropout fft fractional_max_pool2d "
    "fractional_max_pool3d gaussian_nll_loss grid_sample grouped_mm gumbel_softmax instance_norm interpolate "
    "linear_cross_entropy linearize local_response_norm lp_pool1d lp_pool2d lp_pool3d matrix_exp max_pool3d "
    "max_unpool1d max_unpool2d max_unpool3d multi_head_attention_forward multi_margin_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss onnx parametrizations pdist pixel_shuffle pixel_unshuffle poisson poisson_nll_loss "
    "prune resize_ rrelu scaled_grouped_mm scaled_mm soft_margin_loss sparse_ stft swa_utils tensorboard "
    "triplet_margin_with_distance_loss upsample upsample_bilinear upsample_nearest"
)

_REASONS = dict.fromkeys(_UNEXPLAINED.split(), f"it is not here; {ELSEWHERE}") | {
    "amp": _PRECISION,
    "autocast": _PRECISION,
    "bfloat16": f"numpy has no such numbers: use float32, or {ELSEWHERE}",
    "compile": _COMPILER,
    "distributed": _PROCESSES,
    "distributions": f"draw with normal, rand and multinomial, and write the density out, or {ELSEWHERE}",
    "jit": _COMPILER,
    "multiprocessing": _PROCESSES,
    "profiler": f"Python's own profiler sees all that happens here, or {ELSEWHERE}",
    "quantization": _QUANTIZED,
    "quantize_per_tensor": _QUANTIZED,
    "sparse": _SPARSE,
    "sparse_coo_tensor": _SPARSE,
    "sparse_csr_tensor": _SPARSE,
    "to_sparse": _SPARSE,
    "vision": f"there are no images, models and transforms of torchvision here; {ELSEWHERE}",
}


def why(name: str) -> str:
    """What to add to an AttributeError about this name; "" if it is none of torch's that is left out on purpose."""
    return f": {_REASONS[name]}" if name in _REASONS else ""


def lacking(module: str) -> Callable[[str], NoReturn]:
    """A module's `__getattr__`: raises AttributeError, with advice for names of torch's and for all classes."""

    def refuse(name: str) -> NoReturn:
        reason = why(name) or f": it is not here; {ELSEWHERE}" * name[:1].isupper()
        raise AttributeError(f"module '{module}' has no attribute '{name}'{reason}")

    return refuse


class Absent:
    """An attribute of a class that is left out on purpose: asking for it raises AttributeError with what to do."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'{why(self._name)}")
