"""microtape: PyTorch's autograd on numpy, written to be read and watched.

Read the files in this order: `node`, `tensor_state`, `saved`, `operation`, `ops/`, `engine`, `views`, `in_place`,
`function`, `tensor`, `differentiate`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from microtape import _C, autograd, nn, utils
from microtape.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from microtape.dtypes import (
    bool,
    complex64,
    complex128,
    double,
    float,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    uint8,
)
from microtape.factories import (
    arange,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from microtape.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from microtape.ops.arithmetic import add, clone, div, mul, neg, pow, sub
from microtape.ops.elementwise import (
    abs,
    clamp,
    cos,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    reciprocal,
    relu,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sqrt,
    square,
    tanh,
    where,
)
from microtape.ops.loss import log_softmax, softmax
from microtape.ops.product import bmm, dot, matmul, mm, mv
from microtape.ops.reduction import amax, amin, argmax, logsumexp, max, mean, min, sum
from microtape.ops.shape import cat, flatten, permute, reshape, squeeze, stack, transpose, unsqueeze
from microtape.tensor import Size, Tensor

if TYPE_CHECKING:
    from microtape.recording.file import load, save
    from microtape.recording.recorder import record
    from microtape.recording.scope import scope

__version__ = "0.1.0"

__all__ = [
    "_C",
    "Size",
    "Tensor",
    "abs",
    "add",
    "amax",
    "amin",
    "arange",
    "argmax",
    "autograd",
    "bmm",
    "bool",
    "cat",
    "clamp",
    "clone",
    "complex64",
    "complex128",
    "cos",
    "div",
    "dot",
    "double",
    "enable_grad",
    "exp",
    "expm1",
    "eye",
    "flatten",
    "float",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "full_like",
    "get_default_dtype",
    "half",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "linspace",
    "load",
    "log",
    "log1p",
    "log_softmax",
    "logsumexp",
    "long",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mm",
    "mul",
    "mv",
    "neg",
    "nn",
    "no_grad",
    "ones",
    "ones_like",
    "permute",
    "pow",
    "reciprocal",
    "record",
    "relu",
    "reshape",
    "rsqrt",
    "save",
    "scope",
    "set_anomaly_enabled",
    "set_default_dtype",
    "set_grad_enabled",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "sub",
    "sum",
    "tanh",
    "tensor",
    "transpose",
    "uint8",
    "unsqueeze",
    "utils",
    "where",
    "zeros",
    "zeros_like",
]


_LAZY = {
    "record": "microtape.recording.recorder",
    "load": "microtape.recording.file",
    "save": "microtape.recording.file",
    "scope": "microtape.recording.scope",
}


def __getattr__(name: str) -> Any:
    """Recording is imported when it is first asked for, so that `import microtape` stays quick."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'microtape' has no attribute '{name}'")
