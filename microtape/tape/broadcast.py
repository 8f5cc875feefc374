"""Undoing broadcasting: where forward repeated an element, backward sums the gradients of its copies."""

from __future__ import annotations

from typing import Any

from microtape.basics.summing import total
from microtape.tape.tensor_state import TensorState


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """`g`, an array or Tensor of a shape that `shape` broadcasts to, summed to `shape`."""
    lead = len(g.shape) - len(shape)
    dims = tuple(range(lead))
    if g.shape[lead:] != shape:
        dims += tuple([i + lead for i, size in enumerate(shape) if size == 1 and g.shape[i + lead] != 1])
    if not isinstance(g, TensorState):
        summed: Any = total(g, dims)
        return summed if summed.shape == shape else summed.reshape(shape)
    summed = g.sum(dims, True) if dims else g  # type: ignore[attr-defined]
    return summed.reshape(shape) if lead else summed
