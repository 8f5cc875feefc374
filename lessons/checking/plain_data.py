"""The results of a learner's code as plain data, which can be sent, compared and put into words.

A *plain* value has JSON's types: None, bool, int, float, str and lists of them. For anything else it is a dict that
names the type: `{"array": [[1.0, 2.0]], "shape": [1, 2]}`, `{"tensor": ...}` in the same way, also for a parameter,
`{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, and `{"object": "Number"}` for all other types, of which only the
name is kept. A list and a tuple with the same items count as equal, though they are shown differently.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from microtape import Tensor
from microtape.nn import Parameter
from microtape.recording.model.formatting import format_number, format_shape

Plain: TypeAlias = Any

DEEPEST = 8  # lists inside lists
MOST = 10_000  # entries of one list or array
RELATIVE, ABSOLUTE = 1e-4, 1e-6  # tolerances for equal numbers: float32 after a few operations
SHORT = 50  # characters up to which a list is shown as a whole
LISTED = 12  # elements up to which an array is shown as a whole
NOTHING: Plain = {"nothing": []}  # where one of two dicts has no such key


class Difference(NamedTuple):
    """The first difference between two values: its place, and both sides. `path` is empty for the whole value."""

    path: str
    did: str
    expected: str


def plain(value: Any, depth: int = 0) -> Plain:
    """Any Python value as plain data. It never fails, because it calls no method of the learner's own classes."""
    kind = type(value)
    if value is None or kind in (bool, str) or (kind is int and value.bit_length() < 1000):
        return value if kind is not str else value[:MOST]
    if kind is float:
        return value
    if isinstance(value, np.generic) and kind.__module__ == "numpy" and value.dtype.kind in "biuf":
        return value.item()
    if kind is Tensor or kind is Parameter:
        return {"tensor": _elements(value.array), "shape": list(value.array.shape)}
    if _is_torchs_tensor(kind):
        return _torch_tensor(value)
    if kind is np.ndarray:
        return {"array": _elements(value), "shape": list(value.shape)}
    sequence = tuple if issubclass(kind, tuple) else list if issubclass(kind, list) else None
    if sequence is not None and depth < DEEPEST and sequence.__len__(value) <= MOST:
        items = [plain(item, depth + 1) for item in sequence.__iter__(value)]
        return {"tuple": items} if sequence is tuple else items
    if issubclass(kind, dict) and depth < DEEPEST and dict.__len__(value) <= MOST:
        return {"dict": [[plain(key, depth + 1), plain(item, depth + 1)] for key, item in dict.items(value)]}
    return {"object": kind.__name__}


def _is_torchs_tensor(kind: type) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and kind in (torch.Tensor, torch.nn.Parameter)


def _torch_tensor(value: Any) -> Plain:
    """PyTorch's tensor. One that numpy has no type for is named like any other object."""
    try:
        array = value.detach().numpy()
    except (TypeError, RuntimeError):
        return {"object": "Tensor"}
    return {"tensor": _elements(array), "shape": list(array.shape)}


def _elements(array: np.ndarray[Any, Any]) -> Plain:
    if array.dtype.kind not in "biuf" or array.size > MOST:
        return {"object": f"{array.size} elements of type {array.dtype}"}
    return array.tolist()


def difference(did: Plain, expected: Plain, path: str = "") -> Difference | None:
    """The first place where two plain values differ, None if they are equal. Nearly equal numbers count as equal."""
    parts = _parts(did, expected, path)
    if parts is None:
        return None if _equal(did, expected) else Difference(path, words(did), words(expected))
    first = next((found for part in parts if (found := difference(*part)) is not None), None)
    if first is not None and _is_short(did) and _is_short(expected):
        return Difference(path, words(did), words(expected))
    return first


