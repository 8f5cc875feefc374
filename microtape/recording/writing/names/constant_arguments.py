"""The constant arguments of an operation: the exponent of a power, the dimension of a sum."""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, EllipsisType, FunctionType, NoneType
from typing import Any

import numpy as np

from microtape.tape.node import Node
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import TensorState

_MOST_TEXT = 40
_BARE = {"number", "exponent", "base"}  # formulas call these by one letter, so a name would not help
_OWN = {
    "absent",
    "count",
    "flat",
    "function_name",
    "is_by_columns",
    "key",
    "kernel_name",
    "places",
    "shares",
    "sizes",
    "to_dtype",
}  # internal to the operation
_NUMBERS = (bool, int, float, complex)
_WRITTEN = frozenset(
    map(id, (bool, float, complex, NoneType, EllipsisType, range))
)  # by id: a metaclass may forbid hashing
_MOST_BITS = 1000
_USUAL: dict[str, Any] = {
    "alpha": 1, "beta": 1, "scale": 1, "correction": 1, "diagonal": 0, "offset": 0, "stride": 1, "padding": 0,
    "dilation": 1, "reduction": "mean", "ignore_index": -100, "count_padding": True, "padding_idx": -1,
}  # fmt: skip
_ARRAYS = {"target", "weight", "pos_weight"}  # arguments of losses that have no derivative
_MOST_ELEMENTS = 8  # of an array that is written out


def constants_of(node: Node) -> list[str]:
    """The texts of a built-in operation's constants, `3` or `dim=1`, without those that have their default values."""
    found = []
    kind: Any = type(node)
    for slot in parameters(kind):
        value = getattr(node, slot, None)
        if value is None or (value is False and slot not in _USUAL) or _is_usual(kind, node, slot, value):
            continue
        if text := _array_text(value) if slot in _ARRAYS and not issubclass(type(value), _NUMBERS) else _text(value):
            found.append(shortened(text if slot in _BARE else f"{slot.rstrip('_')}={text}"))
    return found


def shortened(text: str) -> str:
    """A text cut to the length at which operands are shown."""
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"


@functools.cache
def parameters(kind: Any) -> tuple[str, ...]:
    """The slots in which a class of nodes keeps its constant arguments."""
    if not issubclass(kind, Operation):
        return ()
    slots = [slot for one in reversed(kind.__mro__) if issubclass(one, Operation) for slot in _slots(one)]
    slots = [*kind.arguments, *slots]
    own = _OWN | {"number"} if "min" in slots else _OWN  # clamp's is made of its bounds, for their dtype
    return tuple(slot for slot in dict.fromkeys(slots) if slot not in own and not slot.endswith("_shape"))


def has_arrays(node: Node) -> bool:
    """Whether there may be arrays among the constants of a node, to which the program may write."""
    kind: Any = type(node)
    return not _ARRAYS.isdisjoint(parameters(kind))


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_usual(kind: Any, node: Node, slot: str, value: Any) -> bool:
    """Whether an argument has its default value; an array under the same name, such as a scale, has none."""
    if slot not in _USUAL:
        return False
    if slot == "stride" and "kernel" in parameters(kind):  # windows do not overlap by default
        return bool(value == node.kernel)  # type: ignore[attr-defined]
    values = value if type(value) is tuple else (value,)
    return all([type(one) in (*_NUMBERS, str) and one == _USUAL[slot] for one in values])


def _array_text(value: Any) -> str:
    """A short vector as a list, another array by its dtype and shape."""
    array = value.array if issubclass(type(value), TensorState) else value
    if array.ndim < 2 and array.size <= _MOST_ELEMENTS:
        return constant_text(array.tolist())
    return f"<{array.dtype} {'×'.join(map(str, array.shape))}>"


def _text(value: Any) -> str:
    """Numbers, strings, slices and tuples of ints as Python writes them; an empty text for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is str:
        return value
    if issubclass(type(value), int | float | complex):
        return constant_text(value)
    if type(value) is slice:
        return _slice_text(value)
    if type(value) in (tuple, list) and value and all(issubclass(type(one), int | np.integer) for one in value):
        return constant_text(value[0] if len(value) == 1 else tuple(value))
    return ""


def constant_text(value: Any, depth: int = 3) -> str:
    """Any argument as a short text, the same in every run. No code of the user's runs: a `__repr__` may do anything."""
    kind = type(value)
    if issubclass(kind, np.generic):
        plain = value.item()
        return constant_text(plain) if type(plain) in _NUMBERS else f"<{kind.__name__}>"
    if id(kind) in _WRITTEN:
        return repr(value)
    if issubclass(kind, int) and int.bit_length(value) > _MOST_BITS:
        return f"<int of {int.bit_length(value)} bits>"  # Python refuses to write thousands of digits
    for number in _NUMBERS:
        if issubclass(kind, number):
            return number.__repr__(value)
    if kind is str or kind is bytes:
        return repr(value[:_MOST_TEXT])
    if kind is slice:
        return _slice_text(value)
    if kind is tuple or kind is list or kind is dict:
        return _items_text(value, depth)
    if issubclass(kind, TensorState | np.ndarray):
        shape = (value.array if issubclass(kind, TensorState) else value).shape
        return f"<{kind.__name__} {'×'.join(map(str, shape)) or 'scalar'}>"
    if issubclass(kind, np.dtype) or kind.__module__.startswith("microtape."):
        return str(value)
    if kind is type or issubclass(kind, FunctionType | BuiltinFunctionType):
        return str(value.__qualname__)
    return f"<{kind.__name__}>"


def _slice_text(value: slice) -> str:
    plain = value.step is None or (type(value.step) is int and value.step == 1)
    ends = [value.start, value.stop] if plain else [value.start, value.stop, value.step]
    return ":".join("" if end is None else constant_text(end) for end in ends)


def _items_text(value: Any, depth: int) -> str:
    """A container up to the length at which operands are shown."""
    left, right = ("(", ")") if type(value) is tuple else ("[", "]") if type(value) is list else ("{", "}")
    if value and not depth:
        return f"{left}…{right}"
    found: list[str] = []
    for one in value.items() if type(value) is dict else value:
        if sum(map(len, found)) > _MOST_TEXT:
            break
        pair = one if type(value) is dict else (one,)
        found.append(": ".join(constant_text(part, depth - 1) for part in pair))
    comma = "," if type(value) is tuple and len(value) == 1 else ""
    return f"{left}{', '.join(found)}{comma}{right}"
