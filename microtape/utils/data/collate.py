"""Many rows as one batch: tensors are stacked, numbers become tensors, containers are batched item by item."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import float64
from microtape.ops.shape.joining import stack
from microtape.tensors.factories import as_tensor, tensor
from microtape.tensors.tensor import Tensor

__all__ = ["default_collate", "default_convert"]

_TEXTS = "SaUO"  # numpy's kinds of arrays without numbers


def default_collate(batch: Sequence[Any]) -> Any:
    """The batch of rows of the same kind.

    Tensors and arrays of shape s become a tensor (n, *s), numbers one of shape (n,); floats have float64. Strings
    remain a list. Dicts, named tuples and lists of rows keep their kind, tuples become lists; all are batched within.
    Raises TypeError for other kinds, RuntimeError if rows have different lengths.
    """
    first, kind = batch[0], type(batch[0])
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray):
        if first.dtype.kind in _TEXTS:
            raise _refusal(first.dtype)
        return stack([as_tensor(one) for one in batch])
    if isinstance(first, np.generic):
        return as_tensor(np.stack(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([one[key] for one in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*map(default_collate, zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(one) != len(first) for one in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise _refusal(kind)


def default_convert(data: Any) -> Any:
    """A row that is not batched, with tensors in place of numpy's arrays and scalars."""
    if isinstance(data, np.ndarray | np.generic):
        is_text = data.dtype.kind in _TEXTS
        return data if is_text else as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(one) for key, one in data.items()})
    if isinstance(data, tuple):
        items = [default_convert(one) for one in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like(data, [default_convert(one) for one in data])
    return data


def _like(old: Any, new: Any) -> Any:
    """The dict or list `new` as an object of the kind of `old`, if there can be one."""
    try:
        if not isinstance(old, MutableMapping | MutableSequence):
            return type(old)(new)
        result: Any = copy.copy(old)
        for key, value in new.items() if isinstance(new, dict) else enumerate(new):
            result[key] = value
    except TypeError:
        return new
    return result


def _refusal(kind: Any) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
    )
