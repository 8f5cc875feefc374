"""What torch has and microtape does not have on purpose: one line each, with what to do instead.

Note [Imports of what is absent]
  Asking a module for a name, `microtape.nn.Transformer`, calls the module's `__getattr__`, whose error is the user's.
  `from microtape.nn import Transformer` ends in an error of Python's own instead, but before that Python looks for a
  module of that name, as `import microtape.distributions` does: it asks the finders in `sys.meta_path`, and what one of
  them raises is the user's error. It asks only about names in packages, which are modules with a `__path__`; in an
  empty one, no file is found.
"""

from __future__ import annotations

import sys
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
    "affine_grid alpha_dropout ao as_strided attention avg_pool3d channel_shuffle cholesky_ex compiler conv3d "
    "conv_tbc conv_transpose3d ctc_loss datapipes dirac_ dropout1d dropout2d dropout3d eig eigvals embedding_bag "
    "export feature_alpha_dropout fft fractional_max_pool2d fractional_max_pool3d functionalize fuse_conv_bn_eval "
    "fx gaussian_nll_loss grid_sample grouped_mm gumbel_softmax householder_product hub instance_norm interpolate "
    "intrinsic inv_ex linear_cross_entropy linearize local_response_norm lp_pool1d lp_pool2d lp_pool3d lu "
    "lu_factor lu_solve masked matrix_exp max_pool3d max_unpool1d max_unpool2d max_unpool3d modules mps "
    "multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nested "
    "onnx overrides pack_padded_sequence pack_sequence package pad_packed_sequence pad_sequence parallel "
    "parametrizations parametrize pdist pixel_shuffle pixel_unshuffle poisson poisson_nll_loss prune qat "
    "quantizable quantized remove_spectral_norm remove_weight_norm resize_ rnn rrelu scaled_grouped_mm scaled_mm "
    "skip_init soft_margin_loss solve_triangular sparse_ special spectral_norm stateless stft swa_utils "
    "tensorboard tensorinv tensorsolve testing triplet_margin_with_distance_loss unpack_sequence unpad_sequence "
    "upsample upsample_bilinear upsample_nearest vecdot weight_norm xpu"
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
    advise_imports(module)

    def refuse(name: str) -> NoReturn:
        raise AttributeError(f"module '{module}' has no attribute '{name}'{_advice(name)}")

    return refuse


def _advice(name: str) -> str:
    """What to add to an error about a name in a module; "" for a slip of the pen."""
    return why(name) or f": it is not here; {ELSEWHERE}" * name[:1].isupper()


def advise_imports(module: str) -> None:
    """Let imports from this module fail with advice, too; see Note [Imports of what is absent]."""
    vars(sys.modules[module]).setdefault("__path__", [])
    _advising.add(module)


_advising: set[str] = set()


class _Finder:
    """Finds nothing. The last that Python asks: what it is asked about is not there."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError about a name that there is advice for.

        NB: the error's `name` is not set. If it were, Python would put its own error in the place of this one.
        """
        module, _, name = fullname.rpartition(".")
        if module in _advising and (reason := _advice(name)) and not hasattr(sys.modules[module], name):
            raise ModuleNotFoundError(f"cannot import '{name}' from '{module}'{reason}")


sys.meta_path.append(_Finder)


class Absent:
    """An attribute of a class that is left out on purpose: asking for it raises AttributeError with what to do."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'{why(self._name)}")
