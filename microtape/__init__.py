"""microtape: PyTorch's autograd on numpy, written to be read and watched.

Read the files in this order: `node`, `tensor_state`, `saved`, `operation`, `ops/`, `engine`, `views`, `in_place`,
`function`, `tensor`, `differentiate`.
"""

from microtape import autograd, nn
from microtape.dtypes import (
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    uint8,
)
from microtape.dtypes import bool as bool
from microtape.dtypes import float as float
from microtape.dtypes import int as int
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

__version__ = "0.1.0"
