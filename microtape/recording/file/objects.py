"""Tensors and containers of them as files: a zip of JSON and `.npy` members. Never pickle: loading runs no code.

Note [Format of a saved object]
  `object.json` holds the object and the table of arrays. None, bools, ints, finite floats, strings and lists are
  themselves; anything else is a dict with one name that says what it is: `{"tuple": [...]}`, `{"dict": [[key, value],
  ...]}`, `{"tensor": [number of its array, requires_grad]}`. Array number i is the member `i.npy`, flat; its dtype and
  shape are row i of the table. A tensor that occurs twice is stored once, and is one tensor again.
  NB: tensors that only share memory, such as a view and its base, have memory of their own afterwards.
"""

from __future__ import annotations

import base64
import importlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from microtape.basics.devices import device
from microtape.errors import RecordingError
from microtape.recording.file.archive import zipped
from microtape.recording.file.json_records import Damaged
from microtape.recording.file.packing import DTYPES, name_of, npy_header, unpack_npy
from microtape.tensors.attributes import Size
from microtape.tensors.dtype import dtype, public
from microtape.tensors.factories import from_numpy
from microtape.tensors.tensor import Tensor

JSON = "object.json"
_FORMAT, _VERSION = "microtape object", 1
_DEEPEST = 200  # containers inside of each other


def object_to_bytes(value: Any) -> bytes:
    """The zip of an object. Raises RecordingError, naming the place, for what it cannot hold."""
    writer = _Writer()
    tree = writer.plain(value, "the object", 0)
    content = {"format": _FORMAT, "version": _VERSION, "arrays": writer.table, "object": tree}
    try:
        text = json.dumps(content, allow_nan=False)
    except ValueError as error:
        raise RecordingError(f"the object cannot be saved: {error}") from None
    return zipped(JSON, text, {f"{i}.npy": data for i, data in enumerate(writer.members)})


class _Writer:
    """Turns an object into JSON's values, and collects its arrays."""

    def __init__(self) -> None:
        self.table: list[Any] = []
        self.members: list[bytes] = []
        self._known: dict[int, int] = {}

    def plain(self, value: Any, place: str, depth: int) -> Any:
        """The object as JSON's values; see Note [Format of a saved object]."""
        if depth > _DEEPEST:
            raise RecordingError(f"{place:.80}… cannot be saved: more than {_DEEPEST} containers inside of each other")
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is complex:
            return {"complex": [self.plain(part, place, depth) for part in (value.real, value.imag)]}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, Tensor):
            return self._tensor(value, place)
        if isinstance(value, np.ndarray | np.generic):
            return {
                "array" if isinstance(value, np.ndarray) else "scalar": self._array(value, np.asarray(value), place)
            }
        if kind in _SEQUENCES:
            items = [self.plain(one, f"{place}[{i}]", depth + 1) for i, one in enumerate(value)]
            return items if kind is list else {_SEQUENCES[kind]: items}
        if kind is dict or isinstance(value, OrderedDict):  # also the state dict of a module
            pairs = [
                [self.plain(key, f"a key of {place}", depth + 1), self.plain(one, f"{place}[{key!r:.40}]", depth + 1)]
                for key, one in value.items()
            ]
            return {"dict" if kind is dict else "OrderedDict": pairs}
        if isinstance(value, dtype | device):
            return {"dtype": value.name} if isinstance(value, dtype) else {"device": str(value)}
        hint = ": save its state_dict()" if hasattr(value, "state_dict") else ""
        raise RecordingError(f"{place} is a {kind.__name__}, which cannot be saved{hint or _INSTEAD}")

    def _tensor(self, tensor: Tensor, place: str) -> Any:
        """A leaf. Raises RecordingError for the result of an operation, as its history cannot be saved."""
        if not tensor.is_leaf:
            raise RecordingError(f"{place} is a tensor with a history, which cannot be saved: save tensor.detach()")
        kind = "parameter" if type(tensor).__name__ == "Parameter" else "tensor"
        return {kind: [self._array(tensor, tensor.array, place), tensor.requires_grad]}

    def _array(self, owner: Any, array: Any, place: str) -> int:
        """The number of the array in the table."""
        if id(owner) not in self._known:
            name = name_of(array.dtype)
            if name is None:
                raise RecordingError(f"{place} is an array of {array.dtype}, which cannot be saved")
            self._known[id(owner)] = len(self.table)
            self.table.append([name, list(array.shape)])
            data = np.ascontiguousarray(array, DTYPES[name]).tobytes()
            self.members.append(npy_header(name, array.size) + data)
        return self._known[id(owner)]


_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", Size: "Size"}
_INSTEAD = "; tensors, arrays, numbers, strings, and lists, tuples, sets and dicts of them can"


def read_object(members: dict[str, bytearray]) -> Any:
    """The object from the members of its zip. Raises Damaged if they are not what `object_to_bytes` writes."""
    try:
        content = json.loads(members.pop(JSON))
        if content["format"] != _FORMAT or content["version"] != _VERSION:
            raise Damaged("another format: save it again with this version of microtape")
        arrays = [_read_array(i, row, members) for i, row in enumerate(content["arrays"])]
        if members:
            raise Damaged("unknown members")
        return _Reader(arrays).value(content["object"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
        if isinstance(error, Damaged):
            raise
        raise Damaged("its JSON does not describe an object") from None


def _read_array(i: int, row: Any, members: dict[str, bytearray]) -> Any:
    """Array number i, in memory of its own. Raises Damaged, or another error, if it is not as the table says."""
    name, shape = row
    flat = unpack_npy(name, members.pop(f"{i}.npy"))
    if type(shape) is not list or any([type(size) is not int or size < 0 for size in shape]):
        raise Damaged("an array without a shape")
    return flat.astype(flat.dtype.newbyteorder("=")).reshape(shape)


class _Reader:
    """Turns JSON's values into the object that they stand for."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self._tensors: dict[tuple[str, int], Tensor] = {}

    def value(self, item: Any) -> Any:
        """The object that a value of JSON stands for. Raises Damaged, or another error, if it stands for none."""
        if item is None or type(item) in (bool, int, float, str):
            return item
        if type(item) is list:
            return [self.value(one) for one in item]
        ((kind, content),) = item.items()
        if kind in ("tensor", "parameter"):
            return self._tensor(kind, *content)
        if kind == "array":
            return self.arrays[self._number(content)]
        if kind == "scalar":
            return self.arrays[self._number(content)][()]
        if kind in ("dict", "OrderedDict"):
            pairs = [(self.value(key), self.value(one)) for key, one in content]
            return dict(pairs) if kind == "dict" else OrderedDict(pairs)
        return _KINDS[kind](self.value(content))

    def _number(self, number: Any) -> int:
        if type(number) is not int or number < 0:
            raise Damaged("an array that is not stored")
        return number

    def _tensor(self, kind: str, number: Any, requires_grad: Any) -> Any:
        known = (kind, self._number(number))
        if known not in self._tensors:
            tensor = from_numpy(self.arrays[number]).requires_grad_(requires_grad is True)
            if kind == "parameter":
                parameter = importlib.import_module("microtape.nn").Parameter
                tensor = parameter(tensor.detach(), requires_grad=requires_grad is True)
            self._tensors[known] = tensor
        return self._tensors[known]


def _complex(parts: Any) -> complex:
    return complex(*parts)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "complex": _complex,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "Size": Size,
    "dtype": lambda name: public(np.dtype(name)),
    "device": device,
}

__all__ = ["JSON", "object_to_bytes", "read_object"]
