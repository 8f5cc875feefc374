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

import importlib
import math
import types
import typing

from microtape.absent import lacking as _lacking
from microtape.basics.collector import paused as _collector_paused

with _collector_paused():  # all of it stays: looking through it meanwhile takes a fifth of the time
    from microtape.basics.devices import *
    from microtape.basics.dtypes import *
    from microtape.basics.settings import *
    from microtape.ops.elementwise.activation import *
    from microtape.ops.elementwise.arithmetic import *
    from microtape.ops.elementwise.combination import *
    from microtape.ops.elementwise.comparison import *
    from microtape.ops.elementwise.complex_numbers import *
    from microtape.ops.elementwise.division import *
    from microtape.ops.elementwise.exponential import *
    from microtape.ops.elementwise.floats import *
    from microtape.ops.elementwise.gaussian import *
    from microtape.ops.elementwise.mask import *
    from microtape.ops.elementwise.piecewise import *
    from microtape.ops.elementwise.random_numbers import *
    from microtape.ops.elementwise.rounding import *
    from microtape.ops.elementwise.selection import *
    from microtape.ops.elementwise.special import *
    from microtape.ops.elementwise.trigonometric import *
    from microtape.ops.indexing.assembling import *
    from microtape.ops.indexing.diagonals import *
    from microtape.ops.indexing.gathering import *
    from microtape.ops.indexing.index import *
    from microtape.ops.indexing.index_along import *
    from microtape.ops.indexing.reducing import *
    from microtape.ops.indexing.repeating import *
    from microtape.ops.indexing.windows import *
    from microtape.ops.linear.decomposition import *
    from microtape.ops.linear.einsum import *
    from microtape.ops.linear.factors import *
    from microtape.ops.linear.inverses import *
    from microtape.ops.linear.linalg import *
    from microtape.ops.linear.product import *
    from microtape.ops.linear.vectors import *
    from microtape.ops.network.distance import *
    from microtape.ops.ordering.counting import *
    from microtape.ops.ordering.cumulative_extremum import *
    from microtape.ops.ordering.extremum import *
    from microtape.ops.ordering.quantiles import *
    from microtape.ops.ordering.searching import *
    from microtape.ops.reduction.cumulative import *
    from microtape.ops.reduction.differences import *
    from microtape.ops.reduction.softmax import *
    from microtape.ops.reduction.statistics import *
    from microtape.ops.reduction.sums_and_extrema import *
    from microtape.ops.shape.casting import *
    from microtape.ops.shape.flipping import *
    from microtape.ops.shape.joining import *
    from microtape.ops.shape.reshaping import *
    from microtape.ops.shape.subviews import *
    from microtape.ops.shape.transposition import *
    from microtape.ops.shared.tensor_arguments import naming_tensors as _naming_tensors
    from microtape.random import *
    from microtape.tape.grad_mode import *
    from microtape.tape.inference import *
    from microtape.tensors.attributes import *
    from microtape.tensors.dtype import *
    from microtape.tensors.factories import *
    from microtape.tensors.inquiry import *
    from microtape.tensors.printing import *
    from microtape.tensors.tensor import *
    from microtape.tensors.typed import *

if typing.TYPE_CHECKING:
    from microtape import _C as _C
    from microtape import accelerator as accelerator
    from microtape import autograd as autograd
    from microtape import backends as backends
    from microtape import cuda as cuda
    from microtape import func as func
    from microtape import linalg as linalg
    from microtape import nn as nn
    from microtape import optim as optim
    from microtape import utils as utils
    from microtape.basics.scope import scope as scope
    from microtape.recording.engines import record as record
    from microtape.recording.file.saving import load as load
    from microtape.recording.file.saving import save as save
    from microtape.transforms.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
    from microtape.transforms.anomaly import is_anomaly_enabled as is_anomaly_enabled
    from microtape.transforms.anomaly import set_anomaly_enabled as set_anomaly_enabled
    from microtape.transforms.vmap import vmap as vmap

__version__ = "0.1.0"
pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None

_refuse = _lacking(__name__)
_NAMESPACES = {"_C", "accelerator", "autograd", "backends", "cuda", "func", "linalg", "nn", "optim", "utils"}
_LATER = {
    "is_anomaly_check_nan_enabled": "transforms.anomaly",
    "is_anomaly_enabled": "transforms.anomaly",
    "load": "recording.file.saving",
    "record": "recording.engines",
    "save": "recording.file.saving",
    "scope": "basics.scope",
    "set_anomaly_enabled": "transforms.anomaly",
    "vmap": "transforms.vmap",
}

_FUNCTIONAL = {  # functions of nn.functional that torch has at the top, too, with the same arguments
    "avg_pool1d",
    "bilinear",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cosine_similarity",
    "dropout",
    "group_norm",
    "layer_norm",
    "max_pool1d",
    "max_pool2d",
    "pairwise_distance",
    "rms_norm",
}

# For `from microtape import *`. Type checkers read the public names off the imports above: each file lists its own.
globals()["__all__"] = sorted(
    {name for name, value in globals().items() if name[0] != "_" and not isinstance(value, types.ModuleType)}
    | _NAMESPACES
    | _LATER.keys()
)
for _name in globals()["__all__"]:
    if _name in globals():
        globals()[_name] = _naming_tensors(globals()[_name])


def __getattr__(name: str) -> typing.Any:
    """Namespaces, anomaly mode and recording are imported when they are asked for, so that `import` is quick."""
    if name in _NAMESPACES:
        return importlib.import_module(f"microtape.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"microtape.{_LATER[name]}"), name)
    if name in _FUNCTIONAL:
        return getattr(importlib.import_module("microtape.nn.functional"), name)
    return _refuse(name)


def __dir__() -> list[str]:
    """Everything, whether it has been imported yet or not."""
    return sorted(globals().keys() | _NAMESPACES | _LATER.keys())


def load_ipython_extension(shell: typing.Any) -> None:
    """What `%load_ext microtape` calls, with IPython's shell: from then on `%%microtape` records a cell."""
    importlib.import_module("tui.commands.notebook").load(shell)
