"""Copies of tensors by `pickle`, `copy.copy` and `copy.deepcopy`: what they keep, and what they share.

As in torch, pickling and `copy.copy` give a leaf without `.grad` and hooks, and `copy.copy` shares the memory. NB: a
pickled view holds its own elements; torch's holds the whole memory of its base.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.tape.inference import mark_if_inference
from microtape.tape.node import NO_EDGE
from microtape.tape.tensor_state import (
    Array,
    TensorState,
    ensure_version,
    history_of,
    memory_owner,
    new_tensor,
    requires_grad,
)

_T = TypeVar("_T", bound=TensorState)


def reduced(tensor: TensorState) -> tuple[Any, ...]:
    """What `__reduce_ex__` returns. Warns of each hook, as it is not copied."""
    for hook in _tensor_hooks(tensor):
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @microtape.utils.hooks.unserializable_hook to suppress this warning",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
    return _leaf, (type(tensor), tensor.array, requires_grad(tensor)), tensor.__dict__ or None


def _tensor_hooks(tensor: TensorState) -> list[Any]:
    """The hooks that `register_hook` has put on the tensor."""
    node, output_nr = history_of(tensor)
    hooks = node.hooks if node is not None else tensor.meta.hooks if tensor.meta is not None else None
    return list(hooks.tensor.get(output_nr, {}).values()) if hooks is not None else []


def _leaf(like: type[_T], array: Array, requires_grad: bool) -> _T:
    """A leaf of the class `like` around `array`. Pickles refer to this function by its name."""
    return mark_if_inference(new_tensor(like, array, None if requires_grad else NO_EDGE))


def shared_leaf(cls: type[_T], tensor: TensorState, requires_grad: bool) -> _T:
    """A leaf of the class `cls` with the memory of `tensor` and its version counter."""
    leaf = object.__new__(cls)
    leaf.array, leaf.meta, leaf.version = tensor.array, None, ensure_version(tensor)
    leaf.edge = None if requires_grad else NO_EDGE
    return leaf


def deep_copied(array: Array, memo: dict[int, Any]) -> Array:
    """A copy of `array` with the same strides. Arrays that share memory have copies that share memory."""
    memory = memory_owner(array)
    if memory.flags.c_contiguous or memory.flags.f_contiguous:
        if id(memory) not in memo:
            memo[id(memory)] = memory.copy(order="K")
        copied = memo[id(memory)]
        offset = array.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        buffer = copied if copied.flags.c_contiguous else copied.T
        return np.ndarray(array.shape, array.dtype, buffer, offset, array.strides)
    return array.copy(order="K")
