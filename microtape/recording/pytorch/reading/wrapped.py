"""Tensors of torch's function transforms: `grad`, `vjp` and `vmap` wrap a tensor once for each of their levels.

A wrapper has no memory. Around a tensor with a gradient there is one tensor with the same elements. `vmap` shows one
example of a tensor that holds them all, and does not say which: such elements cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_functorch: Any = torch._C._functorch
is_wrapped = _functorch.is_functorch_wrapped_tensor
"""Whether a tensor belongs to a transform."""
WithoutTransforms = torch._C._DisableFuncTorch
"""A context in which no transform takes part in what is computed."""


is_one_of_many = _functorch.is_batchedtensor
"""Whether a tensor stands for one of many examples."""


def same_elements(tensor: Any) -> Any:
    """The innermost tensor with the elements of a wrapper, which may still be a wrapper."""
    while _functorch.is_gradtrackingtensor(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


def levels_inside(tensor: Any) -> Iterator[Any]:
    """The tensors that a wrapper is around, one for each level further out. Each has a history of its own."""
    while is_wrapped(tensor):
        tensor = _functorch.get_unwrapped(tensor)
        yield tensor
