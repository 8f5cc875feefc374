"""microtape: PyTorch's autograd on numpy, written to be read and watched.

The packages in reading order: `basics` (dtypes and call sites), `tape` (what a forward pass leaves), `backward` (the
engine), `functions` (custom operations), `ops` (the built-in operations), `tensors` (the class Tensor, `backward`,
`grad`), `transforms` (gradcheck, Jacobians, checkpoints, forward mode) and `recording` (passes saved to be stepped
through). To understand autograd, read these files first:

 1. `tape/node.py`: the graph that backward walks.
 2. `tape/tensor_state.py`: a tensor's place in that graph.
 3. `tape/operation.py`: how an operation runs and is recorded.
 4. `ops/elementwise/arithmetic.py`: operations and their derivatives.
 5. `tape/saved.py`: what forward keeps for backward, and how in-place writes are noticed.
 6. `backward/engine.py`: the backward pass.
 7. `backward/accumulate.py`: how a leaf gets its `.grad`.
 8. `tape/views.py` and `tape/in_place.py`: views, and writes into the graph.
 9. `functions/function_node.py`: the node and the ctx of a custom Function.
10. `tensors/differentiate.py`: `backward` and `grad`, as users call them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from microtape.basics.devices import device
from microtape.basics.dtypes import (
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
from microtape.ops.elementwise.activation import relu, selu, sigmoid
from microtape.ops.elementwise.arithmetic import add, mul, neg, positive, rsub, sub
from microtape.ops.elementwise.combination import addcdiv, addcmul, lerp
from microtape.ops.elementwise.comparison import (
    all,
    allclose,
    any,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    count_nonzero,
    eq,
    equal,
    ge,
    gt,
    isclose,
    isfinite,
    isinf,
    isnan,
    le,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    ne,
    nonzero,
)
from microtape.ops.elementwise.complex_numbers import (
    angle,
    complex,
    conj,
    imag,
    polar,
    real,
    view_as_complex,
    view_as_real,
)
from microtape.ops.elementwise.division import div, floor_divide, fmod, remainder
from microtape.ops.elementwise.exponential import (
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    pow,
    reciprocal,
    rsqrt,
    sqrt,
    square,
    xlogy,
)
from microtape.ops.elementwise.gaussian import erf, erfc
from microtape.ops.elementwise.mask import masked_fill, masked_scatter, masked_select
from microtape.ops.elementwise.noise import bernoulli, multinomial
from microtape.ops.elementwise.rounding import abs, ceil, floor, frac, round, sgn, sign, trunc
from microtape.ops.elementwise.selection import (
    clamp,
    clamp_max,
    clamp_min,
    heaviside,
    maximum,
    minimum,
    nan_to_num,
    where,
)
from microtape.ops.elementwise.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    hypot,
    sin,
    sinh,
    tan,
    tanh,
)
from microtape.ops.indexing.gathering import gather, scatter, scatter_add, take_along_dim
from microtape.ops.indexing.index import index_put
from microtape.ops.indexing.index_along import index_add, index_copy, index_fill, index_select
from microtape.ops.indexing.rearrange import (
    diag,
    diag_embed,
    diff,
    flip,
    fliplr,
    flipud,
    repeat_interleave,
    roll,
    rot90,
    tile,
    trace,
    tril,
    triu,
)
from microtape.ops.linear.decomposition import norm
from microtape.ops.linear.einsum import einsum, inner, kron, tensordot
from microtape.ops.linear.linalg import det, logdet, matrix_power, slogdet
from microtape.ops.linear.linalg import inv as inverse
from microtape.ops.linear.product import addmm, baddbmm, bmm, dot, matmul, mm, mv, outer
from microtape.ops.network.distance import cdist
from microtape.ops.ordering.counting import bincount, bucketize, histc, isin, unique
from microtape.ops.ordering.extremum import argmax, argmin, argsort, kthvalue, max, median, min, sort, topk
from microtape.ops.ordering.running import cummax, cummin
from microtape.ops.ordering.scan import cumprod, cumsum, prod
from microtape.ops.reduction.reduction import amax, amin, mean, nanmean, nansum, sum
from microtape.ops.reduction.softmax import log_softmax, logsumexp, softmax
from microtape.ops.reduction.statistics import std, std_mean, var, var_mean
from microtape.ops.shape.casting import clone
from microtape.ops.shape.joining import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    cat,
    column_stack,
    dstack,
    hstack,
    meshgrid,
    stack,
    vstack,
)
from microtape.ops.shape.shape import broadcast_tensors, flatten, ravel, reshape, squeeze, unflatten, unsqueeze
from microtape.ops.shape.shape import expand as broadcast_to
from microtape.ops.shape.subviews import chunk, diagonal, hsplit, narrow, select, split, tensor_split, unbind, vsplit
from microtape.ops.shape.transposition import movedim, permute, t, transpose
from microtape.random import Generator, initial_seed, manual_seed, seed
from microtape.tape.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from microtape.tape.inference import inference_mode, is_inference, is_inference_mode_enabled
from microtape.tensors.factories import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    linspace,
    logspace,
    normal,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from microtape.tensors.inquiry import broadcast_shapes, finfo, iinfo, is_complex, is_floating_point, is_tensor, numel
from microtape.tensors.tensor import Size, Tensor

if TYPE_CHECKING:
    from microtape import _C, autograd, cuda, linalg, nn, utils
    from microtape.recording.file.tape_file import load, save
    from microtape.recording.writing.recorder import record
    from microtape.recording.writing.scope import scope
    from microtape.transforms.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled

__version__ = "0.1.0"

# torch has several names for some functions
absolute = abs
arccos = acos
arcsin = asin
arctan = atan
arctan2 = atan2
clip = clamp
concat = cat
divide = div
fix = trunc
ger = outer
greater = gt
greater_equal = ge
less = lt
less_equal = le
moveaxis = movedim
multiply = mul
negative = neg
not_equal = ne
subtract = sub
swapaxes = transpose
swapdims = transpose
true_divide = div

__all__ = [
    "_C",
    "Generator",
    "Size",
    "Tensor",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addcdiv",
    "addcmul",
    "addmm",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "arange",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "argmax",
    "argmin",
    "argsort",
    "as_tensor",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autograd",
    "baddbmm",
    "bernoulli",
    "bincount",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "bool",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cat",
    "cdist",
    "ceil",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "column_stack",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cuda",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "det",
    "device",
    "diag",
    "diag_embed",
    "diagonal",
    "diff",
    "div",
    "divide",
    "dot",
    "double",
    "dstack",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "eye",
    "finfo",
    "fix",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "fmod",
    "frac",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "gather",
    "ge",
    "ger",
    "get_default_dtype",
    "greater",
    "greater_equal",
    "gt",
    "half",
    "heaviside",
    "histc",
    "hsplit",
    "hstack",
    "hypot",
    "iinfo",
    "imag",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "inference_mode",
    "initial_seed",
    "inner",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "inverse",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_tensor",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kron",
    "kthvalue",
    "le",
    "lerp",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logaddexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logspace",
    "logsumexp",
    "long",
    "lt",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_power",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "moveaxis",
    "movedim",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "nan_to_num",
    "nanmean",
    "nansum",
    "narrow",
    "ne",
    "neg",
    "negative",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "ones",
    "ones_like",
    "outer",
    "permute",
    "polar",
    "positive",
    "pow",
    "prod",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "real",
    "reciprocal",
    "record",
    "relu",
    "remainder",
    "repeat_interleave",
    "reshape",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "rsub",
    "save",
    "scatter",
    "scatter_add",
    "scope",
    "seed",
    "select",
    "selu",
    "set_anomaly_enabled",
    "set_default_dtype",
    "set_grad_enabled",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "take_along_dim",
    "tan",
    "tanh",
    "tensor",
    "tensor_split",
    "tensordot",
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "uint8",
    "unbind",
    "unflatten",
    "unique",
    "unsqueeze",
    "utils",
    "var",
    "var_mean",
    "view_as_complex",
    "view_as_real",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "zeros",
    "zeros_like",
]


_NAMESPACES = {"_C", "autograd", "cuda", "linalg", "nn", "utils"}
_LATER = {
    "is_anomaly_check_nan_enabled": "transforms.anomaly",
    "is_anomaly_enabled": "transforms.anomaly",
    "load": "recording.file.tape_file",
    "record": "recording.writing.recorder",
    "save": "recording.file.tape_file",
    "scope": "recording.writing.scope",
    "set_anomaly_enabled": "transforms.anomaly",
}


def __getattr__(name: str) -> Any:
    """Namespaces, anomaly mode and recording are imported when they are asked for, so that `import` is quick."""
    if name in _NAMESPACES:
        return import_module(f"microtape.{name}")
    if name in _LATER:
        return getattr(import_module(f"microtape.{_LATER[name]}"), name)
    hint = ": there are no optimisers here; a step is `with no_grad(): p -= lr * p.grad`" if name == "optim" else ""
    raise AttributeError(f"module 'microtape' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    """Everything, whether it has been imported yet or not."""
    return sorted(globals().keys() | set(__all__))
