"""Which tensors a call of torch has computed with a node, also at the levels of function transforms further out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microtape.recording.pytorch.calls.arguments import tensors_in
from microtape.recording.pytorch.reading.wrapped import is_wrapped, levels_inside
from microtape.recording.pytorch.tensors import grad_fn_of


def is_made_since(sequence_nr: int, tensor: Any) -> bool:
    """Whether a tensor was computed by a node with this sequence number or a later one."""
    grad_fn = grad_fn_of(tensor) if tensor.requires_grad else None
    return grad_fn is not None and bool(grad_fn._sequence_nr() >= sequence_nr)


def made_inside(sequence_nr: int, result: Any, before: Sequence[tuple[Any, int]]) -> list[Any]:
    """What nodes since this number have computed at a level further out, for results of `vmap` without a history.

    Also for operands: such a write counts no version.
    """
    found = [one for one in tensors_in((result, [one for one, _ in before]), {}) if is_wrapped(one)]
    found_inside = {id(one): one for each in found for one in levels_inside(each) if is_made_since(sequence_nr, one)}
    return list(found_inside.values())


def innermost(tensor: Any) -> Any:
    """The tensor with a history that a tensor of `vmap` is around; the tensor itself where there is none."""
    return next((one for one in levels_inside(tensor) if one.requires_grad), tensor)