def words(value: Plain) -> str:
    """A plain value as a person would write it."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return format_number(value, 6)
    if isinstance(value, list):
        return f"[{', '.join(words(item) for item in value)}]"
    if not isinstance(value, dict):
        return repr(value)
    if "tuple" in value:
        items = [words(item) for item in value["tuple"]]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if value == NOTHING:
        return "nothing"
    if "object" in value:
        return f"a {value['object']}"
    if "dict" in value:
        return f"{{{', '.join(f'{words(key)}: {words(item)}' for key, item in value['dict'])}}}"
    kind = "tensor" if "tensor" in value else "array"
    shape = f" of shape {format_shape(tuple(value['shape']))}" if len(value["shape"]) != 1 and value["shape"] else ""
    elements = value[kind]
    if isinstance(elements, dict):  # not numbers, or too many
        return f"{kind}{shape} of {elements['object']}"
    return f"{kind}{shape} {words(elements)}"


def _parts(did: Plain, expected: Plain, path: str) -> Iterator[tuple[Plain, Plain, str]] | None:
    """The parts of two values of the same structure in pairs, with their places; None if they have no parts to pair."""
    first, second = _items(did), _items(expected)
    if first is not None and second is not None and len(first) == len(second):
        return ((*pair, _at(path, i)) for i, pair in enumerate(zip(first, second, strict=True)))
    one, other = _table(did), _table(expected)
    if one is not None and other is not None:
        keys = dict.fromkeys([*other, *one])
        return ((one.get(key, NOTHING), other.get(key, NOTHING), _inside(path, key)) for key in keys)
    kind = _kind(expected)
    if kind in ("array", "tensor") and _kind(did) == kind and did["shape"] == expected["shape"]:
        return _elementwise(did[kind], expected[kind], expected["shape"], path)
    return None


def _items(value: Plain) -> list[Plain] | None:
    """The items of a list or tuple, None for anything else."""
    items = value.get("tuple") if isinstance(value, dict) else value
    return items if isinstance(items, list) else None


def _table(value: Plain) -> dict[str, Plain] | None:
    """A dict, with its keys in words; None for anything else."""
    if not isinstance(value, dict) or "dict" not in value:
        return None
    return {words(key): item for key, item in value["dict"]}


def _elementwise(did: Plain, expected: Plain, shape: list[int], path: str) -> Iterator[tuple[Plain, Plain, str]]:
    if isinstance(did, dict) or isinstance(expected, dict):  # elements that are not numbers, or too many
        yield did, expected, path
        return
    for index in itertools.product(*map(range, shape)):
        pair = did, expected
        for i in index:
            pair = pair[0][i], pair[1][i]
        yield *pair, _at(path, ", ".join(map(str, index))) if index else path


def _equal(did: Plain, expected: Plain) -> bool:
    if not (_is_number(did) and _is_number(expected)):
        same: bool = type(did) is type(expected) and did == expected
        return same
    if math.isnan(did) or math.isnan(expected):
        return math.isnan(did) and math.isnan(expected)
    return math.isclose(did, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _is_short(value: Plain) -> bool:
    """Whether a list or an array is best shown as a whole: it is not nested and fits on a line."""
    if _kind(value) in ("array", "tensor"):
        return bool(math.prod(value["shape"]) <= LISTED)
    items = _items(value)
    if items is None or any(isinstance(item, list | dict) for item in items):
        return False
    return len(words(value)) <= SHORT


def _kind(value: Plain) -> str:
    """The type that a dict names, "" for anything else."""
    return str(next(iter(value))) if isinstance(value, dict) else ""


def _is_number(value: Plain) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(path: str, index: object) -> str:
    """`x.grad[1]`, and `the gradient of x @ y at [1]`: an index on a path of several words would look like Python."""
    return f"{path} at [{index}]" if " " in path and not path.endswith("]") else f"{path}[{index}]"


def _inside(path: str, key: str) -> str:
    """`gradient of x` at the top level, `path['x']` below it."""
    return f"{path}[{key}]" if path else key.strip("'\"")
