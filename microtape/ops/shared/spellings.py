"""Arguments in the other spellings that torch accepts: numpy's names, and `out=`.

Note [Spellings]
  torch takes `axis` for `dim`, `keepdims` for `keepdim`, `x` for `input`, `size_average` for `reduction`. Testing for
  them would take time in every call. Python refuses an unknown keyword before the function runs; only then are the
  keywords looked at, and the call is made once more with those that the function knows.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.basics.dtypes import scalar_name
from microtape.tape.grad_mode import mode, no_grad
from microtape.tape.tensor_state import Array, TensorState, requires_grad

_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def respelled(function: Callable[..., Any], named: dict[str, Any], method: bool) -> dict[str, Any] | None:
    """The keywords in the function's spelling, without `out` unless it is a method; None if it knows them all."""
    known = inspect.signature(function).parameters
    loose = any([one.kind is one.VAR_KEYWORD for one in known.values()])
    unknown = [name for name in named if (name == "out" and not method) or not (name in known or loose)]
    if not unknown:
        return None
    found = {name: value for name, value in named.items() if name not in unknown}
    if "reduction" in known and (old := {"size_average", "reduce"}.intersection(unknown)):
        unknown = [name for name in unknown if name not in old]
        reduction = old_reduction(named.get("size_average"), named.get("reduce"))
        found |= {} if reduction is None else {"reduction": reduction}
    for name in unknown:
        if _NUMPY_NAMES.get(name) in known:
            found[_NUMPY_NAMES[name]] = named[name]
        elif name != "out" or method:
            return None
    return found


def old_reduction(size_average: bool | None, reduce: bool | None) -> str | None:
    """The `reduction` of a loss that is asked for as before 2018, with torch's warning; None if it is not."""
    if size_average is None and reduce is None:
        return None
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=user_stacklevel(),
    )
    return reduction


def write_out(name: str, out: Any, compute: Callable[[], Any], operands: tuple[Any, ...]) -> Any:
    """Write what `compute` returns into `out`, a tensor or a tuple of tensors, and return `out`.

    A tensor of another shape gets the shape of the result. Raises RuntimeError if grad mode is on and a tensor requires
    grad, or if the result's dtype cannot be cast; TypeError if `out` is not a tensor.
    """
    if out is None:
        return compute()
    targets = out if isinstance(out, tuple | list) else (out,)
    for target in targets:
        if not isinstance(target, TensorState):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    if mode.enabled and any([requires_grad(one) for one in _tensors((*operands, *targets))]):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    with no_grad():
        result = compute()
        for target, value in zip(targets, result if isinstance(out, tuple | list) else (result,), strict=True):
            _write(target, value)
    return out


def _tensors(values: Any) -> list[TensorState]:
    """The tensors among the values, and in the sequences among them."""
    found: list[TensorState] = []
    for value in values:
        if isinstance(value, TensorState):
            found.append(value)
        elif isinstance(value, tuple | list):
            found += _tensors(value)
    return found


def _write(target: Any, value: Any) -> None:
    """Write one result into `target`."""
    have, want = target.array.dtype, value.array.dtype
    if not np.can_cast(want, have, "same_kind"):
        raise RuntimeError(
            f"result type {scalar_name(want)} can't be cast to the desired output type {scalar_name(have)}"
        )
    if target.array.shape != value.array.shape:
        if target.array.size:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(target.array.shape)}, which does not match the required output shape "
                f"{list(value.array.shape)}. Pass a tensor of that shape, or an empty one.",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
        target.array = resized(target.array, value.array.shape)
    target.copy_(value)


def resized(array: Array, shape: tuple[int, ...]) -> Array:
    """An array of this shape with the first elements of `array`; zeros follow where it had fewer."""
    result = np.zeros(shape, array.dtype)
    count = min(result.size, array.size)
    result.reshape(-1)[:count] = array.reshape(-1)[:count]
    return result
