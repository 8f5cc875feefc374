"""What was observed, without that in which a known difference may consist."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.parity.observe import Flags, Value


def without_lost_tangents(theirs: list[Any], ours: list[Any]) -> list[Any]:
    """Our results without the tangents that theirs do not have."""
    found = []
    for (_, of_a), (name, of_b) in zip(theirs, ours, strict=False):
        lost = isinstance(of_a, tuple) and isinstance(of_b, tuple) and of_a[-1] is None
        found.append((name, (*of_b[:-1], None) if lost else of_b))
    return found


def reached_by_both(theirs: list[Any], ours: list[Any]) -> tuple[list[Any], list[Any]]:
    """The results of `grad` without those that are None in one of the two alone."""
    pairs = [(a, b) for a, b in zip(theirs, ours, strict=False) if (a[1] == "NoneType") == (b[1] == "NoneType")]
    return [a for a, _ in pairs], [b for _, b in pairs]


def without_versions(results: list[Any]) -> list[Any]:
    """The same without the versions of tensors."""
    return [(name, (of[0], *of[2:]) if isinstance(of, tuple) else of) for name, of in results]


def without_recomputing(log: list[Any]) -> list[Any]:
    """The log without what checkpointed functions, which are called c1 and so on, have written to it."""
    return [entry for entry in log if not re.fullmatch(r"c\d+", str(entry[0]))]


def with_histories(theirs: list[Any], ours: list[Any]) -> list[Any]:
    """Our results, with their flags for each tensor that requires grad in theirs alone."""
    found = []
    for (_, of_a), (name, of_b) in zip(theirs, ours, strict=False):
        both = all(isinstance(one, tuple) and isinstance(one[0], Value) for one in (of_a, of_b))
        alone = both and of_a[0].requires_grad and not of_b[0].requires_grad
        found.append((name, (of_b[0], *of_a[1:]) if alone else of_b))
    return found


def with_dtypes_of_tangents(theirs: list[Any], ours: list[Any]) -> list[Any]:
    """Our results, with their dtypes of the tangents."""
    found = []
    for (_, of_a), (name, of_b) in zip(theirs, ours, strict=False):
        both = all(isinstance(one, tuple) and isinstance(one[-1], Value) for one in (of_a, of_b))
        found.append((name, (*of_b[:-1], _in_dtype(of_b[-1], of_a[-1])) if both else of_b))
    return found


def _in_dtype(value: Value, like: Value) -> Value:
    return value._replace(array=value.array.astype(like.array.dtype))


def without_values(thing: Any, dims: int | None = None) -> Any:
    """The same, with zeros in the place of all values, or of those of tensors with so many dimensions."""
    if isinstance(thing, Value):
        return thing._replace(array=np.zeros_like(thing.array)) if dims in (None, thing.array.ndim) else thing
    if type(thing) in (tuple, list):
        return type(thing)([without_values(one, dims) for one in thing])
    return thing


def written_by_copies(thing: Any) -> Any:
    """The same, as if what `zero_` and `fill_` wrote had been copied."""
    if isinstance(thing, Flags):
        copied = thing.grad_fn in ("FillBackward2", "ZeroBackward0")
        return thing._replace(grad_fn="torch::autograd::CopyBackwards") if copied else thing
    if isinstance(thing, str):
        return re.sub("of (Fill2|Zero),", "of torch::autograd::CopyBackwards,", thing)
    if type(thing) in (tuple, list):
        return type(thing)(map(written_by_copies, thing))
    return thing


def without_requires_grad(thing: Any) -> Any:
    """The same, as if no tensor required grad; what does not is a leaf."""
    if isinstance(thing, Value):
        return thing._replace(requires_grad=False)
    if type(thing) in (tuple, list):
        is_result = len(thing) == 4 and isinstance(thing[0], Value)
        return [without_requires_grad(one) for i, one in enumerate(thing) if not (is_result and i == 2)]
    return thing


def without_packing(log: list[Any]) -> list[Any]:
    """The log without the hooks of saved tensors."""
    return [entry for entry in log if not str(entry[0]).startswith(("pack", "unpack"))]


def without_zeros(thing: Any) -> Any:
    """The same, with None in the place of gradients of zeros, and of results of `grad` that are zeros."""
    if isinstance(thing, Value):
        return thing if thing.array.any() else None
    if type(thing) in (tuple, list):
        is_result = len(thing) == 4 and (thing[0] is None or isinstance(thing[0], Value))
        return without_zeros(thing[0]) if is_result else [without_zeros(one) for one in thing]
    return None if thing == "NoneType" else thing
