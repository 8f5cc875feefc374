"""The constant arguments of an operation: the exponent of a power, the dimension of a sum."""

from __future__ import annotations

import functools
from typing import Any

from microtape.tape.node import Node
from microtape.tape.operation import Operation

_MOST_TEXT = 40
_BARE = {"number", "exponent", "base"}  # formulas call these by one letter, so a name would not help
_OWN = {"count", "flat", "function_name", "key", "kernel", "places", "sizes", "to_dtype"}  # internal to the operation
_USUAL = {"alpha": 1, "beta": 1, "scale": 1, "diagonal": 0, "offset": 0}


def constants_of(node: Node) -> list[str]:
    """The texts of a built-in operation's constants, `3` or `dim=1`, without those that have their default values."""
    found = []
    kind: Any = type(node)
    for slot in parameters(kind):
        value = getattr(node, slot, None)
        if value is None or value is False or (slot in _USUAL and value == _USUAL[slot]):
            continue
        if text := _text(value):
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
    own = _OWN | {"number"} if "min" in slots else _OWN  # clamp's is made of its bounds, for their dtype
    return tuple(slot for slot in dict.fromkeys(slots) if slot not in own and not slot.endswith("_shape"))


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _text(value: Any) -> str:
    """Numbers, strings, slices and tuples of ints as Python writes them; an empty text for anything else."""
    if isinstance(value, int | float | complex | str):
        return str(value)
    if isinstance(value, slice):
        ends = [value.start, value.stop] if value.step in (None, 1) else [value.start, value.stop, value.step]
        return ":".join("" if end is None else str(end) for end in ends)
    if isinstance(value, tuple | list) and value and all(isinstance(one, int) for one in value):
        return str(value[0]) if len(value) == 1 else str(tuple(value))
    return ""
