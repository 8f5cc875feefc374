"""Forward-mode AD of a Function: calling its `jvp`, and checking the tangents that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.tape.tangents import check_size, root_of, set_tangent, without_tangents, write_tangent
from microtape.tape.tensor_state import TensorState, is_view, new_tensor, version_number
from microtape.tape.watch import call

AS_IS = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
NOT_A_VIEW = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
NOT_IN_PLACE = (
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying an "
    "input inplace, then the jvp function must modify the gradient inplace and return it as-is."
)
NOT_MODIFIED = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
    "input inplace, then the jvp function must modify the corresponding gradient inplace."
)


def function_tangents(
    node: Any, args: Sequence[Any], tangents: Sequence[Any], raw: Sequence[Any], outputs: Sequence[Any]
) -> None:
    """Call `jvp` with the tangents of the arguments and set the tangents that it returns on the outputs.

    `raw` are the values that forward returned. Raises RuntimeError for a wrong number of tangents or a wrong shape, and
    if forward returned an input or a view of it, or wrote to it, but `jvp` did not do the same with its tangent.
    """
    given = [
        new_tensor(type(one), np.zeros_like(one.array)) if tangent is None and _gets_zeros(node, one) else tangent
        for one, tangent in zip(args, tangents, strict=True)
    ]
    versions = [version_number(one) if one is not None else 0 for one in given]
    node.saved_for_forward = node.saved_for_forward or ()  # not what was saved for backward
    with without_tangents(internal=False):
        returned = call("jvp", node, node.function.jvp, node.ctx, *given)
    returned = returned if isinstance(returned, tuple) else (returned,)
    if len(returned) != len(raw):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {len(raw)} but got {len(returned)})"
        )
    for i, (tangent, result, output) in enumerate(zip(returned, raw, outputs, strict=True)):
        if tangent is not None and not isinstance(tangent, TensorState):
            raise RuntimeError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {i}.")
        if not isinstance(result, TensorState):
            continue
        if not is_differentiable(result.array.dtype) or any(one is result for one in node.non_differentiable):
            if tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not "
                    "a differentiable Tensor.You should return None at that position instead."
                )
            continue
        is_dirty = any(one is result for one in node.dirty)
        if tangent is not None:
            source = _source(args, result, output, is_dirty)
            gives_tangent = source is not None and tangents[source] is None  # to an argument that had none
            if source is not None and not gives_tangent:
                _check_alias(given[source], versions[source], tangent, is_dirty)
            check_size(output, tangent)
            (write_tangent if is_dirty or gives_tangent else set_tangent)(output, tangent)
        elif is_dirty:
            raise RuntimeError(NOT_IN_PLACE)
        else:
            set_tangent(output, None)  # NB: torch fails in an internal check


def _source(args: Sequence[Any], result: TensorState, output: TensorState, is_dirty: bool) -> int | None:
    """The index of the argument that forward wrote to and returned as `result`, or of which `output` is a view."""
    if is_dirty:
        return next((i for i, one in enumerate(args) if one is result), None)
    if not is_view(output):
        return None
    root = root_of(output)
    return next((i for i, one in enumerate(args) if isinstance(one, TensorState) and root_of(one) is root), None)


def _gets_zeros(node: Any, argument: Any) -> bool:
    """Whether `jvp` gets zeros as the tangent of this argument if it has none."""
    return (
        node.materialize_grads and isinstance(argument, TensorState) and bool(is_differentiable(argument.array.dtype))
    )


def _check_alias(given: TensorState, version: int, tangent: TensorState, is_dirty: bool) -> None:
    """Raise RuntimeError if an output shares memory with an input but its tangent not with the input's, `given`.

    `version` is that of the input's tangent before `jvp` ran.
    """
    if is_dirty:
        if version_number(tangent) == version:
            raise RuntimeError(NOT_MODIFIED)
        if tangent is not given:
            raise RuntimeError(NOT_IN_PLACE)
    elif root_of(tangent) is tangent:
        raise RuntimeError(AS_IS)
    elif root_of(tangent) is not root_of(given):
        raise RuntimeError(NOT_A_VIEW)
